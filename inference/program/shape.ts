import { INPUT_CODEC_CODES, OUTPUT_CODEC_CODES } from "./codes.ts";
import {
  elementBytes,
  elementCount,
  lastDim,
  type Program,
  rowCount,
  type Step,
  type TensorType,
  type WeightDescriptor,
} from "./form.ts";

/** How a tensor lies in its Merkle tree. Source: docs/PROTOCOL.md, section 1. */
export interface TreeShape {
  /** Real rows and real words of a row. */
  readonly rows: number;
  readonly words: number;
  /** Bytes of a row before it is padded to words. */
  readonly rowBytes: number;
  /** log2 of W, the padded words of a row: the level of a row's root. */
  readonly rowHeight: number;
  /** log2 of R·W: the level of the tensor root. */
  readonly height: number;
}

/** ⌈log2 n⌉ for n >= 1. */
export function ceilLog2(n: number): number {
  let bits = 0;
  while (2 ** bits < n) bits++;
  return bits;
}

export function treeShape(rows: number, rowBytes: number): TreeShape {
  const words = Math.ceil(rowBytes / 32);
  const rowHeight = ceilLog2(words);
  return { rows, words, rowBytes, rowHeight, height: rowHeight + ceilLog2(rows) };
}

/** Tree shape of a step's tensor or of a PLAIN weight tensor. */
export const tensorShape = (type: TensorType, dims: readonly number[]): TreeShape =>
  treeShape(rowCount(dims), lastDim(dims) * elementBytes(type));

export function weightShape(weight: WeightDescriptor): TreeShape {
  switch (weight.layout) {
    case "plain":
      return tensorShape(weight.type, weight.dims);
    case "dot":
      return treeShape(weight.dims[0] as number, 32 * (Math.ceil(lastDim(weight.dims) / 32) + 1));
    case "lookup":
      return treeShape(weight.dims[0] as number, 32 * Math.ceil(lastDim(weight.dims) / 32));
    case "channel":
      return treeShape(weight.dims[0] as number, 32);
  }
}

/** Bytes that `Model.weights` holds for this tensor. */
export function weightBytes(weight: WeightDescriptor): number {
  const { rows, rowBytes } = weightShape(weight);
  return rows * rowBytes;
}

export const stepShape = (step: Step): TreeShape => tensorShape(step.type, step.dims);

/** Row, word of the row, and byte of the word where an element of a tensor is stored. */
export function locate(
  type: TensorType,
  dims: readonly number[],
  element: number,
): { row: number; word: number; byte: number } {
  const last = lastDim(dims);
  const at = (element % last) * elementBytes(type);
  return { row: Math.floor(element / last), word: at >> 5, byte: at & 31 };
}

/** Height of the tree over the tensor roots of all steps. */
export const traceHeight = (program: Program): number => ceilLog2(program.steps.length);

/** d: the most demands that one path from the trace root to a word needs. */
export function demandDepth(program: Program): number {
  const ofTrace = Math.max(0, Math.ceil(traceHeight(program) / 6) - 1);
  const ofTensor = Math.max(
    ...program.steps.map((step) => Math.max(1, Math.ceil(stepShape(step).height / 6))),
  );
  return ofTrace + ofTensor;
}

/** Most bytes of calldata, the selector included. */
export function maxCalldata(program: Program): number {
  const size = program.inputSize;
  switch (program.inputCodec) {
    case "text":
    case "raw":
      return 4 + 64 + 32 * Math.ceil(size / 32);
    case "prices":
      return 4 + 96 + 3 * (32 + 32 * size);
    case "int16s":
      return 4 + 64 + 32 * Math.ceil(size / 16);
  }
}

/** The tensor that the output codec encodes. */
export const lastStep = (program: Program): Step => program.steps[program.steps.length - 1] as Step;

/** Exact bytes of the return data. */
export function outputLength(program: Program): number {
  const { type, dims } = lastStep(program);
  const count = elementCount(dims);
  switch (program.outputCodec) {
    case "words":
      return 32 * count;
    case "int16s":
      return 64 + 32 * Math.ceil(count / 16);
    case "raw":
      return 64 + 32 * Math.ceil((count * elementBytes(type)) / 32);
  }
}

/** The registry's word of a model. Source: docs/PROTOCOL.md, section 1.
 *  @param selector u32 @param lanes bits 1 EXECUTION, 2 PROOF, 4 BOND */
export function modelWord(program: Program, selector: number, lanes: number): bigint {
  const fields: readonly (readonly [number, number])[] = [
    [0, 1],
    [8, lanes],
    [16, demandDepth(program)],
    [24, traceHeight(program)],
    [32, program.steps.length],
    [48, program.weights.length],
    [64, selector],
    [96, maxCalldata(program)],
    [128, outputLength(program)],
    [160, INPUT_CODEC_CODES[program.inputCodec]],
    [168, OUTPUT_CODEC_CODES[program.outputCodec]],
    [176, program.inputSize],
  ];
  return fields.reduce((word, [bit, value]) => word | (BigInt(value) << BigInt(bit)), 0n);
}
