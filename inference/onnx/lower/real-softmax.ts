/** Softmax and LogSoftmax of float32: exponentials of the distance from the maximum, their sum by halves. */

import type { Operand } from "../../program/form.ts";
import { count } from "../graph.ts";
import { expOfMinus } from "./exponentials.ts";
import { bounded, realTensor, summable } from "./held.ts";
import type { Lowering } from "./lowering.ts";
import { reduceRows } from "./rows.ts";
import { LOGARITHM, tabulated } from "./tabulated.ts";
import { dimsOf, type TensorValue, type Value } from "./values.ts";

/** Distances of numbers of this size are finite. */
const MOST = 2 ** 126;

interface Exponentials {
  /** Largest element less each one, f32 [rows, n]. */
  readonly distances: Operand;
  readonly exponentials: Operand;
  /** At least 1, f32 [rows, 1]. */
  readonly sums: Operand;
  readonly rows: number;
  readonly n: number;
  result(operand: Operand): TensorValue;
}

function exponentialsOf(ctx: Lowering, value: Value, reduced: readonly number[]): Exponentials {
  const dims = dimsOf(value);
  const kept = dims.map((_, axis) => axis).filter((axis) => !reduced.includes(axis));
  const order = [...kept, ...reduced];
  const n = count(reduced.map((axis) => dims[axis] as number));
  const rows = count(dims) / n;
  const { builder } = ctx;
  const all = ctx.reshape(ctx.inLayout(realTensor(ctx, value), order), [rows, n]);
  const stored = bounded(ctx, summable(ctx, all), MOST);
  const top = reduceRows(ctx, "max", stored, [rows, 1]);
  const distances = builder.float("sub", "f32", top, stored);
  const exponentials = expOfMinus(ctx, distances);
  // The largest element's exponential is 1: the maximum changes nothing, and lets import see it.
  const sums = builder.float("max", "f32", reduceRows(ctx, "sum", exponentials, [rows, 1]), builder.f32(1));
  const layout = order.every((axis, i) => axis === i) ? {} : { layout: order };
  const result = (operand: Operand): TensorValue => ({
    kind: "tensor",
    operand,
    type: "f32",
    onnx: "float32",
    dims,
    ...layout,
  });
  return { distances, exponentials, sums, rows, n, result };
}

export function realSoftmax(ctx: Lowering, value: Value, reduced: readonly number[]): TensorValue {
  const { exponentials, sums, result } = exponentialsOf(ctx, value, reduced);
  return result(ctx.builder.float("div", "f32", exponentials, sums));
}

/** `−distance − log Σ` with `log Σ = log ⌊Σ⌋ + log(Σ / ⌊Σ⌋)`, both from tables. */
export function realLogSoftmax(ctx: Lowering, value: Value, reduced: readonly number[]): TensorValue {
  const { distances, sums, rows, n, result } = exponentialsOf(ctx, value, reduced);
  const { builder } = ctx;
  const whole = builder.float("toint", "s32", sums);
  const logs = builder.plain(
    "f32",
    [n + 1, 1],
    Float32Array.from({ length: n + 1 }, (_, i) => Math.log(Math.max(i, 1))),
  );
  const least = builder.float("tofloat", "f32", builder.arith("max", "s32", whole, builder.s32(1)));
  const rest = tabulated(ctx, builder.float("div", "f32", sums, least), LOGARITHM);
  const log = builder.float("add", "f32", builder.lookup("pick", whole, logs, [rows]), rest);
  const minus = builder.float("mul", "f32", log, builder.f32(-1));
  return result(builder.float("sub", "f32", minus, distances));
}
