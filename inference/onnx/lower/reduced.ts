/** What reductions share: their axes, and those of constants. */

import { count, numbers, type OnnxNode, type OnnxTensor } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { castConstant, checkMade, makeTensor, movedConstant } from "./constants.ts";
import { intAttribute, type Lowering, normalAxis } from "./lowering.ts";
import { axesOf } from "./shape.ts";
import type { Value } from "./values.ts";

interface Reduced {
  /** In order, each once; undefined where nothing is reduced. */
  readonly axes: readonly number[] | undefined;
  readonly keepdims: boolean;
}

export function reducedAxes(ctx: Lowering, node: OnnxNode, dims: readonly number[]): Reduced {
  const given = axesOf(ctx, node, 1) ?? [];
  const keepdims = intAttribute(node, "keepdims", 1) !== 0;
  if (given.length === 0 && intAttribute(node, "noop_with_empty_axes", 0) !== 0) {
    return { axes: undefined, keepdims };
  }
  const axes = given.length === 0 ? [...dims.keys()] : given.map((axis) => normalAxis(axis, dims.length));
  return { axes: [...new Set(axes)].sort((a, b) => a - b), keepdims };
}

export const COMBINED: Readonly<Record<string, (x: number, y: number) => number>> = {
  ReduceMax: Math.max,
  ReduceMin: Math.min,
  ReduceProd: (x, y) => x * y,
  ReduceSum: (x, y) => x + y,
};

/** Of integers known at import: shapes that are computed. */
export function reducedConstant(
  ctx: Lowering,
  tensor: OnnxTensor,
  combine: (x: number, y: number) => number,
  axes: readonly number[],
  keepdims: boolean,
): Value {
  const kept = [...tensor.dims.keys()].filter((axis) => !axes.includes(axis));
  const length = count(axes.map((axis) => tensor.dims[axis] as number));
  checkMade(ctx.builder.budget, tensor.dims);
  const all = numbers(movedConstant(tensor, [...kept, ...axes]));
  const results = Array.from({ length: all.length / length }, (_, row) =>
    all.slice(row * length, (row + 1) * length).reduce(combine),
  );
  if (results.some((v) => !Number.isSafeInteger(v)))
    refuse("it computes constants beyond 2^53", "Correct them.");
  const dims = keepdims
    ? tensor.dims.map((dim, axis) => (axes.includes(axis) ? 1 : dim))
    : kept.map((axis) => tensor.dims[axis] as number);
  return { kind: "constant", tensor: castConstant(makeTensor("int64", dims, results), tensor.type) };
}
