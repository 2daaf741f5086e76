/** An ONNX graph as read: names, constants and nodes in an order in which each follows what it reads. */

export const ONNX_TYPES = {
  1: "float32",
  2: "uint8",
  3: "int8",
  4: "uint16",
  5: "int16",
  6: "int32",
  7: "int64",
  9: "bool",
} as const;
export type OnnxType = (typeof ONNX_TYPES)[keyof typeof ONNX_TYPES];

export type OnnxData =
  | Float32Array
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Int32Array
  | BigInt64Array;

/** Constant of static shape, row-major; rank 0 is a scalar. bool: one byte, 0 or 1. */
export interface OnnxTensor {
  readonly type: OnnxType;
  readonly dims: readonly number[];
  readonly data: OnnxData;
}

/** Integers are limited to ±2^53: ONNX uses larger ones only to mean "to the end". */
export type Attribute =
  | { readonly kind: "int" | "float"; readonly value: number }
  | { readonly kind: "ints" | "floats"; readonly value: readonly number[] }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "strings"; readonly value: readonly string[] }
  | { readonly kind: "tensor"; readonly value: OnnxTensor }
  /** Anything else; `value` names the kind. */
  | { readonly kind: "other"; readonly value: string };

export interface OnnxNode {
  /** The node's name, or `Op#index` where it has none: what messages show. */
  readonly name: string;
  readonly op: string;
  /** "" is the standard domain. */
  readonly domain: string;
  /** "" where an optional input is absent. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: ReadonlyMap<string, Attribute>;
}

/** An input or output of the graph. */
export interface OnnxValueInfo {
  readonly name: string;
  readonly type: OnnxType;
  readonly dims: readonly number[];
}

export interface OnnxGraph {
  readonly name: string;
  /** Version of the standard operator set. */
  readonly opset: number;
  readonly inputs: readonly OnnxValueInfo[];
  /** Symbolic dims that are 1 because nobody gave them a size. */
  readonly defaulted: readonly string[];
  /** type is undefined where the file leaves it open. */
  readonly outputs: readonly { readonly name: string; readonly type: OnnxType | undefined }[];
  /** What the file says of values between its nodes. Nothing is computed from it: it may be wrong. */
  readonly declared: ReadonlyMap<string, Omit<OnnxValueInfo, "name">>;
  readonly nodes: readonly OnnxNode[];
  readonly constants: ReadonlyMap<string, OnnxTensor>;
}

export const count = (dims: readonly number[]): number => dims.reduce((product, dim) => product * dim, 1);

/** The elements as numbers; int64 elements are limited to ±2^53. */
export function numbers(tensor: OnnxTensor): number[] {
  return tensor.data instanceof BigInt64Array ? Array.from(tensor.data, safeNumber) : Array.from(tensor.data);
}

export function safeNumber(value: bigint): number {
  const limit = BigInt(Number.MAX_SAFE_INTEGER);
  return Number(value > limit ? limit : value < -limit ? -limit : value);
}
