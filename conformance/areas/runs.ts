/** Areas of whole runs: one of each opcode, one of chains of many steps, with every step's tensor and every root. */
import { concatBytes, toHex, viewOf } from "../../base/bytes.ts";
import { encodeOutput } from "../../inference/codecs/output.ts";
import { commitTrace, commitWeights } from "../../inference/commit/commitments.ts";
import { trace } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import type { PreparedModel } from "../../inference/executor/prepared-model.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import { type Model, OPCODES, type Opcode, type Step, type Tensor } from "../../inference/program/form.ts";
import { storedBytes } from "../../inference/program/tensor.ts";
import { type Area, type Case, refusedCase, wordCase } from "../case.ts";
import { DIRECTED_RUNS } from "../generate/directed-runs.ts";
import { randomProgram } from "../generate/random-program.ts";
import { createRng, type Rng } from "../generate/rng.ts";
import { brokenProgram, type Subject, shapedProgram } from "../generate/shaped-program.ts";

/** Opcodes that copy: what they give counts in their own areas alone. */
const COPIES: readonly Opcode[] = ["codec", "move"];

/** One run: return data, weights root, trace root, tensors.
 *  @param isCounted whether elements of an opcode count as compared */
function runCase(
  prepared: PreparedModel,
  calldata: Uint8Array,
  isCounted = (opcode: Opcode): boolean => !COPIES.includes(opcode),
): Case {
  return tensorsCase("run", [calldata], prepared, trace(prepared, calldata), isCounted);
}

/** @param asked what the line names behind the model */
export function tensorsCase(
  name: "run" | "claimed",
  asked: readonly Uint8Array[],
  { model, program, selector }: PreparedModel,
  tensors: readonly Tensor[],
  isCounted = (_: Opcode): boolean => true,
): Case {
  const content = [encodeProgram(program), concatBytes(...model.weights), selector, ...asked].map(toHex);
  return {
    line: [name, ...content],
    expected: [
      toHex(encodeOutput(program, tensors.at(-1) as Tensor)),
      toHex(commitWeights(model).root),
      toHex(commitTrace(program, tensors).root),
      ...tensors.map(({ data }) => toHex(storedBytes(data))),
    ],
    parts: [
      "return data",
      "weights root",
      "trace root",
      ...program.steps.map(({ opcode }, i) => `step ${i} (${opcode})`),
    ],
    elements: tensors.reduce(
      (sum, { data }, i) => sum + (isCounted((program.steps[i] as Step).opcode) ? data.length : 0),
      3,
    ),
  };
}

function runsOf({ model, selector, inputs }: Subject): Case[] {
  const prepared = prepare(model, selector);
  return inputs.map((calldata) => runCase(prepared, calldata));
}

/** Part of all elements that each opcode's area compares. */
const OPCODE_SHARE = 0.05;
const PROGRAMS_SHARE = 0.45;

/** Programs that end with an opcode; of three, two have weights and inputs of any bytes. */
const opcodeArea = (opcode: Opcode): Area => ({
  name: opcode,
  about: `programs that end with ${opcode.toUpperCase()}, every variant`,
  lines: ["run"],
  share: OPCODE_SHARE,
  *cases(seed) {
    const rng = createRng(seed);
    const hostile = seed % 3 !== 0;
    const { model, selector, calldata } = randomProgram(rng, { opcode, hostile, steps: rng.int(0, 2) });
    const halved = rng.chance(0.3) ? halvingScales(rng, model) : model;
    yield runCase(prepare(halved, selector), calldata, (one) => one === opcode);
  },
});

/** Where a parameter word holds its scale, and the words' size. */
const [SCALE, WORD] = [17, 32];

/** The same model with scales that are powers of two: products fall on halves, which are rounded to even. */
function halvingScales(rng: Rng, { program, weights }: Model): Model {
  const changed = program.weights.map(({ layout, dims }, i) => {
    const bytes = (weights[i] as Uint8Array).slice();
    const stride = layout === "dot" ? WORD * (Math.ceil((dims[1] as number) / WORD) + 1) : WORD;
    if (layout !== "dot" && layout !== "channel") return bytes;
    for (let end = stride; end <= bytes.length; end += stride)
      viewOf(bytes).setFloat32(end - WORD + SCALE, 2 ** -rng.int(1, 12));
    return bytes;
  });
  return { program, weights: changed };
}

export const OPCODE_AREAS: readonly Area[] = OPCODES.map(opcodeArea);

const DIRECTED: readonly Subject[] = Object.values(DIRECTED_RUNS).flat();

/** Two steps that meet in a special way, weights over the end of a chunk: one program a seed. */
export const DIRECTED_PROGRAMS: Area = {
  name: "directed",
  about: "programs by name: steps that meet in a special way, weights over the end of a chunk",
  lines: ["run"],
  *cases(seed) {
    yield* runsOf(DIRECTED[seed % DIRECTED.length] as Subject);
  },
};

/** Chains of steps, the same with weights of any bytes, and with changed program bytes. */
export const PROGRAMS: Area = {
  name: "programs",
  about: "chains of steps of all opcodes, hostile weights, changed program bytes",
  lines: ["run", "program"],
  share: PROGRAMS_SHARE,
  *cases(seed) {
    const subject = shapedProgram(seed);
    yield* runsOf(subject);
    if (seed % 4 === 1) yield* runsOf(anyWeights(seed, subject));
    const { bytes, accepted, subject: changed } = brokenProgram(seed, subject);
    const line = ["program", toHex(bytes)] as const;
    yield accepted ? wordCase(line, []) : refusedCase(line);
    if (changed !== undefined) yield* runsOf(changed);
  },
};

function anyWeights(seed: number, subject: Subject): Subject {
  const rng = createRng(seed);
  const weights = subject.model.weights.map(({ length }) => rng.bytes(length));
  const model: Model = { program: subject.model.program, weights };
  return { ...subject, model };
}
