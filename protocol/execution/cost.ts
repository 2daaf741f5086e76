/** What an execution costs, estimated from the program alone. The constants are fitted to the gas of each step of the
 *  shipped models and of the bench's task; test/protocol/execution/execution.test.ts holds them against actual gas. */
import {
  elementCount,
  isWeight,
  lastDim,
  type Program,
  rowCount,
  type Step,
  weightIndex,
} from "../../inference/program/form.ts";
import { weightBytes } from "../../inference/program/shape.ts";

/** Most gas of a transaction. Source: EIP-7825. */
export const MAX_TRANSACTION_GAS = 16_777_216;

/** Gas units. */
const COST = {
  call: 21_000,
  step: 2_300,
  weightTensor: 450,
  /** of 24,544 bytes, read cold */
  chunk: 2_700,
  textByte: 270,
  textId: 300,
  price: 140,
  lane: 27,
  rawByte: 2,
  moveElement: 34,
  /** a row that is copied, and its part of the sum */
  lookupId: 400,
  lookupRow: 900,
  dotWord: 218,
  dotOutput: 250,
  dotRow: 250,
  requant: 182,
  /** of a matrix of many rows, which is turned at once */
  requantTall: 45,
  rescale: 420,
  table: 75,
  arithLane: 17,
  arithElement: 150,
  float: 2_600,
  binary32: 3_000,
  reduceRow: 420,
  reduceByte: 6,
  select: 110,
} as const;
const CHUNK_BYTES = 24_544;
/** Rows from which on a matrix is tall. */
const TALL_ROWS = 64;

/** Gas of `infer` inside another transaction, everything cold. */
export function estimateInferenceGas(program: Program): number {
  const steps = program.steps.reduce((sum, step) => sum + COST.step + stepGas(program, step), 0);
  const bytes = program.weights.reduce((sum, weight) => sum + weightBytes(weight), 0);
  const memoryWords = program.steps.reduce((sum, { dims }) => sum + elementCount(dims) / 8, 0);
  return Math.ceil(
    COST.call +
      steps +
      COST.weightTensor * program.weights.length +
      COST.chunk * Math.ceil(bytes / CHUNK_BYTES) +
      3 * memoryWords +
      memoryWords ** 2 / 512,
  );
}

function stepGas(program: Program, step: Step): number {
  const count = elementCount(step.dims);
  const rows = rowCount(step.dims);
  const dimsOf = (operand: number): readonly number[] =>
    (isWeight(operand) ? program.weights[weightIndex(operand)] : program.steps[operand])?.dims ?? [1];
  switch (step.opcode) {
    case "codec":
      return codecGas(program, count);
    case "move":
      return COST.moveElement * count;
    case "lookup": {
      const ids = elementCount(dimsOf(step.a));
      return COST.lookupId * ids + COST.lookupRow * rows;
    }
    case "dot": {
      const words = Math.ceil(lastDim(dimsOf(step.a)) / 32);
      const form = step.variant === 2 ? COST.binary32 : 0;
      return count * (words * COST.dotWord + COST.dotOutput + form) + rows * step.k * COST.dotRow * words;
    }
    case "requant":
      if (step.variant === 2) return count * COST.binary32;
      return count * (rows < TALL_ROWS ? COST.requant : COST.requantTall);
    case "rescale":
      return count * COST.rescale;
    case "table":
      return count * COST.table;
    case "arith":
      return count * (step.variant === 2 || step.variant >= 5 ? COST.arithElement : COST.arithLane);
    case "float":
      return count * COST.float;
    case "reduce": {
      const length = elementCount(dimsOf(step.a));
      return count * COST.reduceRow + length * COST.reduceByte;
    }
    case "select":
      return count * COST.select;
  }
}

function codecGas({ inputCodec, inputSize }: Program, count: number): number {
  switch (inputCodec) {
    case "text":
      return Math.min(COST.textByte * inputSize, COST.textId * count);
    case "prices":
      return COST.price * count;
    case "lanes":
      return COST.lane * count;
    case "raw":
      return COST.rawByte * inputSize;
  }
}
