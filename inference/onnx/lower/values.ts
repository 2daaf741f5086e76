/** What an ONNX value is while its graph is lowered: some wait until it is known what reads them. */

import type { Operand, TensorType } from "../../program/form.ts";
import type { OnnxTensor, OnnxType } from "../graph.ts";
import { isWide } from "./quantization.ts";

/** A step's tensor (or a PLAIN weight). */
export interface TensorValue {
  readonly kind: "tensor";
  readonly operand: Operand;
  readonly type: TensorType;
  readonly onnx: OnnxType;
  /** As the ONNX graph sees it; the step's dims may group the same elements otherwise. */
  readonly dims: readonly number[];
  /** ONNX axis stored at each position, outermost first; absent where they are in order. */
  readonly layout?: readonly number[];
}

export interface ConstantValue {
  readonly kind: "constant";
  readonly tensor: OnnxTensor;
}

/** One output channel of a product with constant weights. */
export interface DotChannel {
  /** Stored bytes: value + offset. */
  readonly weights: Uint8Array;
  readonly offset: number;
  readonly bias: number;
}

/** `activation rows · channels`, not yet emitted because the requantization that follows belongs into it. */
export interface Product {
  readonly kind: "dot";
  /** u8 or s8 with last dim K, rows in the order that DOT reads. */
  readonly activation: Operand;
  /** Stored zero point of the activation. */
  readonly zeroPoint: number;
  readonly groups: number;
  readonly channels: readonly DotChannel[];
  /** Dims of the result as DOT writes it are [...rows, N]. */
  readonly rows: readonly number[];
  readonly dims: readonly number[];
  readonly layout?: readonly number[];
}

/** int32 product. */
export interface ProductValue {
  readonly kind: "product";
  readonly product: Product;
}

/** float32 number that is `scale × integer`, clamped to low..high, until QuantizeLinear reads it. */
export interface ScaledValue {
  readonly kind: "scaled";
  /** Product, or an s32 tensor. */
  readonly source: Product | TensorValue;
  /** Weight scales: one, or one for each index of `axis`. */
  readonly scale: readonly number[];
  /** Scale of the activation: the number is `f32(factor·scale) × integer`. */
  readonly factor: number;
  readonly axis: number;
  readonly low: number;
  readonly high: number;
  /** True where QuantizeLinear requantizes the integers, whatever its scale: products, sums and averages. */
  readonly fused: boolean;
}

/** Of scaled numbers that nothing clamps. */
export const UNBOUNDED = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };

/** Integers that stand for numbers of one scale, until QuantizeLinear reads them. */
export const scaledIntegers = (source: ScaledValue["source"], scale: number, factor = 1): ScaledValue => ({
  ...{ kind: "scaled", source, scale: [scale], factor, axis: 0, ...UNBOUNDED, fused: true },
});

/** float32 `(source − zero) × scale` of bytes, 16-bit integers or constants, until it is known what reads it. */
export interface DequantizedValue {
  readonly kind: "dequantized";
  readonly source: TensorValue | ConstantValue;
  readonly scale: readonly number[];
  readonly zero: readonly number[];
  readonly axis: number;
}

/** Of a tensor that steps compute. */
export type DequantizedTensor = DequantizedValue & { readonly source: TensorValue };

/** True for a dequantized byte tensor with one scale, whose sums are those of integers. */
export const isDequantizedByte = (value: Value): value is DequantizedTensor =>
  isDequantized(value) && !isWide(value.source.onnx);

/** The same of integers of 8 or 16 bits. */
export const isDequantized = (value: Value): value is DequantizedTensor =>
  value.kind === "dequantized" && value.source.kind === "tensor" && value.scale.length === 1;

/** float32 function of a byte, or of 16 bits, by the integers from the least one on. */
export interface MappedValue {
  readonly kind: "mapped";
  readonly source: TensorValue;
  readonly map: Float32Array;
}

/** Rows of a table picked by ids; a sum over the ids turns it into one look-up. */
export interface PickedValue {
  readonly kind: "picked";
  readonly ids: TensorValue;
  /** Rank 2, [rows, length]. */
  readonly table: OnnxTensor;
  readonly dims: readonly number[];
  /** True after Cast to int32. */
  readonly cast: boolean;
}

/** Dequantized integers of which a mask leaves some, and nothing of the others, until Softmax reads them. */
export interface MaskedValue {
  readonly kind: "masked";
  readonly source: DequantizedTensor;
  /** bool, of fewer axes than the source or as many: 0 where nothing is left */
  readonly kept: OnnxTensor;
  /** float32, for any other reader */
  readonly sum: () => TensorValue;
}

export type Value =
  | TensorValue
  | ConstantValue
  | ProductValue
  | ScaledValue
  | DequantizedValue
  | MappedValue
  | MaskedValue
  | PickedValue;

export const TENSOR_TYPE: Readonly<Record<OnnxType, TensorType>> = {
  uint8: "u8",
  int8: "s8",
  uint16: "s32",
  int16: "s32",
  int32: "s32",
  int64: "s32",
  float32: "f32",
  bool: "bool",
};

/** ONNX dims of a value. */
export function dimsOf(value: Value): readonly number[] {
  switch (value.kind) {
    case "constant":
      return value.tensor.dims;
    case "product":
      return value.product.dims;
    case "dequantized":
    case "masked":
      return dimsOf(value.source);
    case "mapped":
      return value.source.dims;
    case "scaled":
      return value.source.dims;
    default:
      return value.dims;
  }
}

/** ONNX element type of a value. */
export function typeOf(value: Value): OnnxType {
  switch (value.kind) {
    case "constant":
      return value.tensor.type;
    case "product":
      return "int32";
    case "tensor":
      return value.onnx;
    case "picked":
      return value.cast ? "int32" : value.table.type;
    default:
      return "float32";
  }
}
