import { BaseError } from "../../base/errors.ts";
import { OPCODE_FORMS } from "../opcodes/generated/index.ts";
import {
  checkDims,
  MAX_LOOKUP_LENGTH,
  MAX_MOVE_BYTES,
  MAX_PLANES_LENGTH,
  MAX_STEPS,
  MAX_WEIGHTS,
  type Problem,
  type Report,
  StepCheck,
} from "./check.ts";
import { decodeProgram, MAX_RANK } from "./encode.ts";
import {
  elementBytes,
  elementCount,
  type InputCodec,
  lastDim,
  type Program,
  TENSOR_TYPES,
  type TensorType,
  type WeightDescriptor,
  type WeightLayout,
} from "./form.ts";

import { lastStep, maxCalldata, outputLength, weightShape } from "./shape.ts";

const INPUT_SIZES: Readonly<Record<InputCodec, readonly [number, number]>> = {
  text: [1, 4096],
  prices: [2, 256],
  int16s: [1, 4096],
  raw: [1, 65_536],
};

/** All structure rules of docs/EXACT.md, sections 2, 3 and 5: the model registry accepts a program if and only
 *  if its bytes decode and this list is empty. */
export function validateProgram(program: Program): Problem[] {
  const problems: Problem[] = [];
  const report = (place: string, field: string, value: unknown, limit: string): void => {
    problems.push({ place, field, value: String(value), limit });
  };
  const range = (field: string, value: number, low: number, high: number): void => {
    if (!Number.isInteger(value) || value < low || value > high) {
      report("header", field, value, `${low}..${high}`);
    }
  };
  range("number of weight tensors", program.weights.length, 0, MAX_WEIGHTS);
  range("number of steps", program.steps.length, 1, MAX_STEPS);
  const [low, high] = INPUT_SIZES[program.inputCodec];
  range("input size", program.inputSize, low, high);
  const usableWeights = program.weights.map((weight, i) => {
    const before = problems.length;
    checkWeight(weight, (field, value, limit) => report(`weight tensor ${i}`, field, value, limit));
    return problems.length === before;
  });
  const usableSteps: boolean[] = [];
  program.steps.forEach((step, i) => {
    const check = new StepCheck(program, i, usableWeights, usableSteps, problems);
    usableSteps.push(check.tensor());
    if (usableSteps[i]) OPCODE_FORMS[step.opcode].rules(check);
  });
  if (usableSteps[usableSteps.length - 1]) checkOutput(program, report);
  return problems;
}

/** @throws BaseError PROGRAM_INVALID that lists every broken rule */
export function assertValid(program: Program): void {
  const problems = validateProgram(program);
  if (problems.length === 0) return;
  const lines = problems.map(describeProblem);
  throw new BaseError({
    code: "PROGRAM_INVALID",
    shortMessage: `The program breaks ${problems.length} structure rule(s): ${lines.slice(0, 20).join("; ")}.`,
    nextStep: "Import the model again with this version; a registry refuses these bytes.",
    details: { problems: lines },
  });
}

export const describeProblem = (problem: Problem): string =>
  `${problem.place}: ${problem.field} is ${problem.value}, must be ${problem.limit}`;

/** Decodes and validates: what a registry accepts.
 *  @throws BaseError PROGRAM_NOT_CANONICAL or PROGRAM_INVALID */
export function readProgram(bytes: Uint8Array): Program {
  const program = decodeProgram(bytes);
  assertValid(program);
  return program;
}

const WEIGHT_RANKS: Readonly<Record<WeightLayout, readonly [number, number]>> = {
  plain: [1, MAX_RANK],
  dot: [2, 2],
  lookup: [2, 2],
  channel: [1, 1],
};
const WEIGHT_TYPES: Readonly<Record<WeightLayout, readonly TensorType[]>> = {
  plain: TENSOR_TYPES,
  dot: ["u8"],
  lookup: ["s8"],
  channel: ["u8"],
};

function checkWeight(weight: WeightDescriptor, report: Report): void {
  const [low, high] = WEIGHT_RANKS[weight.layout];
  if (weight.dims.length < low || weight.dims.length > high) {
    report("rank", weight.dims.length, low === high ? `${low}` : `${low}..${high}`);
    return;
  }
  const types = WEIGHT_TYPES[weight.layout];
  if (!types.includes(weight.type)) report("type", weight.type, types.join(", "));
  if (!checkDims(weight.dims, () => weightShape(weight), report)) return;
  if (weight.layout === "dot" && lastDim(weight.dims) > MAX_PLANES_LENGTH) {
    report("K", lastDim(weight.dims), `<= ${MAX_PLANES_LENGTH}`);
  }
  if (weight.layout === "lookup" && lastDim(weight.dims) > MAX_LOOKUP_LENGTH) {
    report("D", lastDim(weight.dims), `<= ${MAX_LOOKUP_LENGTH}`);
  }
}

function checkOutput(
  program: Program,
  report: (place: string, field: string, value: unknown, limit: string) => void,
): void {
  const { type, dims } = lastStep(program);
  const place = `output (${program.outputCodec})`;
  const count = elementCount(dims);
  if (program.outputCodec === "words") {
    if (type === "f32") report(place, "type", type, "u8, s8, s32, bool");
    if (count > 256) report(place, "elements", count, "<= 256");
  } else if (program.outputCodec === "int16s") {
    if (type !== "s32") report(place, "type", type, "s32");
    if (count > 4096) report(place, "elements", count, "<= 4096");
  } else if (count * elementBytes(type) > 65_536) {
    report(place, "bytes", count * elementBytes(type), "<= 65536");
  }
  const bytes = maxCalldata(program) + outputLength(program);
  if (bytes > MAX_MOVE_BYTES) {
    report(place, "bytes of calldata and return data", bytes, `<= ${MAX_MOVE_BYTES}`);
  }
}
