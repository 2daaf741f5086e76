/** Averages: of dequantized bytes sums of integers, whose count goes into the scale; of other float32 sums by halves. */

import { count, type OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { realTensor } from "./held.ts";
import { intAttribute, intsAttribute, type Lowering } from "./lowering.ts";
import { poolAlong } from "./pool.ts";
import { requantizeTensor } from "./product.ts";
import type { ByteQuantization } from "./quantization.ts";
import { bytes, centred, quantizationAt, quantizeTensor } from "./quantize.ts";
import { byteRule } from "./requantize.ts";
import { reduceAxes } from "./rows.ts";
import {
  type DequantizedTensor,
  dimsOf,
  isDequantized,
  type ScaledValue,
  scaledIntegers,
  type TensorValue,
  UNBOUNDED,
  type Value,
} from "./values.ts";
import { spatialAxes, type WindowAxis, windowAxes } from "./windows.ts";

/** Sum, or mean, of a dequantized byte tensor along axes: float32 that QuantizeLinear may requantize. */
export function realSum(
  ctx: Lowering,
  value: DequantizedTensor,
  axes: readonly number[],
  keepdims: boolean,
  mean: boolean,
): ScaledValue {
  const n = axes.reduce((product, axis) => product * (value.source.dims[axis] as number), 1);
  const sum = reduceAxes(ctx, "sum", value.source, axes, keepdims);
  const [scale = 1] = value.scale;
  return scaledIntegers(centred(ctx, sum, n, value.zero[0] as number), mean ? Math.fround(scale / n) : scale);
}

/** `sum / n` of float32. @param n one number, or one for each element of the last axes */
export function divided(ctx: Lowering, sum: TensorValue, ...n: readonly number[]): TensorValue {
  const plain = ctx.plainTensor(sum);
  const counts = ctx.builder.plain("f32", n.length === 1 ? [1] : sum.dims.slice(2), Float32Array.from(n));
  return ctx.like(plain, ctx.builder.float("div", "f32", plain.operand, counts), "float32");
}

export function globalAveragePool(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const axes = spatialAxes(value);
  if (isDequantized(value)) return realSum(ctx, value, axes, true, true);
  const dims = dimsOf(value);
  const n = count(axes.map((axis) => dims[axis] as number));
  return divided(ctx, reduceAxes(ctx, "sum", realTensor(ctx, value), axes, true), n);
}

interface WindowSums {
  /** Sums of `q − zero` over each window. */
  readonly sums: TensorValue;
  /** Elements that each window divides by: one number, or one for each position. */
  readonly counts: readonly number[];
}

function windowSums(ctx: Lowering, node: OnnxNode, tensor: TensorValue, zero: number): WindowSums {
  const kernel =
    intsAttribute(node, "kernel_shape") ?? refuse("it has no kernel_shape", "Export the model again.");
  if (intAttribute(node, "ceil_mode", 0) !== 0) refuse("it rounds its output size up", "Use ceil_mode 0.");
  const axes = windowAxes(node, tensor.dims.slice(2), kernel);
  let sums = tensor;
  let n = 1;
  axes.forEach((window, i) => {
    // A position outside counts as the number 0, which is stored as the sum of n zero points.
    const pad = i === 0 && tensor.type === "s8" ? zero + 128 : (n * zero) >>> 0;
    const summed = poolAlong(ctx, sums, i + 2, window, "sum", pad);
    sums = { ...summed, onnx: summed.type === "f32" ? "float32" : "int32" };
    n *= window.kernel;
  });
  const padded = intAttribute(node, "count_include_pad", 0) !== 0 || axes.every((axis) => !axis.leaves);
  return { sums: centred(ctx, sums, n, zero), counts: padded ? [n] : insideCounts(axes) };
}

/** Elements of each window that lie inside, for each output position. */
function insideCounts(axes: readonly WindowAxis[]): number[] {
  return axes
    .map(({ size, kernel, stride, dilation, before, output }) =>
      Array.from({ length: output }, (_, o) => {
        const positions = Array.from({ length: kernel }, (_, k) => o * stride + k * dilation - before);
        return positions.filter((at) => at >= 0 && at < size).length;
      }),
    )
    .reduce((outer, inner) => outer.flatMap((x) => inner.map((y) => x * y)));
}

/** float32 averages of windows. */
function averages(ctx: Lowering, { sums, counts }: WindowSums, scale: number): ScaledValue | TensorValue {
  const [first = 1] = counts;
  if (counts.every((n) => n === first)) return scaledIntegers(sums, Math.fround(scale / first));
  const { builder } = ctx;
  const scales = Float32Array.from(counts, (n) => scale / n);
  const plain = ctx.plainTensor(sums);
  const operand = builder.float(
    "dequant",
    "f32",
    plain.operand,
    builder.plain("f32", sums.dims.slice(2), scales),
    builder.s32(0),
  );
  return ctx.like(plain, operand, "float32");
}

export function averagePool(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  if (!isDequantized(value)) {
    const { sums, counts } = windowSums(ctx, node, realTensor(ctx, value), 0);
    const [first = 1] = counts;
    return divided(ctx, sums, ...(counts.every((n) => n === first) ? [first] : counts));
  }
  const { source, scale, zero } = value;
  return averages(ctx, windowSums(ctx, node, source, zero[0] as number), scale[0] as number);
}

/** Bytes of averages by `f32(xScale / f32(yScale · n))`, as onnxruntime scales global averages. */
function requantizedMean(
  ctx: Lowering,
  sums: TensorValue,
  from: ByteQuantization,
  n: number,
  to: ByteQuantization,
): TensorValue {
  const scaleOf = (scale: number): number => Math.fround(scale / Math.fround(to.scale * n));
  const rule = byteRule(to.type, to.zero, scaleOf(from.scale), { ...UNBOUNDED, yScale: to.scale });
  const rules = { list: [rule], movable: () => ({ from: from.scale, scale: scaleOf }) };
  const operand = ctx.aligned(sums);
  return requantizeTensor(ctx, { ...sums, operand }, to.type, rules);
}

/** com.microsoft QLinearGlobalAveragePool and QLinearAveragePool. */
export function qLinearAverage(ctx: Lowering, node: OnnxNode): Value {
  const tensor = bytes(ctx, ctx.input(node, 0));
  const [from, to] = [quantizationAt(ctx, node, 1, "input"), quantizationAt(ctx, node, 3, "output")];
  const last = intAttribute(node, "channels_last", 0) !== 0;
  if (node.op === "QLinearGlobalAveragePool") {
    const axes = last ? spatialAxes(tensor).map((axis) => axis - 1) : spatialAxes(tensor);
    const n = axes.reduce((product, axis) => product * (tensor.dims[axis] as number), 1);
    const sums = centred(ctx, reduceAxes(ctx, "sum", tensor, axes, true), n, from.zero);
    return requantizedMean(ctx, sums, from, n, to);
  }
  if (last) refuse("its channels are last", "Use channels_last 0.");
  const { sums, counts } = windowSums(ctx, node, tensor, from.zero);
  const [first = 1] = counts;
  if (counts.every((n) => n === first)) return requantizedMean(ctx, sums, from, first, to);
  return quantizeTensor(ctx, ctx.tensor(averages(ctx, { sums, counts }, from.scale)), to);
}
