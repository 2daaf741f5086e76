/** Gather: rows of a constant table by computed ids, or constant positions of an activation. */

import { count, numbers, type OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { movedConstant } from "./constants.ts";
import { intAttribute, type Lowering, normalAxis } from "./lowering.ts";
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
  if (data.kind !== "constant") {
    refuse("both its table and its ids are computed", "Make the table an initializer, or the ids constant.");
  }
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
  if (axis !== 0 && (rest.length !== 1 || ids.dims.length !== 0)) {
    refuse(`it picks along axis ${axis} of a table`, "Transpose the table so that ids pick along axis 0.");
  }
  const { low, high } = ctx.rangeOf(ids);
  if (low < 0 || high >= rows) {
    ctx.notes.push(
      `${ctx.builder.node}: ids can be ${low} to ${high}, the table has rows 0 to ${rows - 1}; ids outside are clamped into them.`,
    );
  }
  const flat = { ...table, dims: [rows, length] };
  const dims = [...ids.dims, ...rest];
  const value: Value = { kind: "picked", ids, table: flat, dims, cast: false };
  return rest.length === 1 && ids.dims.length > 0 ? value : ctx.tensor(value);
}

function gatherConstant(
  ctx: Lowering,
  data: Value,
  indices: Extract<Value, { kind: "constant" }>,
  axis: number,
): Value {
  const dims = dimsOf(data);
  const size = dims[axis] as number;
  const list = numbers(indices.tensor).map((i) => (i < 0 ? i + size : i));
  if (list.some((i) => !Number.isInteger(i) || i < 0 || i >= size)) {
    refuse(`its indices leave 0 to ${size - 1}`, "Correct the indices.");
  }
  const out = [...dims.slice(0, axis), ...indices.tensor.dims, ...dims.slice(axis + 1)];
  const merged = [...dims.slice(0, axis), list.length, ...dims.slice(axis + 1)];
  const [first = 0] = list;
  const step = list.length > 1 ? (list[1] as number) - first : 0;
  const regular = list.every((v, i) => v === first + i * step);
  return structural(ctx, data, (inner) => {
    const read = (start: number, factor: number, length: number): Value =>
      moveValue(
        ctx,
        inner,
        merged.map((d, a) => (a === axis ? length : d)),
        dims.map((dim, a) => ({
          dim,
          terms: [{ axis: a, factor: a === axis ? factor : 1 }],
          offset: a === axis ? start : 0,
          checked: false,
        })),
      );
    const gathered = regular
      ? read(first, step, list.length)
      : concatValues(
          ctx,
          list.map((i) => read(i, 1, 1)),
          axis,
        );
    if (gathered.kind === "constant") return { kind: "constant", tensor: { ...gathered.tensor, dims: out } };
    return { ...ctx.plainTensor(gathered), dims: out };
  });
}
