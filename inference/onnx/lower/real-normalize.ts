/** Layer, instance and root-mean-square normalization of float32: sums by halves, results of at most √n in size. */

import type { Operand } from "../../program/form.ts";
import { coordinates } from "../axes.ts";
import { count, type OnnxNode } from "../graph.ts";
import { held, realTensor, scaledToGrid } from "./held.ts";
import { floatAttribute, intAttribute, type Lowering, normalAxis } from "./lowering.ts";
import { reduceRows } from "./rows.ts";
import { scaledAndShifted } from "./scale-shift.ts";
import { dimsOf, type TensorValue, type Value } from "./values.ts";

/** Fraction bits of normalized elements. */
const BITS = 40;
const UNIT = 2 ** -BITS;
/** No radicand is smaller, so that nothing is divided by 0. */
const LEAST_RADICAND = 2 ** -80;
/** 1.0, as it is stored. */
const ONE = 0x3f800000;

const tensorOf = (operand: Operand, dims: readonly number[]): TensorValue => ({
  kind: "tensor",
  operand,
  type: "f32",
  onnx: "float32",
  dims,
});

const epsilonOf = (node: OnnxNode): number => floatAttribute(node, "epsilon", Math.fround(1e-5));

/** Rows of the last axes from the node's `axis` on. */
function rowsOf(
  ctx: Lowering,
  node: OnnxNode,
  value: Value,
): { readonly stored: Operand; readonly n: number } {
  const dims = dimsOf(value);
  const n = count(dims.slice(normalAxis(intAttribute(node, "axis", -1), dims.length)));
  return { stored: ctx.reshape(ctx.plain(realTensor(ctx, value)), [count(dims) / n, n]), n };
}

export function realLayerNormalization(ctx: Lowering, node: OnnxNode, value: Value): TensorValue {
  const { stored, n } = rowsOf(ctx, node, value);
  const normal = normalizedRows(ctx, stored, n, epsilonOf(node));
  return tensorOf(scaledAndShifted(ctx, node, normal, [n], UNIT), dimsOf(value));
}

/** Of each channel of each image, with a gain and a shift a channel. */
export function realInstanceNormalization(ctx: Lowering, node: OnnxNode, value: Value): TensorValue {
  const dims = dimsOf(value);
  const [batch = 1, channels = 1] = dims;
  const n = count(dims.slice(2));
  const stored = ctx.reshape(ctx.plain(realTensor(ctx, value)), [batch * channels, n]);
  const apart = ctx.reshape(normalizedRows(ctx, stored, n, epsilonOf(node)), [batch, channels, n]);
  const operand = ctx.reshape(scaledAndShifted(ctx, node, apart, [channels, 1], UNIT), dims);
  return tensorOf(operand, dims);
}

/** `x / sqrt(mean of x² + epsilon) · gain`. */
export function realRmsNormalization(ctx: Lowering, node: OnnxNode, value: Value): TensorValue {
  const { builder } = ctx;
  const { stored, n } = rowsOf(ctx, node, value);
  const x = held(ctx, stored);
  const rows = count(dimsOf(value)) / n;
  const squares = reduceRows(ctx, "sum", builder.float("mul", "f32", x, x), [rows, 1]);
  const normal = dividedByRoot(ctx, x, squares, n, epsilonOf(node));
  const gain = { ...node, inputs: node.inputs.slice(0, 2) };
  return tensorOf(scaledAndShifted(ctx, gain, normal, [n], UNIT), dimsOf(value));
}

/** Rows of n elements less their mean, divided by their deviation, in units of 2^-40. The first element is taken away from
 *  all, so that sums of nearly flat rows lose nothing; the mean of what is left is taken away twice. */
function normalizedRows(ctx: Lowering, stored: Operand, n: number, epsilon: number): Operand {
  const { builder } = ctx;
  const x = held(ctx, stored);
  const rows = count(builder.shape(x).dims) / n;
  const apart = builder.float("sub", "f32", x, column(ctx, x, rows, n));
  const sums = reduceRows(ctx, "sum", apart, [rows, 1]);
  const near = builder.float("sub", "f32", apart, scaledToGrid(ctx, sums, 1 / n));
  const [rests, squares] = sumAndSquares(ctx, near, rows, n);
  const shift = scaledToGrid(ctx, rests, 1 / n);
  const excess = builder.float("mul", "f32", builder.float("mul", "f32", shift, shift), builder.f32(n));
  // No sum of squares is negative: the maximum changes nothing, and lets import see it.
  const spread = builder.float("max", "f32", builder.float("sub", "f32", squares, excess), builder.f32(0));
  return dividedByRoot(ctx, builder.float("sub", "f32", near, shift), spread, n, epsilon);
}

/** The first element of each row. */
function column(ctx: Lowering, x: Operand, rows: number, n: number): Operand {
  const axes = [
    { dim: rows, terms: [{ axis: 0, factor: 1 }], offset: 0, checked: false },
    { dim: n, terms: [], offset: 0, checked: false },
  ];
  return ctx.builder.move(x, [rows, 1], coordinates(axes, [rows, 1]));
}

/** Sums of each row and of its squares, found at once. */
function sumAndSquares(ctx: Lowering, x: Operand, rows: number, n: number): [Operand, Operand] {
  const { builder } = ctx;
  const whole = { dim: rows, terms: [{ axis: 1, factor: 1 }], offset: 0, checked: false };
  const isSecond = { dim: 1, terms: [{ axis: 0, factor: 1 }], offset: -1, checked: true };
  const dims = [2, rows, n];
  const each = { dim: n, terms: [{ axis: 2, factor: 1 }], offset: 0, checked: false };
  const factors = builder.move(x, dims, coordinates([isSecond, whole, each], dims), { pad: ONE });
  const both = reduceRows(ctx, "sum", builder.float("mul", "f32", x, factors), [2, rows, 1]);
  const [sums, squares] = [0, 1].map((place) => {
    const axes = [
      { dim: 2, terms: [], offset: place, checked: false },
      { dim: rows, terms: [{ axis: 0, factor: 1 }], offset: 0, checked: false },
    ];
    return builder.move(both, [rows, 1], coordinates(axes, [rows, 1]));
  }) as [Operand, Operand];
  return [sums, squares];
}

/** `x · (√n·2^40 / sqrt(squares + n·epsilon))`, rounded to a whole number: no element is above √n·2^40. */
function dividedByRoot(ctx: Lowering, x: Operand, squares: Operand, n: number, epsilon: number): Operand {
  const { builder } = ctx;
  const radicand = builder.float("add", "f32", squares, builder.f32(Math.max(n * epsilon, LEAST_RADICAND)));
  const root = builder.float("sqrt", "f32", radicand);
  const factor = builder.float("div", "f32", builder.f32(Math.sqrt(n) * 2 ** BITS), root);
  const whole = builder.float("round", "f32", builder.float("mul", "f32", x, factor));
  const most = Math.fround(Math.sqrt(n) * (1 + 2 ** -20)) * 2 ** BITS;
  const above = builder.float("max", "f32", whole, builder.f32(-most));
  return builder.float("min", "f32", above, builder.f32(most));
}
