/** What an execution costs, estimated from the program alone. The constants are fitted to the gas of each step of the
 *  shipped models and of the bench's task; test/protocol/chain/execution/execution.test.ts holds them against actual gas. */
import {
  DOT_VARIANTS,
  elementCount,
  isWeight,
  lastDim,
  type Program,
  rowCount,
  type Step,
  weightIndex,
} from "../../../inference/program/form.ts";
import { weightBytes } from "../../../inference/program/shape.ts";

/** Most gas of a transaction. Source: EIP-7825. */
export const MAX_TRANSACTION_GAS = 16_777_216;
/** Most gas of a run that settles a request: ExecutionLane.MAX_GAS. What takes more might be too dear to halt. */
export const MAX_SETTLING_RUN_GAS = 10_500_000;

/** Gas units that depend on whether shapes and places are found out at every inference, or stand in a plan. */
const BY_RECORDS = {
  step: 3_300,
  weightTensor: 450,
  moveElement: 20,
  arithElement: 60,
  arithLane: 18,
  lookupRow: 900,
  /** a row that is copied, and its part of the sum */
  lookupId: 400,
  textId: 300,
} as const;
const BY_PLAN = {
  step: 900,
  weightTensor: 0,
  moveElement: 12,
  arithElement: 60,
  arithLane: 14,
  lookupRow: 600,
  lookupId: 300,
  textId: 300,
} as const;
/** Gas units. */
const COST = {
  call: 21_000,
  /** of 24,544 bytes, read cold */
  chunk: 2_700,
  textByte: 270,
  price: 140,
  lane: 27,
  rawByte: 2,
  dotWord: 218,
  dotOutput: 450,
  dotRow: 250,
  requant: 196,
  rescale: 420,
  table: 75,
  float: 2_600,
  binary32: 3_000,
  reduceRow: 420,
  reduceByte: 6,
  select: 110,
} as const;
/** Gas units of a compiled DOT: ten weights of an output, an output, three words of ten activations, a contract. */
const COMPILED = { product: 14, output: 40, activations: 150, part: 3_500 } as const;
/** Elements of a row that are multiplied by three products. */
const SLICE = 30;
const CHUNK_BYTES = 24_544;
/** What a plan is for. Source: verifier-contracts/execution/plan/PlanWriter.sol. */
const MOST_PRODUCTS = 256;
const MOST_WEIGHTS = 65_536;

type Cost = typeof COST & Record<keyof typeof BY_RECORDS, number>;

/** Whether a published model gets a plan, as far as opcodes and sizes say: a MOVE or broadcast of an unusual shape can
 *  still keep it from one. */
export function isPlanned({ steps, weights }: Program): boolean {
  const bytes = weights.reduce(
    (sum, weight) => (weight.layout === "lookup" ? sum : sum + weightBytes(weight)),
    0,
  );
  if (bytes > MOST_WEIGHTS) return false;
  return steps.every(({ opcode, variant, a, dims }) => {
    if (opcode === "float" || (opcode === "requant" && variant === 2)) return false;
    if (opcode === "lookup") return variant === 0;
    if (opcode !== "dot") return true;
    const length = lastDim((isWeight(a) ? weights[weightIndex(a)] : steps[a])?.dims ?? [1]);
    return variant !== 2 && elementCount(dims) * Math.ceil(length / 32) <= MOST_PRODUCTS;
  });
}

/** Gas of `infer` inside another transaction, everything cold. */
export function estimateInferenceGas(program: Program): number {
  return estimate(program, { ...COST, ...BY_RECORDS }, 0);
}

/** Gas of `inferFast` inside another transaction, everything cold, the model prepared if it can be.
 *  @param parts contracts of compiled code, where it runs by them */
export function estimateFastGas(program: Program, parts = 0): number {
  return estimate(program, { ...COST, ...(isPlanned(program) ? BY_PLAN : BY_RECORDS) }, parts);
}

function estimate(program: Program, cost: Cost, parts: number): number {
  const gasOf = (step: Step): number =>
    parts > 0 && step.opcode === "dot" && DOT_VARIANTS[step.variant] !== "binary32"
      ? compiledDotGas(program, step)
      : stepGas(program, step, cost);
  const steps = program.steps.reduce((sum, step) => sum + cost.step + gasOf(step), COMPILED.part * parts);
  const bytes = program.weights.reduce((sum, weight) => sum + weightBytes(weight), 0);
  const memoryWords = program.steps.reduce((sum, { dims }) => sum + elementCount(dims) / 8, 0);
  return Math.ceil(
    COST.call +
      steps +
      cost.weightTensor * program.weights.length +
      COST.chunk * Math.ceil(bytes / CHUNK_BYTES) +
      3 * memoryWords +
      memoryWords ** 2 / 512,
  );
}

const dimsOf = ({ weights, steps }: Program, operand: number): readonly number[] =>
  (isWeight(operand) ? weights[weightIndex(operand)] : steps[operand])?.dims ?? [1];

function compiledDotGas(program: Program, { dims, a, k }: Step): number {
  const slices = Math.ceil(lastDim(dimsOf(program, a)) / SLICE);
  const output = 3 * slices * COMPILED.product + COMPILED.output;
  return elementCount(dims) * output + rowCount(dims) * k * slices * COMPILED.activations;
}

function stepGas(program: Program, step: Step, cost: Cost): number {
  const count = elementCount(step.dims);
  const rows = rowCount(step.dims);
  switch (step.opcode) {
    case "codec":
      return codecGas(program, count, cost);
    case "move":
      return cost.moveElement * count;
    case "lookup": {
      const ids = elementCount(dimsOf(program, step.a));
      return cost.lookupId * ids + cost.lookupRow * rows;
    }
    case "dot": {
      const words = Math.ceil(lastDim(dimsOf(program, step.a)) / 32);
      const form = step.variant === 2 ? cost.binary32 : 0;
      return count * (words * cost.dotWord + cost.dotOutput + form) + rows * step.k * cost.dotRow * words;
    }
    case "requant":
      return count * (step.variant === 2 ? cost.binary32 : cost.requant);
    case "rescale":
      return count * cost.rescale;
    case "table":
      return count * cost.table;
    case "arith":
      return count * (step.variant === 2 || step.variant >= 5 ? cost.arithElement : cost.arithLane);
    case "float":
      return count * cost.float;
    case "reduce": {
      const length = elementCount(dimsOf(program, step.a));
      return count * cost.reduceRow + length * cost.reduceByte;
    }
    case "select":
      return count * cost.select;
  }
}

function codecGas({ inputCodec, inputSize }: Program, count: number, cost: Cost): number {
  switch (inputCodec) {
    case "text":
      return Math.min(COST.textByte * inputSize, cost.textId * count);
    case "prices":
      return COST.price * count;
    case "int16s":
      return COST.lane * count;
    case "raw":
      return COST.rawByte * inputSize;
  }
}
