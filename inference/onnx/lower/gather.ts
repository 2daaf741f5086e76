/** Gather: rows of a constant table by computed ids, or constant positions of an activation. */

import type { SourceAxis } from "../axes.ts";
import { count, numbers, type OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { movedConstant } from "./constants.ts";
import { intAttribute, type Lowering, normalAxis } from "./lowering.ts";
import { gatherComputed, gathered } from "./picks.ts";
import { concatValues, moveValue, reshapeValue, structural } from "./shape.ts";
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

/** Slices of the leading axes at constant indices. */
export function gatherND(ctx: Lowering, node: OnnxNode): Value {
  const data = ctx.input(node, 0);
  const dims = dimsOf(data);
  const { dims: idDims, ...ids } = ctx.constant(node, 1, "indices");
  const batch = intAttribute(node, "batch_dims", 0);
  const depth = idDims.at(-1) ?? 0;
  if (batch !== 0) refuse(`its batch_dims is ${batch}`, "Use batch_dims 0.");
  if (depth < 1 || depth > dims.length)
    refuse(`its indices are [${idDims}] for data [${dims}]`, "Correct the shapes.");
  const all = numbers({ dims: idDims, ...ids });
  const list = Array.from({ length: all.length / depth }, (_, i) =>
    dims.slice(0, depth).reduce((position, dim, axis) => {
      const id = all[i * depth + axis] as number;
      if (id < -dim || id >= dim) refuse(`its indices leave ${-dim} to ${dim - 1}`, "Correct the indices.");
      return position * dim + (id < 0 ? id + dim : id);
    }, 0),
  );
  const rest = dims.slice(depth);
  const flat = reshapeValue(ctx, data, [count(dims.slice(0, depth)), ...rest]);
  return gatherPositions(ctx, flat, list, idDims.slice(0, -1), 0);
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
  const group = grouped(list);
  const [lead, tail] = [count(dims.slice(0, axis)), count(dims.slice(axis + 1))];
  const isPlain = group.times === 1;
  // One axis more, which counts the repetitions.
  const source = isPlain ? data : reshapeValue(ctx, data, [lead, size, tail]);
  const [before, behind] = isPlain
    ? [dims.slice(0, axis), dims.slice(axis + 1)]
    : [[lead, group.times], [tail]];
  const at = before.length;
  return structural(ctx, source, (inner) => {
    const parts = group.runs.map(({ start, step, length }) =>
      moveValue(
        ctx,
        inner,
        [...before, length, ...behind],
        sourceAxes(dimsOf(inner), at, { start, step }, isPlain ? undefined : group.stride),
      ),
    );
    const joined = concatValues(ctx, parts, at);
    if (joined.kind === "constant") return { kind: "constant", tensor: { ...joined.tensor, dims: out } };
    return { ...ctx.plainTensor(joined), dims: out };
  });
}

/** The source's axes of a move that reads one of them by steps. @param at the result's axis of a run
 *  @param stride of the axis before it, where there is one more than the source has */
function sourceAxes(
  dims: readonly number[],
  at: number,
  { start, step }: { readonly start: number; readonly step: number },
  stride: number | undefined,
): SourceAxis[] {
  const picked = stride === undefined ? at : at - 1;
  return dims.map((dim, a) => {
    const own = { axis: a < picked || stride === undefined ? a : a + 1, factor: a === picked ? step : 1 };
    const terms = a === picked && stride !== undefined ? [{ axis: a, factor: stride }, own] : [own];
    return { dim, terms, offset: a === picked ? start : 0, checked: false };
  });
}

/** A list of positions as repetitions of its first part, each `stride` further. */
interface Group {
  readonly times: number;
  readonly stride: number;
  readonly runs: readonly Run[];
}

/** The grouping with the fewest runs; without repetitions where that is one of them. */
function grouped(list: readonly number[]): Group {
  let best: Group = { times: 1, stride: 0, runs: runsOf(list) };
  for (let period = Math.floor(list.length / 2); period >= 1 && best.runs.length > 1; period--) {
    if (list.length % period !== 0) continue;
    const stride = (list[period] as number) - (list[0] as number);
    if (list.some((p, i) => i >= period && p - (list[i - period] as number) !== stride)) continue;
    const runs = runsOf(list.slice(0, period));
    if (runs.length < best.runs.length) best = { times: list.length / period, stride, runs };
  }
  return best;
}

/** Moves that `gatherPositions` takes for a list. */
export function movesOf(list: readonly number[]): number {
  const { length } = grouped(list).runs;
  return length === 1 ? 1 : 2 * length;
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
