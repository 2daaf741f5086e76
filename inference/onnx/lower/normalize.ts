/** Softmax and LayerNormalization of dequantized bytes: sums of integers, what is left in binary32. */

import type { Operand } from "../../program/form.ts";
import { numbers, type OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { dequantizedBytes } from "./average.ts";
import { knownTensor } from "./fold.ts";
import { floatAttribute, intAttribute, type Lowering, normalAxis } from "./lowering.ts";
import { reduceRows } from "./rows.ts";
import { typeOf, type Value } from "./values.ts";

/** A row's largest exponential is 2^18, and its rest is summed in units of 2^-18: both sums of 8,191 elements stay inside
 *  s32. */
const EXPONENTIAL_BITS = 18;
/** Smaller exponentials are 0, so that no quotient is subnormal. */
const LEAST_EXPONENTIAL = 2 ** -100;

/** `f32(2^18·exp(−scale·(max − q))) / Σ`, whatever the zero point. The sum is of integers: of the exponentials' whole
 *  parts and of their rests in units of 2^-18. */
export function softmax(ctx: Lowering, node: OnnxNode): Value {
  const value = dequantizedBytes(ctx.input(node, 0));
  const { source } = value;
  const rank = source.dims.length;
  const isOld = ctx.graph.opset < 13;
  const axis = normalAxis(intAttribute(node, "axis", isOld ? 1 : -1), rank);
  // Before operator set 13 all axes from this one on are one.
  const reduced = isOld ? Array.from({ length: rank - axis }, (_, i) => axis + i) : [axis];
  const kept = source.dims.map((_, i) => i).filter((i) => !reduced.includes(i));
  const n = reduced.reduce((product, i) => product * (source.dims[i] as number), 1);
  const count = source.dims.reduce((product, dim) => product * dim, 1);
  const order = [...kept, ...reduced];
  const rows = [count / n, n];
  const { builder } = ctx;
  const bytes = ctx.reshape(ctx.inLayout(source, order), rows);
  const top = reduceRows(ctx, "max", bytes, [count / n, 1]);
  const ids = ctx.reshape(builder.arith("sub", "s32", top, bytes), [count, 1]);
  const tables = exponentials(value.scale[0] as number);
  const picked = (type: "s32" | "f32", table: Int32Array | Float32Array): Operand =>
    ctx.reshape(builder.lookup("pick", ids, builder.plain(type, [256, 1], table), [count]), rows);
  const sumOf = (table: Int32Array): Operand => reduceRows(ctx, "sum", picked("s32", table), [count / n, 1]);
  // Each sum holds exp(0): the maximum changes nothing, and lets import see it.
  const wholes = builder.arith("max", "s32", sumOf(tables.wholes), builder.s32(2 ** EXPONENTIAL_BITS));
  const rests = real(ctx, sumOf(tables.rests), 2 ** -EXPONENTIAL_BITS);
  const divisor = builder.float("add", "f32", builder.float("tofloat", "f32", wholes), rests);
  const operand = builder.float("div", "f32", picked("f32", tables.numbers), divisor);
  const layout = order.every((a, i) => a === i) ? {} : { layout: order };
  return { kind: "tensor", operand, type: "f32", onnx: "float32", dims: source.dims, ...layout };
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
  const { source, scale } = dequantizedBytes(ctx.input(node, 0));
  const axis = normalAxis(intAttribute(node, "axis", -1), source.dims.length);
  const n = source.dims.slice(axis).reduce((product, dim) => product * dim, 1);
  const count = source.dims.reduce((product, dim) => product * dim, 1);
  if (n > MOST_NORMALIZED) refuse(`it normalizes ${n} elements`, "Normalize at most 32,767 elements.");
  const { builder } = ctx;
  const bytes = ctx.reshape(ctx.plain(source), [count / n, n]);
  const near = fromRoundedMean(ctx, bytes, source.type === "s8" ? 128 : 0, n);
  const sums = reduceRows(ctx, "sum", near, [count / n, 1]);
  const squares = reduceRows(ctx, "sum", builder.arith("mul", "s32", near, near), [count / n, 1]);
  const sum = builder.float("tofloat", "f32", sums);
  const excess = builder.float("mul", "f32", builder.float("mul", "f32", sum, sum), builder.f32(1 / n));
  const spread = builder.float("sub", "f32", builder.float("tofloat", "f32", squares), excess);
  // No variance is negative: the maximum changes nothing, and lets import see it.
  const positive = builder.float("max", "f32", spread, builder.f32(0));
  const [unit = 1] = scale;
  const scaled = builder.float("mul", "f32", positive, builder.f32((unit * unit) / n));
  const epsilon = builder.f32(floatAttribute(node, "epsilon", Math.fround(1e-5)));
  const deviation = builder.float("sqrt", "f32", builder.float("add", "f32", scaled, epsilon));
  const distances = builder.arith("sub", "s32", builder.arith("mul", "s32", near, builder.s32(n)), sums);
  let result = builder.float("div", "f32", real(ctx, distances, unit / n), deviation);
  const gain = along(ctx, node, 1, n);
  if (gain !== undefined) result = builder.float("mul", "f32", result, gain);
  const shift = along(ctx, node, 2, n);
  if (shift !== undefined) result = builder.float("add", "f32", result, shift);
  return { kind: "tensor", operand: result, type: "f32", onnx: "float32", dims: source.dims };
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

/** Gain or shift of each normalized element. */
function along(ctx: Lowering, node: OnnxNode, input: number, n: number): Operand | undefined {
  const value = ctx.optional(node, input);
  if (value === undefined) return undefined;
  const tensor = knownTensor(value);
  if (tensor === undefined || typeOf(value) !== "float32" || tensor.data.length !== n) {
    return refuse(
      `its input ${input} is no float32 constant of ${n} elements`,
      "Make it an initializer, one number for each normalized element.",
    );
  }
  return ctx.tensor({
    kind: "constant",
    tensor: { ...tensor, dims: [n], data: Float32Array.from(numbers(tensor)) },
  }).operand;
}
