/** ReduceSum, ReduceMean, ReduceMax, ReduceMin, ArgMax and ArgMin on integers. */

import { elementCount, lastDim, type Operand } from "../../program/form.ts";
import { coordinates } from "../axes.ts";
import { count, type OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { divided, realSum } from "./average.ts";
import { chain } from "./elementwise.ts";
import { intAttribute, type Lowering, normalAxis } from "./lowering.ts";
import { COMBINED, reducedAxes, reducedConstant } from "./reduced.ts";
import { plainOf, reduceAxes, reduceRows } from "./rows.ts";
import { dimsOf, isDequantized, type PickedValue, typeOf, type Value } from "./values.ts";

export function reduce(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const { axes: sorted, keepdims } = reducedAxes(ctx, node, dimsOf(value));
  if (sorted === undefined) return value;
  const known = COMBINED[node.op];
  if (known !== undefined && value.kind === "constant" && value.tensor.type !== "float32") {
    return reducedConstant(ctx, value.tensor, known, sorted, keepdims);
  }
  if (node.op === "ReduceSumSquare") {
    return sumOf(ctx, node, chain(ctx, [value, value], "mul"), sorted, keepdims);
  }
  if (node.op === "ReduceSum" || node.op === "ReduceMean") return sumOf(ctx, node, value, sorted, keepdims);
  const name = node.op === "ReduceMin" ? "min" : "max";
  if (value.kind === "dequantized" && value.source.kind === "tensor" && value.scale.length === 1) {
    return { ...value, source: reduceAxes(ctx, name, value.source, sorted, keepdims) };
  }
  return reduceAxes(ctx, name, ctx.tensor(value), sorted, keepdims);
}

function sumOf(
  ctx: Lowering,
  node: OnnxNode,
  value: Value,
  axes: readonly number[],
  keepdims: boolean,
): Value {
  const mean = node.op === "ReduceMean";
  const type = typeOf(value);
  if (isDequantized(value)) return realSum(ctx, value, axes, keepdims, mean);
  if (type === "float32") {
    const sum = reduceAxes(ctx, "sum", ctx.tensor(value), axes, keepdims);
    return mean ? divided(ctx, sum, count(axes.map((axis) => dimsOf(value)[axis] as number))) : sum;
  }
  if (mean) refuse(`it averages ${type}`, "Use ReduceSum and divide, or average a dequantized byte tensor.");
  if (value.kind === "picked" && value.cast && axes.length === 1 && axes[0] === dimsOf(value).length - 2) {
    const summed = lookupSum(ctx, value, keepdims);
    if (summed !== undefined) return summed;
  }
  if (type !== "int32" && type !== "int64") refuse(`it sums ${type}`, "Cast to int32 first.");
  return reduceAxes(ctx, "sum", ctx.tensor(value), axes, keepdims);
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

/** LOOKUP takes 16 ids a row; more are summed up in parts and added. */
function sumOfIds(ctx: Lowering, ids: Operand, weights: Operand): Operand {
  const { builder } = ctx;
  const { dims } = builder.shape(ids);
  const count = lastDim(dims);
  if (count <= MAX_IDS) return builder.lookup("sum", ids, weights, dims.slice(0, -1));
  const rows = elementCount(dims) / count;
  let sum: Operand | undefined;
  for (let from = 0; from < count; from += MAX_IDS) {
    const part = Math.min(MAX_IDS, count - from);
    const axes = [
      { dim: rows, terms: [{ axis: 0, factor: 1 }], offset: 0, checked: false },
      { dim: count, terms: [{ axis: 1, factor: 1 }], offset: from, checked: false },
    ];
    const moved = builder.move(ids, [rows, part], coordinates(axes, [rows, part]));
    const summed = builder.lookup("sum", moved, weights, [rows]);
    sum = sum === undefined ? summed : builder.arith("add", "s32", sum, summed);
  }
  return sum as Operand;
}

/** Maximum (minimum) of each row, index where it is reached (else an index beyond all), least index. */
export function argExtreme(ctx: Lowering, node: OnnxNode, value = ctx.input(node, 0)): Value {
  const inner = value.kind === "dequantized" && value.scale.length === 1 ? value.source : value;
  const tensor = ctx.tensor(inner);
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
  const top = reduceRows(ctx, node.op === "ArgMin" ? "min" : "max", rows, [
    elementCount(tensor.dims) / length,
    1,
  ]);
  const flat = ctx.plain({
    ...plainOf(tensor),
    operand: rows,
    dims: [elementCount(tensor.dims) / length, length],
  });
  const equal =
    tensor.type === "f32" ? builder.float("eq", "bool", flat, top) : builder.arith("eq", "bool", flat, top);
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
