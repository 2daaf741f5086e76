/** ReduceSum, ReduceMax and ArgMax on integers. */

import { elementBytes, elementCount, lastDim, type Operand } from "../../program/form.ts";
import { coordinates } from "../axes.ts";
import type { ArithName, ReduceName } from "../builder.ts";
import type { OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { intAttribute, type Lowering, normalAxis } from "./lowering.ts";
import { axesOf, structural } from "./shape.ts";
import { dimsOf, type PickedValue, type TensorValue, typeOf, type Value } from "./values.ts";

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
  const onnx = name === "sum" ? "int32" : tensor.onnx;
  const reduced = reduceRows(ctx, name, rows, result);
  return { kind: "tensor", operand: reduced, type: ctx.builder.shape(reduced).type, onnx, dims: result };
}

function plainOf(tensor: TensorValue): TensorValue {
  const { layout: _, ...rest } = tensor;
  return rest;
}

export function reduce(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const dims = dimsOf(value);
  const given = axesOf(ctx, node, 1);
  if ((given === undefined || given.length === 0) && intAttribute(node, "noop_with_empty_axes", 0) !== 0) {
    return value;
  }
  const all = dims.map((_, axis) => axis);
  const axes =
    given === undefined || given.length === 0 ? all : given.map((axis) => normalAxis(axis, dims.length));
  const sorted = [...new Set(axes)].sort((a, b) => a - b);
  const keepdims = intAttribute(node, "keepdims", 1) !== 0;
  const sum = node.op === "ReduceSum";
  if (sum && value.kind === "picked" && value.cast && sorted.length === 1 && sorted[0] === dims.length - 2) {
    const looked = lookupSum(ctx, value, keepdims);
    if (looked !== undefined) return looked;
  }
  const type = typeOf(value);
  if (sum && type !== "int32") {
    refuse(
      `it sums ${type}`,
      type === "float32" ? "Sum integers: float sums depend on their order." : "Cast to int32 first.",
    );
  }
  if (!sum && type === "float32" && value.kind !== "dequantized" && value.kind !== "mapped") {
    refuse("it reduces float32", "Reduce integers, or a dequantized byte tensor.");
  }
  if (!sum && value.kind === "dequantized") {
    const reduced = structural(ctx, value, (inner) =>
      reduceAxes(ctx, "max", ctx.tensor(inner), sorted, keepdims),
    );
    return reduced;
  }
  if (type === "float32") refuse("it reduces a function of a byte", "Quantize it first.");
  return reduceAxes(ctx, sum ? "sum" : "max", ctx.tensor(value), sorted, keepdims);
}

const MAX_IDS = 16;

/** Sum of picked rows as LOOKUP, id 0 being a row of zeros; undefined where the table has no such row. */
function lookupSum(ctx: Lowering, value: PickedValue, keepdims: boolean): Value | undefined {
  const { table, ids, dims } = value;
  const [rows = 0, length = 0] = table.dims;
  const { data } = table;
  if (!(data instanceof Int8Array) || length > 1024 || data.subarray(0, length).some((v) => v !== 0))
    return undefined;
  const weights = ctx.builder.lookupTable(data, rows, length);
  const count = ids.dims.at(-1) as number;
  const operand = sumOfIds(ctx, ctx.withLast(ids, count), weights);
  const lead = dims.slice(0, -2);
  const result = keepdims ? [...lead, 1, length] : [...lead, length];
  return { kind: "tensor", operand, type: "s32", onnx: "int32", dims: result };
}

/** LOOKUP takes 16 ids a row; more are looked up in parts and added. */
function sumOfIds(ctx: Lowering, ids: Operand, weights: Operand): Operand {
  const { builder } = ctx;
  const { dims } = builder.shape(ids);
  const count = lastDim(dims);
  if (count <= MAX_IDS) return builder.lookup(0, ids, weights, dims.slice(0, -1));
  const rows = elementCount(dims) / count;
  let sum: Operand | undefined;
  for (let from = 0; from < count; from += MAX_IDS) {
    const part = Math.min(MAX_IDS, count - from);
    const axes = [
      { dim: rows, terms: [{ axis: 0, factor: 1 }], offset: 0, checked: false },
      { dim: count, terms: [{ axis: 1, factor: 1 }], offset: from, checked: false },
    ];
    const moved = builder.move(ids, [rows, part], coordinates(axes, [rows, part]));
    const looked = builder.lookup(0, moved, weights, [rows]);
    sum = sum === undefined ? looked : builder.arith("add", "s32", sum, looked);
  }
  return sum as Operand;
}

/** Maximum of each row, index where it is reached (else an index beyond all), least index. */
export function argMax(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const inner = value.kind === "dequantized" && value.scale.length === 1 ? value.source : value;
  const tensor = ctx.tensor(inner);
  if (tensor.type === "f32") refuse("it compares float32", "Compare integers, or a dequantized byte tensor.");
  const { builder } = ctx;
  const axis = normalAxis(intAttribute(node, "axis", 0), tensor.dims.length);
  const last = intAttribute(node, "select_last_index", 0) !== 0;
  const length = tensor.dims[axis] as number;
  const kept = tensor.dims.map((_, i) => i).filter((i) => i !== axis);
  const ordered = ctx.inLayout(tensor, [...kept, axis]);
  const rows = ctx.withLast(
    { ...plainOf(tensor), operand: ordered, dims: [elementCount(tensor.dims) / length, length] },
    length,
  );
  const top = reduceRows(ctx, "max", rows, [elementCount(tensor.dims) / length, 1]);
  const flat = ctx.plain({
    ...plainOf(tensor),
    operand: rows,
    dims: [elementCount(tensor.dims) / length, length],
  });
  const equal = builder.arith("eq", "bool", flat, top);
  const indices = builder.plain(
    "s32",
    [length],
    Int32Array.from({ length }, (_, i) => i),
  );
  const index = builder.select(equal, indices, builder.s32(last ? -1 : length));
  const keepdims = intAttribute(node, "keepdims", 1) !== 0;
  const dims = keepdims
    ? tensor.dims.map((d, i) => (i === axis ? 1 : d))
    : kept.map((i) => tensor.dims[i] as number);
  const operand = reduceRows(ctx, last ? "max" : "min", index, dims);
  return { kind: "tensor", operand, type: "s32", onnx: "int64", dims };
}
