/** Reductions along any axes: the axes become rows (MOVE), each row one element (REDUCE). */

import { elementBytes, elementCount, lastDim, type Operand } from "../../program/form.ts";
import { coordinates } from "../axes.ts";
import type { ArithName, ReduceName } from "../builder.ts";
import { refuse } from "../refusal.ts";
import type { Lowering } from "./lowering.ts";
import type { TensorValue } from "./values.ts";

const MAX_ROW_BYTES = 1024;
const COMBINE: Readonly<Record<ReduceName, ArithName>> = { sum: "add", min: "min", max: "max" };

/** Reduces the last axis of a step; longer rows in parts that are combined.
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

/** Least or largest float32 of each row: halves of it are compared element by element until one is left. */
function foldRows(ctx: Lowering, name: ReduceName, source: Operand, result: readonly number[]): Operand {
  if (name === "sum") refuse("it sums float32", "Sum integers: float sums depend on their order.");
  const { builder } = ctx;
  const rows = elementCount(result);
  let [all, length] = [source, lastDim(builder.shape(source).dims)];
  while (length > 1) {
    const half = Math.ceil(length / 2);
    // The halves overlap by one where the length is odd, which changes no maximum.
    const [first, second] = [0, length - half].map((from) =>
      builder.move(
        all,
        [rows, half],
        coordinates(
          [
            { dim: rows, terms: [{ axis: 0, factor: 1 }], offset: 0, checked: false },
            { dim: length, terms: [{ axis: 1, factor: 1 }], offset: from, checked: false },
          ],
          [rows, half],
        ),
      ),
    ) as [Operand, Operand];
    all = builder.float(name, "f32", first, second);
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
  const onnx = name === "sum" && tensor.type !== "s32" ? "int32" : tensor.onnx;
  const reduced = reduceRows(ctx, name, rows, result);
  return { kind: "tensor", operand: reduced, type: ctx.builder.shape(reduced).type, onnx, dims: result };
}

/** Without its storage order: for an operand that was put in ONNX order. */
export function plainOf(tensor: TensorValue): TensorValue {
  const { layout: _, ...rest } = tensor;
  return rest;
}
