/** Reductions along any axes: the axes become rows (MOVE), each row one element (REDUCE). */

import { elementBytes, elementCount, lastDim, type Operand } from "../../program/form.ts";
import { coordinates } from "../axes.ts";
import type { ArithName, FloatName, ReduceName } from "../builder.ts";
import { summable } from "./held.ts";
import type { Lowering } from "./lowering.ts";
import type { TensorValue } from "./values.ts";

/** REDUCE takes longer ones of s32; they are cut here so that published models import to the programs that they have. */
const MAX_ROW_BYTES = 1024;
const COMBINE: Readonly<Record<ReduceName, ArithName & FloatName>> = { sum: "add", min: "min", max: "max" };

/** Reduces the last axis of a step; longer rows in parts that are combined, rows of float32 by halves.
 *  @param result dims of the result, one element for each row of the source */
export function reduceRows(
  ctx: Lowering,
  name: ReduceName,
  source: Operand,
  result: readonly number[],
): Operand {
  const { builder } = ctx;
  const { type, dims } = builder.shape(source);
  const length = lastDim(dims);
  const rows = elementCount(dims) / length;
  const target = result.length === 0 ? [1] : result;
  const most = MAX_ROW_BYTES / elementBytes(type);
  if (type === "f32") return foldRows(ctx, name, source, target);
  if (length <= most) return builder.reduce(name, source, target);
  let all: Operand | undefined;
  for (let from = 0; from < length; from += most) {
    const part = Math.min(most, length - from);
    const axes = [
      { dim: rows, terms: [{ axis: 0, factor: 1 }], offset: 0, checked: false },
      { dim: length, terms: [{ axis: 1, factor: 1 }], offset: from, checked: false },
    ];
    const moved = builder.move(source, [rows, part], coordinates(axes, [rows, part]));
    const reduced = builder.reduce(name, moved, target);
    const outType = builder.shape(reduced).type;
    all = all === undefined ? reduced : builder.arith(COMBINE[name], outType, all, reduced);
  }
  return all as Operand;
}

/** Sum, least or largest float32 of each row: the second half of it is added to the first, or compared with it, element by
 *  element until one is left. */
function foldRows(ctx: Lowering, name: ReduceName, source: Operand, result: readonly number[]): Operand {
  const { builder } = ctx;
  const rows = elementCount(result);
  const { dims } = builder.shape(source);
  let [all, length] = [name === "sum" ? summable(ctx, source) : source, lastDim(dims)];
  const part = (from: number, size: number): Operand => {
    const axes = [
      { dim: rows, terms: [{ axis: 0, factor: 1 }], offset: 0, checked: false },
      { dim: length, terms: [{ axis: 1, factor: 1 }], offset: from, checked: from + size > length },
    ];
    return builder.move(all, [rows, size], coordinates(axes, [rows, size]));
  };
  while (length > 1) {
    const half = Math.ceil(length / 2);
    // Where the length is odd a sum takes +0 for what is missing; a maximum does not change if the halves overlap by one.
    const [first, second] = [part(0, half), part(name === "sum" ? half : length - half, half)] as const;
    all = builder.float(COMBINE[name], "f32", first, second);
    length = half;
  }
  return ctx.reshape(all, result);
}

/** Reduces axes of a tensor; the result has the kept axes in ONNX order. */
export function reduceAxes(
  ctx: Lowering,
  name: ReduceName,
  tensor: TensorValue,
  axes: readonly number[],
  keepdims: boolean,
): TensorValue {
  const { dims } = tensor;
  const kept = dims.map((_, axis) => axis).filter((axis) => !axes.includes(axis));
  const operand = ctx.inLayout(tensor, [...kept, ...axes]);
  const length = axes.reduce((n, axis) => n * (dims[axis] as number), 1);
  const rows = ctx.withLast(
    { ...plainOf(tensor), operand, dims: [elementCount(dims) / length, length] },
    length,
  );
  const result = keepdims
    ? dims.map((d, axis) => (axes.includes(axis) ? 1 : d))
    : kept.map((a) => dims[a] as number);
  const isCounted = name === "sum" && tensor.type !== "s32" && tensor.type !== "f32";
  const onnx = isCounted ? "int32" : tensor.onnx;
  const reduced = reduceRows(ctx, name, rows, result);
  return { kind: "tensor", operand: reduced, type: ctx.builder.shape(reduced).type, onnx, dims: result };
}

/** Without its storage order: for an operand that was put in ONNX order. */
export function plainOf(tensor: TensorValue): TensorValue {
  const { layout: _, ...rest } = tensor;
  return rest;
}
