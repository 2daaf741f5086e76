/** QuantizeLinear and DequantizeLinear: where numbers enter and leave float32, and what they enclose fuses. */

import type { Operand } from "../../program/form.ts";
import { count, numbers, type OnnxNode, type OnnxTensor } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { roundHalfEven } from "../requantize/rule.ts";
import { makeTensor } from "./constants.ts";
import { intAttribute, type Lowering, normalAxis, scalar } from "./lowering.ts";
import { emitProduct, emitRequantized, requantizeTensor } from "./product.ts";
import { byteRule, type Rules } from "./requantize.ts";
import { dimsOf, type Product, type ScaledValue, type TensorValue, typeOf, type Value } from "./values.ts";

export type ByteType = "u8" | "s8";

/** Scale and zero point of a byte tensor. */
export interface Quantization {
  readonly scale: number;
  readonly zero: number;
  readonly type: ByteType;
}

const LIMITS = { u8: [0, 255], s8: [-128, 127] } as const;

/** `sat(roundHalfEven(f32(x / scale)) + zero)`: the value, not the stored byte. */
export function quantized(x: number, { scale, zero, type }: Quantization): number {
  const [low, high] = LIMITS[type];
  return Math.min(Math.max(roundHalfEven(Math.fround(x / scale)) + zero, low), high);
}

/** `f32(f32(q − zero) × scale)` */
export const dequantized = (q: number, scale: number, zero: number): number =>
  Math.fround(Math.fround(q - zero) * scale);

export function checkScale(scale: number, what: string): number {
  if (!(scale >= 2 ** -100 && scale <= 2 ** 60)) {
    refuse(`its ${what} is ${scale}`, "Use scales from 2^-100 to 2^60.");
  }
  return scale;
}

export function byteTypeOf(tensor: OnnxTensor | undefined): ByteType {
  if (tensor === undefined || tensor.type === "uint8") return "u8";
  if (tensor.type === "int8") return "s8";
  return refuse(`it quantizes to ${tensor.type}`, "Quantize to uint8 or int8.");
}

/** Quantization of a whole tensor from two constant inputs of a node. */
export function quantizationAt(ctx: Lowering, node: OnnxNode, scaleAt: number, what: string): Quantization {
  const scale = checkScale(
    scalar(ctx.constant(node, scaleAt, `${what} scale`), `${what} scale`),
    `${what} scale`,
  );
  const zero = ctx.optionalConstant(node, scaleAt + 1, `${what} zero point`);
  return { scale, zero: zero === undefined ? 0 : scalar(zero, `${what} zero point`), type: byteTypeOf(zero) };
}

/** An integer byte tensor. */
export function bytes(ctx: Lowering, value: Value): TensorValue {
  const tensor = ctx.tensor(value);
  if (tensor.type !== "u8" && tensor.type !== "s8")
    refuse(`its operand is ${tensor.onnx}`, "Use uint8 or int8.");
  return tensor;
}

/** Real number of each stored byte. */
export function byteMap(type: ByteType, scale: number, zero: number): Float32Array {
  return Float32Array.from({ length: 256 }, (_, b) => dequantized(type === "s8" ? b - 128 : b, scale, zero));
}

/** Stored bytes of each entry of a map. */
export function quantizedMap(map: Float32Array, to: Quantization): Uint8Array {
  checkMap(map);
  return Uint8Array.from(map, (x) => quantized(x, to) + (to.type === "s8" ? 128 : 0));
}

/** @throws Refusal for a function that has no number for some byte */
export function checkMap(map: Float32Array): void {
  const at = map.findIndex((x) => !Number.isFinite(x));
  if (at >= 0)
    refuse(
      `its function of a byte is ${map[at]} for the stored byte ${at}`,
      "Clip the operand to where it is finite.",
    );
}

/** A byte tensor's map from stored bytes to numbers, or undefined for anything else. */
export function mapOf(value: Value): { source: TensorValue; map: Float32Array } | undefined {
  if (value.kind === "mapped") return value;
  if (value.kind !== "dequantized" || value.source.kind !== "tensor" || value.scale.length !== 1)
    return undefined;
  const { source } = value;
  const [scale = 1] = value.scale;
  const [zero = 0] = value.zero;
  return { source, map: byteMap(source.type === "s8" ? "s8" : "u8", scale, zero) };
}

export function applyTable(
  ctx: Lowering,
  source: TensorValue,
  map: Float32Array,
  to: Quantization,
): TensorValue {
  const table = quantizedMap(map, to);
  const identity = source.type === to.type && table.every((byte, i) => byte === i);
  const operand = identity ? source.operand : ctx.builder.table(source.operand, to.type, table);
  return { ...source, operand, type: to.type, onnx: to.type === "u8" ? "uint8" : "int8" };
}

export function dequantizeLinear(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const scales = ctx.numbers(node, 1, "scale");
  const zeros = node.inputs.length > 2 && node.inputs[2] !== "" ? ctx.numbers(node, 2, "zero point") : [0];
  if (intAttribute(node, "block_size", 0) !== 0)
    refuse("it scales by blocks", "Use one scale per tensor or per axis.");
  for (const scale of scales) checkScale(scale, "scale");
  const dims = dimsOf(value);
  const axis = scales.length === 1 ? 0 : normalAxis(intAttribute(node, "axis", 1), dims.length);
  if (scales.length !== 1 && scales.length !== dims[axis]) {
    refuse(`it has ${scales.length} scales for ${dims[axis]} indexes of axis ${axis}`, "Correct the scales.");
  }
  const zero = zeros.length === 1 ? scales.map(() => zeros[0] as number) : zeros;
  if (value.kind === "constant") {
    return { kind: "dequantized", source: value, scale: scales, zero, axis };
  }
  const source = value.kind === "product" ? value.product : ctx.tensor(value);
  if (!("kind" in source) || source.type === "s32") {
    if (zero.some((z) => z !== 0)) refuse("its int32 input has a zero point", "Use zero point 0 for int32.");
    const scaled = {
      factor: 1,
      scale: scales,
      axis,
      low: Number.NEGATIVE_INFINITY,
      high: Number.POSITIVE_INFINITY,
    };
    return { kind: "scaled", source, ...scaled, fused: false };
  }
  if (source.type !== "u8" && source.type !== "s8") {
    refuse(`its input is ${source.onnx}`, "Dequantize uint8, int8 or int32.");
  }
  return { kind: "dequantized", source, scale: scales, zero, axis };
}

export function quantizeLinear(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  if (typeOf(value) !== "float32") refuse(`its input is ${typeOf(value)}`, "Quantize float32.");
  if (value.kind === "constant" || (value.kind === "dequantized" && value.source.kind === "constant")) {
    return { kind: "constant", tensor: quantizedConstant(ctx, node, value) };
  }
  const scales = ctx.numbers(node, 1, "output scale");
  if (scales.length > 1) return quantizeAlong(ctx, node, ctx.tensor(value), scales);
  const to = quantizationAt(ctx, node, 1, "output");
  if (value.kind === "scaled" && (value.fused || isPowerOfTwo(to.scale))) {
    return quantizeScaled(ctx, value, to);
  }
  const mapped = mapOf(value);
  if (mapped !== undefined) return applyTable(ctx, mapped.source, mapped.map, to);
  return quantizeTensor(ctx, ctx.tensor(value), to);
}

/** FLOAT quant of a float32 tensor. */
export function quantizeTensor(ctx: Lowering, tensor: TensorValue, to: Quantization): TensorValue {
  const { builder } = ctx;
  const operand: Operand = builder.float(
    "quant",
    to.type,
    tensor.operand,
    builder.f32(to.scale),
    builder.s32(to.zero),
  );
  return ctx.like(tensor, operand, to.type === "u8" ? "uint8" : "int8");
}

/** FLOAT quant with a scale for each index of an axis. */
function quantizeAlong(
  ctx: Lowering,
  node: OnnxNode,
  tensor: TensorValue,
  scales: readonly number[],
): TensorValue {
  const axis = normalAxis(intAttribute(node, "axis", 1), tensor.dims.length);
  const zeroTensor = ctx.optionalConstant(node, 2, "output zero point");
  const zeros = zeroTensor === undefined ? scales.map(() => 0) : numbers(zeroTensor);
  for (const scale of scales) checkScale(scale, "output scale");
  if (scales.length !== tensor.dims[axis] || zeros.length !== scales.length) {
    refuse(
      `it has ${scales.length} output scales and ${zeros.length} zero points for ${tensor.dims[axis]} indexes of axis ${axis}`,
      "Give one of each for each index.",
    );
  }
  const type = byteTypeOf(zeroTensor);
  const operand = ctx.builder.float(
    "quant",
    type,
    ctx.aligned(tensor),
    ctx.along(tensor, axis, Float32Array.from(scales)),
    ctx.along(tensor, axis, Int32Array.from(zeros)),
  );
  return ctx.like(tensor, operand, type === "u8" ? "uint8" : "int8");
}

const isPowerOfTwo = (x: number): boolean => x > 0 && Math.log2(x) % 1 === 0;

/** Requantization rules of `scaled` numbers: `f32(f32(factor·scale) / yScale)` for each channel. */
export function rulesOf(
  value: Omit<ScaledValue, "kind" | "source" | "fused" | "axis">,
  to: Quantization,
): Rules {
  const scaleOf = (weightScale: number): number =>
    Math.fround(Math.fround(value.factor * weightScale) / to.scale);
  const clamp = { low: value.low, high: value.high, yScale: to.scale };
  return {
    list: value.scale.map((s) => byteRule(to.type, to.zero, scaleOf(s), clamp)),
    movable: (channel) => ({ from: value.scale[channel] ?? (value.scale[0] as number), scale: scaleOf }),
  };
}

export function quantizeScaled(ctx: Lowering, value: ScaledValue, to: Quantization): TensorValue {
  const rules = rulesOf(value, to);
  const { source, scale, axis } = value;
  if (!("kind" in source) && (scale.length === 1 || channelAxis(source) === axis)) {
    return emitRequantized(ctx, source, to.type, rules);
  }
  const tensor = "kind" in source ? source : emitProduct(ctx, source);
  if (scale.length === 1)
    return requantizeTensor(ctx, { ...tensor, operand: ctx.aligned(tensor) }, to.type, rules);
  const last = tensor.layout ?? tensor.dims.map((_, i) => i);
  const layout = last.at(-1) === axis ? last : [...last.filter((a) => a !== axis), axis];
  return requantizeTensor(ctx, { ...tensor, operand: ctx.inLayout(tensor, layout), layout }, to.type, rules);
}

/** ONNX axis along which a product's channels run; −1 where they run along several. */
function channelAxis(product: Product): number {
  const axis = product.layout?.at(-1) ?? product.dims.length - 1;
  return product.dims[axis] === product.channels.length ? axis : -1;
}

function quantizedConstant(ctx: Lowering, node: OnnxNode, value: Value): OnnxTensor {
  const real = constantReal(value);
  const scales = ctx.numbers(node, 1, "scale");
  const zeroTensor = ctx.optionalConstant(node, 2, "zero point");
  const zeros = zeroTensor === undefined ? [0] : numbers(zeroTensor);
  const type = byteTypeOf(zeroTensor);
  const axis = scales.length === 1 ? 0 : normalAxis(intAttribute(node, "axis", 1), real.dims.length);
  const inner = count(real.dims.slice(axis + 1));
  const values = Array.from(numbers(real), (x, i) => {
    const channel = scales.length === 1 ? 0 : Math.floor(i / inner) % scales.length;
    return quantized(x, {
      scale: scales[channel] as number,
      zero: zeros[channel] ?? (zeros[0] as number),
      type,
    });
  });
  return makeTensor(type === "u8" ? "uint8" : "int8", real.dims, values);
}

/** A float32 constant, dequantized where it is stored as integers. */
export function constantReal(value: Value): OnnxTensor {
  if (value.kind === "constant") return value.tensor;
  if (value.kind !== "dequantized" || value.source.kind !== "constant") {
    return refuse("an operand is computed, not constant", "Make it an initializer.");
  }
  const { tensor } = value.source;
  const inner = count(tensor.dims.slice(value.axis + 1));
  const values = numbers(tensor).map((q, i) => {
    const channel = value.scale.length === 1 ? 0 : Math.floor(i / inner) % value.scale.length;
    return dequantized(q, value.scale[channel] as number, value.zero[channel] as number);
  });
  return makeTensor("float32", tensor.dims, values);
}
