/** Softmax and normalizations of dequantized bytes: sums of integers, what is left in binary32. Those of other float32
 *  numbers are in real-softmax.ts and real-normalize.ts. */

import type { Operand } from "../../program/form.ts";
import { count, type OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { integerLayerNormalization, integerRmsNormalization } from "./integer-normalize.ts";
import { integerSoftmax } from "./integer-softmax.ts";
import { floatAttribute, intAttribute, type Lowering, normalAxis } from "./lowering.ts";
import { hasEmptyRow } from "./masked.ts";
import { bytes, quantizationAt, quantizeScaled, quantizeTensor } from "./quantize.ts";
import { realInstanceNormalization, realLayerNormalization, realRmsNormalization } from "./real-normalize.ts";
import { realLogSoftmax, realSoftmax } from "./real-softmax.ts";
import { reduceRows } from "./rows.ts";
import { scaledAndShifted } from "./scale-shift.ts";
import { softmaxRows } from "./softmax-rows.ts";
import {
  type DequantizedTensor,
  dimsOf,
  isDequantized,
  isDequantizedByte,
  type TensorValue,
  type Value,
} from "./values.ts";

/** Whether an import has integers alone compute what this value is normalized to. */
const inIntegers = (ctx: Lowering, value: Value): value is DequantizedTensor =>
  ctx.options.arithmetic === "integers" && isDequantized(value);

/** A row's largest exponential is 2^18, and its rest is summed in units of 2^-18: both sums of 8,191 elements stay inside
 *  s32. */
const EXPONENTIAL_BITS = 18;
/** Smaller exponentials are 0, so that no quotient is subnormal. */
const LEAST_EXPONENTIAL = 2 ** -100;

/** `f32(2^18·exp(−scale·(max − q))) / Σ`, whatever the zero point. The sum is of integers: of the exponentials' whole
 *  parts and of their rests in units of 2^-18. */
export function softmax(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const reduced = reducedAxes(node, dimsOf(value), ctx.graph.opset);
  if (value.kind === "masked" && !hasEmptyRow(value, reduced))
    return integerSoftmax(ctx, value.source, reduced, value.kept);
  if (inIntegers(ctx, value)) return integerSoftmax(ctx, value, reduced);
  return isDequantizedByte(value)
    ? softmaxOf(ctx, node, value, ctx.graph.opset)
    : realSoftmax(ctx, value, reduced);
}

export function logSoftmax(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  return realLogSoftmax(ctx, value, reducedAxes(node, dimsOf(value), ctx.graph.opset));
}

/** Axes over which a softmax sums: before operator set 13 all from `axis` on are one. */
function reducedAxes(node: OnnxNode, dims: readonly number[], opset: number): number[] {
  const isOld = opset < 13;
  const axis = normalAxis(intAttribute(node, "axis", isOld ? 1 : -1), dims.length);
  return isOld ? Array.from({ length: dims.length - axis }, (_, i) => axis + i) : [axis];
}

/** com.microsoft QLinearSoftmax: the same of bytes, quantized. */
export function qLinearSoftmax(ctx: Lowering, node: OnnxNode): Value {
  const { scale, zero } = quantizationAt(ctx, node, 1, "input");
  const source = bytes(ctx, ctx.input(node, 0));
  const value = { kind: "dequantized", source, scale: [scale], zero: [zero], axis: 0 } as const;
  const opset = intAttribute(node, "opset", ctx.graph.opset);
  const to = quantizationAt(ctx, node, 3, "output");
  return inIntegers(ctx, value)
    ? quantizeScaled(ctx, integerSoftmax(ctx, value, reducedAxes(node, source.dims, opset)), to)
    : quantizeTensor(ctx, softmaxOf(ctx, node, value, opset), to);
}

function softmaxOf(ctx: Lowering, node: OnnxNode, value: DequantizedTensor, opset: number): TensorValue {
  const { builder } = ctx;
  const rows = softmaxRows(ctx, value.source, reducedAxes(node, value.source.dims, opset));
  const tables = exponentials(value.scale[0] as number);
  // Each sum holds exp(0): the maximum changes nothing, and lets import see it.
  const sums = rows.sum(rows.picked("s32", tables.wholes));
  const wholes = builder.arith("max", "s32", sums, builder.s32(2 ** EXPONENTIAL_BITS));
  const rests = real(ctx, rows.sum(rows.picked("s32", tables.rests)), 2 ** -EXPONENTIAL_BITS);
  const divisor = builder.float("add", "f32", builder.float("tofloat", "f32", wholes), rests);
  return rows.result(builder.float("div", "f32", rows.picked("f32", tables.numbers), divisor), "f32");
}

/** `2^18·exp(−scale·d)` of each difference d of 0 to 255: as binary32, and rounded to a multiple of 2^-18 as its whole
 *  part and its rest. */
function exponentials(scale: number): { numbers: Float32Array; wholes: Int32Array; rests: Int32Array } {
  const all = Array.from({ length: 256 }, (_, d) => Math.exp(-scale * d));
  const unit = 2 ** EXPONENTIAL_BITS;
  const parts = all.map((e) => Math.round(unit * unit * e));
  return {
    numbers: Float32Array.from(all, (e) => (e < LEAST_EXPONENTIAL ? 0 : unit * e)),
    wholes: Int32Array.from(parts, (part) => Math.floor(part / unit)),
    rests: Int32Array.from(parts, (part) => part % unit),
  };
}

/** `f32(f32(operand) × factor)` of integers. */
const real = (ctx: Lowering, operand: Operand, factor: number): Operand =>
  ctx.builder.float(
    "mul",
    "f32",
    ctx.builder.float("tofloat", "f32", operand),
    ctx.builder.f32(Math.fround(factor)),
  );

/** Sums of n squares of bytes stay inside s32, and n-fold distances of bytes are exact in binary32. */
const MOST_NORMALIZED = 32_767;

/** `d = n·(q − mean)` is an integer, n times the variance `Σu² − (Σu)² / n` with `u = q − round(mean)`; what follows is
 *  binary32, element by element: `d·(scale/n) / sqrt((Σu² − (Σu)²/n)·(scale²/n) + epsilon) · gain + shift`. As no |Σu|
 *  is above n/2, the difference is at least half of Σu²: it loses no digits. */
export function layerNormalization(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  if (inIntegers(ctx, value)) return integerLayerNormalization(ctx, node, value);
  if (!isDequantizedByte(value)) return realLayerNormalization(ctx, node, value);
  const { dims } = value.source;
  const n = count(dims.slice(normalAxis(intAttribute(node, "axis", -1), dims.length)));
  const epsilon = floatAttribute(node, "epsilon", Math.fround(1e-5));
  const operand = scaledAndShifted(ctx, node, normalizedRows(ctx, value, n, epsilon), [n]);
  return { kind: "tensor", operand, type: "f32", onnx: "float32", dims };
}

/** The same of each channel of each image, with a gain and a shift a channel. */
export function instanceNormalization(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  if (!isDequantizedByte(value)) return realInstanceNormalization(ctx, node, value);
  const { dims } = value.source;
  const [batch = 1, channels = 1] = dims;
  const n = count(dims.slice(2));
  const rows = normalizedRows(ctx, value, n, floatAttribute(node, "epsilon", Math.fround(1e-5)));
  const apart = ctx.reshape(rows, [batch, channels, n]);
  const operand = ctx.reshape(scaledAndShifted(ctx, node, apart, [channels, 1]), dims);
  return { kind: "tensor", operand, type: "f32", onnx: "float32", dims };
}

/** `d·scale / sqrt(Σd²·(scale²/n) + epsilon) · gain` with `d = q − zero`. */
export function rmsNormalization(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  if (inIntegers(ctx, value)) return integerRmsNormalization(ctx, node, value);
  if (!isDequantizedByte(value)) return realRmsNormalization(ctx, node, value);
  const { source, scale, zero } = value;
  const { dims } = source;
  const n = count(dims.slice(normalAxis(intAttribute(node, "axis", -1), dims.length)));
  checkLength(n);
  const { builder } = ctx;
  const rows = count(dims) / n;
  const stored = ctx.reshape(ctx.plain(source), [rows, n]);
  const distances = builder.arith("sub", "s32", stored, builder.s32(zero[0] as number));
  const squares = reduceRows(ctx, "sum", builder.arith("mul", "s32", distances, distances), [rows, 1]);
  const [unit = 1] = scale;
  const epsilon = builder.f32(floatAttribute(node, "epsilon", Math.fround(1e-5)));
  // No sum of squares is negative: the maximum changes nothing, and lets import see it.
  const positive = builder.arith("max", "s32", squares, builder.s32(0));
  const root = builder.float(
    "sqrt",
    "f32",
    builder.float("add", "f32", real(ctx, positive, (unit * unit) / n), epsilon),
  );
  const normal = builder.float("div", "f32", real(ctx, distances, unit), root);
  const operand = scaledAndShifted(ctx, { ...node, inputs: node.inputs.slice(0, 2) }, normal, [n]);
  return { kind: "tensor", operand, type: "f32", onnx: "float32", dims };
}

function checkLength(n: number): void {
  if (n > MOST_NORMALIZED) refuse(`it normalizes ${n} elements`, "Normalize at most 32,767 elements.");
}

/** Rows of n elements less their mean, divided by their deviation. */
function normalizedRows(
  ctx: Lowering,
  { source, scale }: DequantizedTensor,
  n: number,
  least: number,
): Operand {
  checkLength(n);
  const { builder } = ctx;
  const rows = count(source.dims) / n;
  const stored = ctx.reshape(ctx.plain(source), [rows, n]);
  const near = fromRoundedMean(ctx, stored, source.type === "s8" ? 128 : 0, n);
  const sums = reduceRows(ctx, "sum", near, [rows, 1]);
  const squares = reduceRows(ctx, "sum", builder.arith("mul", "s32", near, near), [rows, 1]);
  const sum = builder.float("tofloat", "f32", sums);
  const excess = builder.float("mul", "f32", builder.float("mul", "f32", sum, sum), builder.f32(1 / n));
  const spread = builder.float("sub", "f32", builder.float("tofloat", "f32", squares), excess);
  // No variance is negative: the maximum changes nothing, and lets import see it.
  const positive = builder.float("max", "f32", spread, builder.f32(0));
  const [unit = 1] = scale;
  const scaled = builder.float("mul", "f32", positive, builder.f32((unit * unit) / n));
  const deviation = builder.float("sqrt", "f32", builder.float("add", "f32", scaled, builder.f32(least)));
  const distances = builder.arith("sub", "s32", builder.arith("mul", "s32", near, builder.s32(n)), sums);
  return builder.float("div", "f32", real(ctx, distances, unit / n), deviation);
}

/** `q − round(mean)`, s32. @param lift makes the sum of a row ≥ 0, so that its quotient rounds */
function fromRoundedMean(ctx: Lowering, bytes: Operand, lift: number, n: number): Operand {
  const { builder } = ctx;
  const lifted = lift === 0 ? bytes : builder.arith("add", "s32", bytes, builder.s32(lift));
  const { dims } = builder.shape(bytes);
  const sums = reduceRows(ctx, "sum", lifted, [dims.slice(0, -1).reduce((a, b) => a * b, 1), 1]);
  const rounded = builder.arith("add", "s32", sums, builder.s32(Math.floor(n / 2)));
  const mean = builder.arith("div", "s32", rounded, builder.s32(n));
  return builder.arith("sub", "s32", lifted, mean);
}
