/** GatherElements, and Gather whose data are computed: each output compares the ids with all positions of the axis and
 *  keeps the one that is equal. */

import type { Operand } from "../../program/form.ts";
import { count, numbers, type OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { intAttribute, type Lowering, normalAxis } from "./lowering.ts";
import { reduceRows } from "./rows.ts";
import { structural } from "./shape.ts";
import { dimsOf, type TensorValue, typeOf, type Value } from "./values.ts";

/** A number of the value's type that no element of it is below. */
function least(ctx: Lowering, value: Value): Operand {
  const { builder } = ctx;
  const tensor = ctx.tensor(value);
  if (tensor.type === "s32") return builder.s32(-(2 ** 31));
  if (tensor.type !== "f32") return builder.plain(tensor.type, [1], Uint8Array.of(0));
  // Not the least number of the type, beside which nothing could be computed with the result.
  const all = value.kind === "constant" ? numbers(value.tensor) : [ctx.rangeOf(tensor).low];
  return builder.f32(all.reduce((low, v) => Math.min(low, v), 0));
}

/** `data[…, id, …]` by comparison. @param rows data with the picked axis last, dims that broadcast against `ids`
 *  @param ids s32 of dims that end in 1 @param size of the picked axis
 *  @param otherwise no number is below it */
function pickedRows(
  ctx: Lowering,
  rows: Operand,
  ids: Operand,
  size: number,
  dims: readonly number[],
  otherwise: Operand,
): Operand {
  const { builder } = ctx;
  const positions = Int32Array.from({ length: size }, (_, i) => i);
  const isPicked = builder.arith("eq", "bool", ids, builder.plain("s32", [size], positions));
  const kept = builder.select(isPicked, rows, otherwise);
  return reduceRows(ctx, "max", kept, dims);
}

/** ids below 0 count from the end. */
function positive(ctx: Lowering, ids: Operand, size: number, low: number): Operand {
  if (low >= 0) return ids;
  const { builder } = ctx;
  const isNegative = builder.arith("lt", "bool", ids, builder.s32(0));
  return builder.arith("add", "s32", ids, builder.select(isNegative, builder.s32(size), builder.s32(0)));
}

function idsOf(ctx: Lowering, value: Value, size: number): Operand {
  const type = typeOf(value);
  if (type !== "int32" && type !== "int64") refuse(`its ids are ${type}`, "Use int32 ids.");
  const tensor = ctx.plainTensor(value);
  const { low, high } = value.kind === "constant" ? { low: -size, high: size - 1 } : ctx.rangeOf(tensor);
  if (low < -size || high >= size) {
    ctx.notes.push(
      `${ctx.builder.node}: ids can be ${low} to ${high}, the axis has ${size} positions; ids outside of it pick the least number.`,
    );
  }
  return positive(ctx, tensor.operand, size, low);
}

const last = (rank: number, axis: number): number[] => [
  ...Array.from({ length: rank }, (_, i) => i).filter((i) => i !== axis),
  axis,
];

/** Storage order of a tensor, where it is not ONNX order. */
const storedOrder = (order: readonly number[]): { layout?: readonly number[] } =>
  order.every((axis, i) => axis === i) ? {} : { layout: order };

/** Dims and storage order of a Gather whose ids' axes are stored first: ONNX puts them where the picked one was. */
export function gathered(
  data: readonly number[],
  ids: readonly number[],
  axis: number,
): { dims: readonly number[]; layout?: readonly number[] } {
  const rest = data.map((_, a) => a).filter((a) => a !== axis);
  const order = [...ids.map((_, i) => axis + i), ...rest.map((a) => (a < axis ? a : a + ids.length - 1))];
  const dims = [...data.slice(0, axis), ...ids, ...data.slice(axis + 1)];
  return { dims, ...storedOrder(order) };
}

/** Gather of computed data by computed ids. */
export function gatherComputed(ctx: Lowering, data: Value, indices: Value, axis: number): Value {
  return structural(ctx, data, (inner) => {
    const tensor = ctx.tensor(inner);
    const size = tensor.dims[axis] as number;
    const order = last(tensor.dims.length, axis);
    const rest = order.slice(0, -1).map((a) => tensor.dims[a] as number);
    const idDims = dimsOf(indices);
    const rows = ctx.reshape(ctx.inLayout(tensor, order), [count(rest), size]);
    const ids = ctx.reshape(idsOf(ctx, indices, size), [count(idDims), 1, 1]);
    const operand = pickedRows(ctx, rows, ids, size, [count(idDims), count(rest)], least(ctx, inner));
    return {
      kind: "tensor",
      operand,
      type: tensor.type,
      onnx: tensor.onnx,
      ...gathered(tensor.dims, idDims, axis),
    };
  });
}

export function gatherElements(ctx: Lowering, node: OnnxNode): Value {
  const [data, indices] = [ctx.input(node, 0), ctx.input(node, 1)];
  const dims = dimsOf(data);
  const axis = normalAxis(intAttribute(node, "axis", 0), dims.length);
  const idDims = dimsOf(indices);
  const fits = idDims.length === dims.length && idDims.every((d, i) => i === axis || d === dims[i]);
  if (!fits) {
    refuse(`its ids are [${idDims}] for data [${dims}]`, "Use ids as long as the data along the other axes.");
  }
  return structural(ctx, data, (inner) => {
    const tensor = ctx.tensor(inner);
    const size = dims[axis] as number;
    const order = last(dims.length, axis);
    const lead = order.slice(0, -1).map((a) => dims[a] as number);
    const picks = idDims[axis] as number;
    const rows = ctx.reshape(ctx.inLayout(tensor, order), [count(lead), 1, size]);
    const plainIds: TensorValue = { ...ctx.plainTensor(indices), operand: idsOf(ctx, indices, size) };
    const ids = ctx.reshape(ctx.inLayout(plainIds, order), [count(lead), picks, 1]);
    const operand = pickedRows(ctx, rows, ids, size, [count(lead), picks], least(ctx, inner));
    return {
      kind: "tensor",
      operand,
      type: tensor.type,
      onnx: tensor.onnx,
      dims: idDims,
      ...storedOrder(order),
    };
  });
}
