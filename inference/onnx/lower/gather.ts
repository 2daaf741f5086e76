/** Gather: rows of a constant table by computed ids, or constant positions of an activation. */

import { count, numbers, type OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { movedConstant } from "./constants.ts";
import { intAttribute, type Lowering, normalAxis } from "./lowering.ts";
import { gatherComputed, gathered } from "./picks.ts";
import { concatValues, moveValue, structural } from "./shape.ts";
import { dimsOf, type TensorValue, typeOf, type Value } from "./values.ts";

export function gather(ctx: Lowering, node: OnnxNode): Value {
  const [data, indices] = [ctx.input(node, 0), ctx.input(node, 1)];
  const axis = normalAxis(intAttribute(node, "axis", 0), dimsOf(data).length);
  if (indices.kind === "constant") return gatherConstant(ctx, data, indices, axis);
  if (data.kind === "dequantized" && data.source.kind === "constant" && data.scale.length === 1) {
    const source = ctx.tensor(picked(ctx, data.source, indices, axis));
    return { ...data, source };
  }
  if (data.kind !== "constant") return gatherComputed(ctx, data, indices, axis);
  return picked(ctx, data, indices, axis);
}

function picked(
  ctx: Lowering,
  data: Extract<Value, { kind: "constant" }>,
  indices: Value,
  axis: number,
): Value {
  const type = typeOf(indices);
  if (type !== "int32" && type !== "int64") refuse(`its ids are ${type}`, "Use int32 ids.");
  const { tensor } = data;
  if (tensor.type === "int64") refuse("its table is int64", "Use an int32 table.");
  const order = [axis, ...tensor.dims.map((_, i) => i).filter((i) => i !== axis)];
  const table = axis === 0 ? tensor : movedConstant(tensor, order);
  const [rows = 1, ...rest] = table.dims;
  const length = count(rest);
  const ids: TensorValue = ctx.tensor(indices);
  const { low, high } = ctx.rangeOf(ids);
  if (low < 0 || high >= rows) {
    ctx.notes.push(
      `${ctx.builder.node}: ids can be ${low} to ${high}, the table has rows 0 to ${rows - 1}; ids outside are clamped into them.`,
    );
  }
  const flat = { ...table, dims: [rows, length] };
  const dims = [...ids.dims, ...rest];
  const value: Value = { kind: "picked", ids, table: flat, dims, cast: false };
  if (axis === 0 && rest.length === 1 && ids.dims.length > 0) return value;
  return { ...ctx.tensor(value), ...gathered(tensor.dims, ids.dims, axis) };
}

function gatherConstant(
  ctx: Lowering,
  data: Value,
  { tensor }: Extract<Value, { kind: "constant" }>,
  axis: number,
): Value {
  const size = dimsOf(data)[axis] as number;
  const list = numbers(tensor).map((i) => (i < 0 ? i + size : i));
  return gatherPositions(ctx, data, list, tensor.dims, axis);
}

/** Constant positions of one axis.
 *  @param shape dims that take the axis' place, of as many positions */
export function gatherPositions(
  ctx: Lowering,
  data: Value,
  list: readonly number[],
  shape: readonly number[],
  axis: number,
): Value {
  const dims = dimsOf(data);
  const size = dims[axis] as number;
  if (list.some((i) => !Number.isInteger(i) || i < 0 || i >= size)) {
    refuse(`its indices leave 0 to ${size - 1}`, "Correct the indices.");
  }
  const out = [...dims.slice(0, axis), ...shape, ...dims.slice(axis + 1)];
  const merged = [...dims.slice(0, axis), list.length, ...dims.slice(axis + 1)];
  return structural(ctx, data, (inner) => {
    const parts = runsOf(list).map(({ start, step, length }) =>
      moveValue(
        ctx,
        inner,
        merged.map((d, a) => (a === axis ? length : d)),
        dims.map((dim, a) => ({
          dim,
          terms: [{ axis: a, factor: a === axis ? step : 1 }],
          offset: a === axis ? start : 0,
          checked: false,
        })),
      ),
    );
    const joined = concatValues(ctx, parts, axis);
    if (joined.kind === "constant") return { kind: "constant", tensor: { ...joined.tensor, dims: out } };
    return { ...ctx.plainTensor(joined), dims: out };
  });
}

interface Run {
  readonly start: number;
  readonly step: number;
  readonly length: number;
}

/** A list of indices as runs of equal steps, each as long as it can be. */
function runsOf(list: readonly number[]): Run[] {
  const runs: Run[] = [];
  for (let from = 0; from < list.length; ) {
    const start = list[from] as number;
    const step = from + 1 < list.length ? (list[from + 1] as number) - start : 0;
    let length = Math.min(2, list.length - from);
    while (from + length < list.length && list[from + length] === start + length * step) length++;
    runs.push({ start, step, length });
    from += length;
  }
  return runs;
}
