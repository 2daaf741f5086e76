/** What an execution costs, estimated from the program alone. The constants are fitted to the gas of each step of the
 *  shipped models and of the bench's task; test/protocol/chain/execution/execution.test.ts holds them against actual gas. */
import { type Opcode, type Variant, variantName } from "../../../inference/program/codes.ts";
import {
  ARITH_VARIANTS,
  elementCount,
  LOOKUP_VARIANTS,
  lastDim,
  NONE,
  operandDims,
  operandTensor,
  type Program,
  rowCount,
  type Step,
  type WeightDescriptor,
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
  /** of operands that are not both s32, or of a comparison */
  arithMixed: 1_450,
  /** of an operand that is stretched along an axis between others */
  stretched: 1_700,
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
  arithMixed: 1_450,
  // A plan does without such operands.
  stretched: 1_700,
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
export function isPlanned(program: Program): boolean {
  const { steps, weights } = program;
  const bytes = weights.reduce(
    (sum, weight) => (weight.layout === "lookup" ? sum : sum + weightBytes(weight)),
    0,
  );
  if (bytes > MOST_WEIGHTS) return false;
  return steps.every((step) => {
    const { opcode, variant, a, dims } = step;
    if (opcode === "float" || isBinary32(step)) return false;
    if (opcode === "lookup") return LOOKUP_VARIANTS[variant] === "sum";
    if (opcode !== "dot") return true;
    const length = lastDim(operandDims(program, a));
    return elementCount(dims) * Math.ceil(length / 32) <= MOST_PRODUCTS;
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
    parts > 0 && step.opcode === "dot" && !isBinary32(step)
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

function compiledDotGas(program: Program, { dims, a, k }: Step): number {
  const slices = Math.ceil(lastDim(operandDims(program, a)) / SLICE);
  const output = 3 * slices * COMPILED.product + COMPILED.output;
  return elementCount(dims) * output + rowCount(dims) * k * slices * COMPILED.activations;
}

/** A step, and what its gas is counted by. */
interface Counted {
  readonly program: Program;
  readonly step: Step;
  /** Elements and rows of its tensor. */
  readonly count: number;
  readonly rows: number;
  readonly cost: Cost;
}

const GAS: Readonly<Record<Opcode, (counted: Counted) => number>> = {
  codec: codecGas,
  move: ({ count, cost }) => cost.moveElement * count,
  lookup: ({ program, step, rows, cost }) =>
    cost.lookupId * elementCount(operandDims(program, step.a)) + cost.lookupRow * rows,
  dot({ program, step, count, rows, cost }) {
    const words = Math.ceil(lastDim(operandDims(program, step.a)) / 32);
    const form = isBinary32(step) ? cost.binary32 : 0;
    return count * (words * cost.dotWord + cost.dotOutput + form) + rows * step.k * cost.dotRow * words;
  },
  requant: ({ step, count, cost }) => count * (isBinary32(step) ? cost.binary32 : cost.requant),
  rescale: ({ count, cost }) => count * cost.rescale,
  table: ({ count, cost }) => count * cost.table,
  arith(counted) {
    const { program, step, count, cost } = counted;
    const variant = ARITH_VARIANTS[step.variant] as Variant<"arith">;
    const isWide = tensorsOf(program, step).every(({ type }) => type === "s32");
    const isMixed = !isWide || (step.type !== "s32" && variant !== "cast");
    const each = isMixed ? cost.arithMixed : WIDE_ARITH.has(variant) ? cost.arithLane : cost.arithElement;
    return count * each + stretchGas(counted);
  },
  float: (counted) => counted.count * counted.cost.float + stretchGas(counted),
  reduce: ({ program, step, count, cost }) =>
    count * cost.reduceRow + elementCount(operandDims(program, step.a)) * cost.reduceByte,
  select: (counted) => counted.count * counted.cost.select + stretchGas(counted),
};

const tensorsOf = (program: Program, { a, b, c }: Step): (Step | WeightDescriptor)[] =>
  [a, b, c].filter((operand) => operand !== NONE).map((operand) => operandTensor(program, operand));

/** Operands that are copied element by element into the output's shape. Source: opcodes/rows/Broadcast.sol. */
const stretchGas = ({ program, step, count, cost }: Counted): number =>
  count * cost.stretched * tensorsOf(program, step).filter(({ dims }) => isStretched(dims, step.dims)).length;

function isStretched(dims: readonly number[], out: readonly number[]): boolean {
  const count = elementCount(dims);
  if (count === 1 || count === elementCount(out)) return false;
  const [axes, less] = [dims.length, out.length - dims.length];
  let [leading, trailing] = [0, axes];
  while (leading < axes && dims[leading] === out[leading]) leading++;
  while (trailing > 0 && dims[trailing - 1] === out[trailing - 1 + less]) trailing--;
  const isHead = less === 0 && elementCount(dims.slice(0, leading)) === count;
  return !isHead && elementCount(dims.slice(trailing)) !== count;
}

/** What ARITH computes eight at a time. */
const WIDE_ARITH: ReadonlySet<Variant<"arith">> = new Set(["add", "sub", "min", "max"]);

const isBinary32 = ({ opcode, variant }: Step): boolean => variantName(opcode, variant) === "binary32";

const stepGas = (program: Program, step: Step, cost: Cost): number =>
  GAS[step.opcode]({ program, step, count: elementCount(step.dims), rows: rowCount(step.dims), cost });

function codecGas({ program: { inputCodec, inputSize }, count, cost }: Counted): number {
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
