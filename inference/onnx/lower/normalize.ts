/** Softmax and LayerNormalization of dequantized bytes: sums and quotients of integers, what is left in binary32. */

import type { Operand } from "../../program/form.ts";
import { numbers, type OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { dequantizedBytes } from "./average.ts";
import { knownTensor } from "./fold.ts";
import { floatAttribute, intAttribute, type Lowering, normalAxis } from "./lowering.ts";
import { reduceRows } from "./rows.ts";
import { type ScaledValue, type TensorValue, typeOf, type Value } from "./values.ts";

/** Units of an exponential, and of a quotient: the sum of the two products that are divided stays inside s32 up to
 *  8,191 elements a row. */
const EXPONENTIAL_BITS = 18;
const QUOTIENT_BITS = 12;

/** `(2^12·e + ⌊Σe / 2⌋) / Σe` with `e = round(2^18·exp(−scale·(max − q)))`: a multiple of 2^-12, whatever the zero point. */
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
  const { builder } = ctx;
  const bytes = ctx.reshape(ctx.inLayout(source, order), [count / n, n]);
  const top = reduceRows(ctx, "max", bytes, [count / n, 1]);
  const below = builder.arith("sub", "s32", top, bytes);
  const exponentials = ctx.reshape(lookedUp(ctx, below, value.scale[0] as number, count), [count / n, n]);
  const sums = reduceRows(ctx, "sum", exponentials, [count / n, 1]);
  // Each sum holds exp(0): the maximum changes nothing, and lets import see it.
  const divisor = builder.arith("max", "s32", sums, builder.s32(2 ** EXPONENTIAL_BITS));
  const half = builder.arith("div", "s32", divisor, builder.s32(2));
  const raised = builder.arith("mul", "s32", exponentials, builder.s32(2 ** QUOTIENT_BITS));
  const operand = builder.arith("div", "s32", builder.arith("add", "s32", raised, half), divisor);
  const layout = order.every((a, i) => a === i) ? {} : { layout: order };
  const tensor: TensorValue = {
    kind: "tensor",
    operand,
    type: "s32",
    onnx: "int32",
    dims: source.dims,
    ...layout,
  };
  return numberOf(tensor, 2 ** -QUOTIENT_BITS);
}

const numberOf = (source: TensorValue, scale: number): ScaledValue => ({
  kind: "scaled",
  source,
  scale: [scale],
  factor: 1,
  axis: 0,
  low: Number.NEGATIVE_INFINITY,
  high: Number.POSITIVE_INFINITY,
  fused: true,
});

/** `round(2^18·exp(−scale·d))` of each difference d of 0 to 255. */
function lookedUp(ctx: Lowering, differences: Operand, scale: number, count: number): Operand {
  const { builder } = ctx;
  const table = Int32Array.from({ length: 256 }, (_, d) =>
    Math.round(2 ** EXPONENTIAL_BITS * Math.exp(-scale * d)),
  );
  const ids = ctx.reshape(differences, [count, 1]);
  return builder.lookup(1, ids, builder.plain("s32", [256, 1], table), [count]);
}

const MAX_FRACTION = 64;

/** Parts of a byte in which means are rounded: as many as leave the sums of squares inside s32. */
function fractionFor(n: number): number {
  let fraction = MAX_FRACTION;
  while (fraction > 1 && n * (256 * fraction) ** 2 >= 2 ** 31) fraction /= 2;
  if (n * (256 * fraction) ** 2 >= 2 ** 31)
    refuse(`it normalizes ${n} elements`, "Normalize at most 32,767 elements.");
  return fraction;
}

/** `d = F·q − round(F·mean)` and `Σ d²` are integers; what follows is binary32, element by element:
 *  `d·(scale/F) / sqrt(Σd²·(scale²/(n·F²)) + epsilon) · gain + shift`. */
export function layerNormalization(ctx: Lowering, node: OnnxNode): Value {
  const { source, scale } = dequantizedBytes(ctx.input(node, 0));
  const axis = normalAxis(intAttribute(node, "axis", -1), source.dims.length);
  const n = source.dims.slice(axis).reduce((product, dim) => product * dim, 1);
  const count = source.dims.reduce((product, dim) => product * dim, 1);
  const { builder } = ctx;
  const bytes = ctx.reshape(ctx.plain(source), [count / n, n]);
  const fraction = fractionFor(n);
  const distances = distancesFromMean(ctx, bytes, source.type === "s8" ? 128 : 0, n, fraction);
  const squares = reduceRows(ctx, "sum", builder.arith("mul", "s32", distances, distances), [count / n, 1]);
  // No sum of squares is negative: the maximum changes nothing, and lets import see it.
  const total = builder.arith("max", "s32", squares, builder.s32(0));
  const unit = (scale[0] as number) / fraction;
  const real = (operand: Operand, factor: number): Operand =>
    builder.float("mul", "f32", builder.float("tofloat", "f32", operand), builder.f32(Math.fround(factor)));
  const epsilon = builder.f32(floatAttribute(node, "epsilon", Math.fround(1e-5)));
  const variance = builder.float("add", "f32", real(total, (unit * unit) / n), epsilon);
  let result = builder.float("div", "f32", real(distances, unit), builder.float("sqrt", "f32", variance));
  const gain = along(ctx, node, 1, n);
  if (gain !== undefined) result = builder.float("mul", "f32", result, gain);
  const shift = along(ctx, node, 2, n);
  if (shift !== undefined) result = builder.float("add", "f32", result, shift);
  return { kind: "tensor", operand: result, type: "f32", onnx: "float32", dims: source.dims };
}

/** `F·q − round(F·mean)`, s32. @param lift makes the sum of a row ≥ 0, so that its quotient rounds */
function distancesFromMean(
  ctx: Lowering,
  bytes: Operand,
  lift: number,
  n: number,
  fraction: number,
): Operand {
  const { builder } = ctx;
  const lifted = lift === 0 ? bytes : builder.arith("add", "s32", bytes, builder.s32(lift));
  const { dims } = builder.shape(bytes);
  const sums = reduceRows(ctx, "sum", lifted, [dims.slice(0, -1).reduce((a, b) => a * b, 1), 1]);
  const raised = builder.arith("mul", "s32", sums, builder.s32(fraction));
  const rounded = builder.arith("add", "s32", raised, builder.s32(Math.floor(n / 2)));
  const mean = builder.arith("div", "s32", rounded, builder.s32(n));
  return builder.arith("sub", "s32", builder.arith("mul", "s32", lifted, builder.s32(fraction)), mean);
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
