/** QuantizeLinear and DequantizeLinear: where numbers enter and leave float32, and what they enclose fuses. */

import type { Operand } from "../../program/form.ts";
import { count, numbers, type OnnxNode, type OnnxTensor } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { onnxType } from "../tensor.ts";
import { makeTensor } from "./constants.ts";
import { intAttribute, type Lowering, normalAxis, scalar } from "./lowering.ts";
import { mapOf } from "./number-maps.ts";
import { zerosAt } from "./operands.ts";
import { emitProduct, emitRequantized, requantizeTensor } from "./product.ts";
import {
  type ByteQuantization,
  checkScale,
  dequantized,
  isByte,
  isWide,
  ONNX_TYPE,
  type Quantization,
  quantized,
} from "./quantization.ts";
import { byteRule, type Rules } from "./requantize.ts";
import {
  dimsOf,
  isDequantized,
  type Product,
  type ScaledValue,
  scaledIntegers,
  type TensorValue,
  typeOf,
  UNBOUNDED,
  type Value,
} from "./values.ts";
import { quantizeWide, rescaleWide } from "./wide.ts";

/** What an ONNX type quantizes to; uint8 where none is given. */
function typeNamed(name: string | undefined): Quantization["type"] {
  if (name === undefined) return "u8";
  const found = (["u8", "s8", "u16", "s16"] as const).find((type) => ONNX_TYPE[type] === name);
  return found ?? refuse(`it quantizes to ${name}`, "Quantize to uint8, int8, uint16 or int16.");
}

/** Byte quantization of a whole tensor from two constant inputs of a node. */
export function quantizationAt(
  ctx: Lowering,
  node: OnnxNode,
  scaleAt: number,
  what: string,
): ByteQuantization {
  const scale = checkScale(
    scalar(ctx.constant(node, scaleAt, `${what} scale`), `${what} scale`),
    `${what} scale`,
  );
  const zero = ctx.optionalConstant(node, scaleAt + 1, `${what} zero point`);
  const type = typeNamed(zero?.type);
  const found = { scale, zero: zero === undefined ? 0 : scalar(zero, `${what} zero point`), type };
  return isByte(found) ? found : refuse(`its ${what} is ${zero?.type}`, "Use uint8 or int8.");
}

/** An integer byte tensor. */
export function bytes(ctx: Lowering, value: Value): TensorValue {
  const tensor = ctx.tensor(value);
  if (tensor.type !== "u8" && tensor.type !== "s8")
    refuse(`its operand is ${tensor.onnx}`, "Use uint8 or int8.");
  return tensor;
}

/** Stored bytes of each entry of a map. */
function quantizedMap(map: Float32Array, to: ByteQuantization): Uint8Array {
  return Uint8Array.from(map, (x) => quantized(x, to) + (to.type === "s8" ? 128 : 0));
}

/** @throws Refusal for a function that has no number for some byte */
function checkMap(map: Float32Array, least: number): void {
  const at = map.findIndex((x) => !Number.isFinite(x));
  if (at >= 0)
    refuse(
      `its function of ${map.length === 256 ? "a byte" : "16 bits"} is ${map[at]} for the integer ${at + least}`,
      "Clip the operand to where it is finite.",
    );
}

/** 16-bit integers with one scale as integers that RESCALE requantizes, where the import is in integers; undefined for
 *  anything else. */
export function wideIntegers(ctx: Lowering, value: Value): ScaledValue | undefined {
  if (ctx.options.arithmetic !== "integers" || !isDequantized(value) || !isWide(value.source.onnx))
    return undefined;
  const { source, scale, zero } = value;
  return scaledIntegers(centred(ctx, source, 1, zero[0] as number), scale[0] as number);
}

/** `tensor − n·zero`, s32 */
export function centred(ctx: Lowering, tensor: TensorValue, n: number, zero: number): TensorValue {
  if (zero === 0) return tensor;
  return ctx.like(
    tensor,
    ctx.builder.arith("sub", "s32", tensor.operand, ctx.builder.s32(n * zero)),
    "int32",
  );
}

/** The quantized function of a byte, or of a 16-bit integer, by its real numbers. */
export function applyTable(
  ctx: Lowering,
  source: TensorValue,
  map: Float32Array,
  to: Quantization,
): TensorValue {
  checkMap(map, source.onnx === "int16" ? -32_768 : source.type === "s8" ? -128 : 0);
  if (isWide(source.onnx) || !isByte(to)) {
    const entries = Array.from(map, (x) => quantized(x, to));
    return ctx.entryOf(source, makeTensor(ONNX_TYPE[to.type], [map.length], entries));
  }
  const table = quantizedMap(map, to);
  const identity = source.type === to.type && table.every((byte, i) => byte === i);
  const operand = identity ? source.operand : ctx.builder.table(source.operand, to.type, table);
  return { ...source, operand, type: to.type, onnx: ONNX_TYPE[to.type] };
}

export function dequantizeLinear(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const scales = ctx.numbers(node, 1, "scale");
  const zeros = zerosAt(ctx, node, 2, typeOf(value)) ?? [0];
  checkAttributes(node, [FLOAT32]);
  for (const scale of scales) checkScale(scale, "scale");
  const dims = dimsOf(value);
  const axis = scales.length === 1 ? 0 : normalAxis(intAttribute(node, "axis", 1), dims.length);
  if (scales.length !== 1 && scales.length !== dims[axis]) {
    refuse(`it has ${scales.length} scales for ${dims[axis]} indexes of axis ${axis}`, "Correct the scales.");
  }
  const zero = zeros.length === 1 ? scales.map(() => zeros[0] as number) : zeros;
  if (scales.length === 0 || zero.length !== scales.length)
    refuse(
      `it has ${zeros.length} zero points for ${scales.length} scales`,
      "Give one of each for each index.",
    );
  if (value.kind === "constant") {
    return { kind: "dequantized", source: value, scale: scales, zero, axis };
  }
  const source = value.kind === "product" ? value.product : ctx.tensor(value);
  if (source.kind === "dot" || source.onnx === "int32") {
    if (zero.some((z) => z !== 0)) refuse("its int32 input has a zero point", "Use zero point 0 for int32.");
    return { kind: "scaled", source, factor: 1, scale: scales, axis, ...UNBOUNDED, fused: false };
  }
  if (source.type !== "u8" && source.type !== "s8" && !isWide(source.onnx)) {
    refuse(`its input is ${source.onnx}`, "Dequantize uint8, int8, uint16, int16 or int32.");
  }
  return { kind: "dequantized", source, scale: scales, zero, axis };
}

const FLOAT32 = 1;

/** @param results ONNX codes that the result's type may have; 0 leaves it open */
function checkAttributes(node: OnnxNode, results: readonly number[]): void {
  const checked: readonly (readonly [string, readonly number[]])[] = [
    ["precision", [FLOAT32]],
    ["output_dtype", results],
  ];
  if (intAttribute(node, "block_size", 0) !== 0)
    refuse("it scales by blocks", "Use one scale per tensor or per axis.");
  for (const [name, allowed] of checked) {
    const code = intAttribute(node, name, 0);
    if (code !== 0 && !allowed.includes(code)) refuse(`its ${name} is the type ${code}`, "Use float32.");
  }
}

/** What QuantizeLinear makes: one scale and zero point, or one for each index of an axis. */
interface Target {
  readonly scales: readonly number[];
  readonly zeros: readonly number[];
  readonly type: Quantization["type"];
}

function targetOf(ctx: Lowering, node: OnnxNode): Target {
  const scales = ctx.numbers(node, 1, "output scale");
  for (const scale of scales) checkScale(scale, "output scale");
  const zero = ctx.optionalConstant(node, 2, "output zero point");
  const code = intAttribute(node, "output_dtype", 0);
  const named = code === 0 ? undefined : (onnxType(code) ?? `the type ${code}`);
  if (zero !== undefined && named !== undefined && named !== zero.type) {
    refuse(`its output_dtype is ${named}, its zero point ${zero.type}`, "Give both the same type.");
  }
  const zeros = zero === undefined ? scales.map(() => 0) : numbers(zero);
  if (scales.length === 0 || (zeros.length !== scales.length && zeros.length !== 1)) {
    refuse(
      `it has ${zeros.length} zero points for ${scales.length} scales`,
      "Give one of each for each index.",
    );
  }
  const all = zeros.length === 1 ? scales.map(() => zeros[0] as number) : zeros;
  return { scales, zeros: all, type: typeNamed(zero?.type ?? named) };
}

export function quantizeLinear(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  if (typeOf(value) !== "float32") refuse(`its input is ${typeOf(value)}`, "Quantize float32.");
  checkAttributes(node, [2, 3, 4, 5]);
  const target = targetOf(ctx, node);
  const axis = intAttribute(node, "axis", 1);
  if (value.kind === "constant" || (value.kind === "dequantized" && value.source.kind === "constant")) {
    return { kind: "constant", tensor: quantizedConstant(constantReal(value), target, axis) };
  }
  const { scales, zeros, type } = target;
  if (scales.length > 1) return quantizeAlong(ctx, ctx.tensor(value), target, axis);
  const to = { scale: scales[0] as number, zero: zeros[0] as number, type };
  if (value.kind === "scaled" && (value.fused || (isByte(to) && isPowerOfTwo(to.scale)))) {
    return quantizeScaled(ctx, value, to);
  }
  const integers = wideIntegers(ctx, value);
  if (integers !== undefined && (integers.scale[0] as number) / to.scale < FINER)
    return quantizeScaled(ctx, integers, to);
  const mapped = mapOf(ctx, value);
  if (mapped !== undefined) return applyTable(ctx, mapped.source, mapped.map, to);
  return quantizeTensor(ctx, ctx.tensor(value), to);
}

/** QuantizeLinear of a float32 tensor. */
export function quantizeTensor(ctx: Lowering, tensor: TensorValue, to: Quantization): TensorValue {
  const { builder } = ctx;
  return quantizedReal(ctx, tensor, builder.f32(to.scale), builder.s32(to.zero), to.type);
}

/** @param scale f32 and @param zero s32, both broadcasting against the tensor */
function quantizedReal(
  ctx: Lowering,
  tensor: TensorValue,
  scale: Operand,
  zero: Operand,
  type: Quantization["type"],
): TensorValue {
  const operand =
    type === "u8" || type === "s8"
      ? ctx.builder.float("quant", type, tensor.operand, scale, zero)
      : quantizeWide(ctx, tensor.operand, scale, zero, type);
  return ctx.like(tensor, operand, ONNX_TYPE[type]);
}

/** QuantizeLinear with a scale for each index of an axis. */
function quantizeAlong(
  ctx: Lowering,
  tensor: TensorValue,
  { scales, zeros, type }: Target,
  at: number,
): TensorValue {
  const axis = normalAxis(at, tensor.dims.length);
  if (scales.length !== tensor.dims[axis]) {
    refuse(
      `it has ${scales.length} output scales for ${tensor.dims[axis]} indexes of axis ${axis}`,
      "Give one of each for each index.",
    );
  }
  const aligned = { ...tensor, operand: ctx.aligned(tensor) };
  const scale = ctx.along(tensor, axis, Float32Array.from(scales));
  return quantizedReal(ctx, aligned, scale, ctx.along(tensor, axis, Int32Array.from(zeros)), type);
}

/** How much finer than 16-bit integers RESCALE makes them: their results stay far inside s32. */
const FINER = 2 ** 12;

const isPowerOfTwo = (x: number): boolean => x > 0 && Math.log2(x) % 1 === 0;

/** Requantization rules of `scaled` numbers: `f32(f32(factor·scale) / yScale)` for each channel. */
function rulesOf(
  value: Omit<ScaledValue, "kind" | "source" | "fused" | "axis">,
  to: ByteQuantization,
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
  if (!isByte(to)) return rescaleWide(ctx, channelsLast(ctx, value), value, to);
  const rules = rulesOf(value, to);
  const { source, scale, axis } = value;
  if (source.kind === "dot" && (scale.length === 1 || channelAxis(source) === axis)) {
    return emitRequantized(ctx, source, to.type, rules);
  }
  return requantizeTensor(ctx, channelsLast(ctx, value), to.type, rules);
}

/** The integers of `scaled` numbers; where they have several scales, stored with the scales' axis last. */
export function channelsLast(ctx: Lowering, { source, scale, axis }: ScaledValue): TensorValue {
  const tensor = source.kind === "tensor" ? source : emitProduct(ctx, source);
  if (scale.length === 1) return { ...tensor, operand: ctx.aligned(tensor) };
  const last = tensor.layout ?? tensor.dims.map((_, i) => i);
  const layout = last.at(-1) === axis ? last : [...last.filter((a) => a !== axis), axis];
  return { ...tensor, operand: ctx.inLayout(tensor, layout), layout };
}

/** ONNX axis along which a product's channels run; −1 where they run along several. */
function channelAxis(product: Product): number {
  const axis = product.layout?.at(-1) ?? product.dims.length - 1;
  return product.dims[axis] === product.channels.length ? axis : -1;
}

function quantizedConstant(real: OnnxTensor, { scales, zeros, type }: Target, at: number): OnnxTensor {
  const axis = scales.length === 1 ? 0 : normalAxis(at, real.dims.length);
  const inner = count(real.dims.slice(axis + 1));
  const values = Array.from(numbers(real), (x, i) => {
    const channel = scales.length === 1 ? 0 : Math.floor(i / inner) % scales.length;
    return quantized(x, { scale: scales[channel] as number, zero: zeros[channel] as number, type });
  });
  return makeTensor(ONNX_TYPE[type], real.dims, values);
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
