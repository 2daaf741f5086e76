/** TopK of a small k, and CumSum of integers. */

import type { Operand } from "../../program/form.ts";
import { coordinates } from "../axes.ts";
import { count, type OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { intAttribute, type Lowering, normalAxis, scalar } from "./lowering.ts";
import { reduceRows } from "./rows.ts";
import { concatValues, structural } from "./shape.ts";
import { dimsOf, type TensorValue, typeOf, type Value } from "./values.ts";

const MOST_PICKED = 16;

/** The k largest (smallest) elements along an axis, the lower index first among equals: each is found, and counts as the
 *  least (greatest) number from then on. */
export function topK(ctx: Lowering, node: OnnxNode): readonly Value[] {
  const value = ctx.input(node, 0);
  const k = scalar(ctx.constant(node, 1, "k"), "k");
  const axis = normalAxis(intAttribute(node, "axis", -1), dimsOf(value).length);
  const length = dimsOf(value)[axis] as number;
  if (!(k >= 1 && k <= Math.min(length, MOST_PICKED)))
    refuse(`its k is ${k} of ${length} elements`, `Use a k of 1 to ${MOST_PICKED}.`);
  const isLargest = intAttribute(node, "largest", 1) !== 0;
  let indices: Value | undefined;
  const values = structural(ctx, value, (inner) => {
    const picks = picked(ctx, ctx.tensor(inner), axis, k, isLargest);
    indices = concatValues(
      ctx,
      picks.map((pick) => pick.index),
      axis,
    );
    return concatValues(
      ctx,
      picks.map((pick) => pick.value),
      axis,
    );
  });
  return [values, indices as Value];
}

interface Pick {
  readonly value: TensorValue;
  readonly index: TensorValue;
}

function picked(ctx: Lowering, tensor: TensorValue, axis: number, k: number, isLargest: boolean): Pick[] {
  const { builder } = ctx;
  const rank = tensor.dims.length;
  const length = tensor.dims[axis] as number;
  const order = [...Array.from({ length: rank }, (_, i) => i).filter((i) => i !== axis), axis];
  const rows = count(tensor.dims) / length;
  const layout = order.every((a, i) => a === i) ? {} : { layout: order };
  const dims = tensor.dims.map((d, i) => (i === axis ? 1 : d));
  const positions = builder.plain(
    "s32",
    [length],
    Int32Array.from({ length }, (_, i) => i),
  );
  const equal = (a: Operand, b: Operand): Operand =>
    builder.shape(a).type === "f32" ? builder.float("eq", "bool", a, b) : builder.arith("eq", "bool", a, b);
  const name = isLargest ? "max" : "min";
  const spent = extreme(ctx, tensor, isLargest);
  const lead = order.slice(0, -1).map((a) => tensor.dims[a] as number);
  const shaped = (operand: Operand): Operand => ctx.reshape(operand, [...lead, 1]);
  // Positions that are taken have their own mark: their number may occur elsewhere.
  let free = ctx.reshape(ctx.inLayout(tensor, order), [rows, length]);
  let open: Operand | undefined;
  return Array.from({ length: k }, () => {
    const top = reduceRows(ctx, name, free, [rows, 1]);
    const isTop = equal(free, top);
    const candidates =
      open === undefined ? isTop : builder.select(open, isTop, builder.plain("bool", [1], Uint8Array.of(0)));
    const ids = builder.select(candidates, positions, builder.s32(length));
    const index = reduceRows(ctx, "min", ids, [rows, 1]);
    const isOther = builder.arith(
      "eq",
      "bool",
      builder.arith("eq", "bool", positions, index),
      builder.plain("bool", [1], Uint8Array.of(0)),
    );
    open =
      open === undefined
        ? isOther
        : builder.select(open, isOther, builder.plain("bool", [1], Uint8Array.of(0)));
    free = builder.select(isOther, free, spent);
    const base = { kind: "tensor", dims, ...layout } as const;
    return {
      value: { ...base, operand: shaped(top), type: tensor.type, onnx: tensor.onnx },
      index: { ...base, operand: shaped(index), type: "s32", onnx: "int64" },
    };
  });
}

/** The number that a taken position has. */
function extreme(ctx: Lowering, { type }: TensorValue, isLeast: boolean): Operand {
  const { builder } = ctx;
  if (type === "s32") return builder.s32(isLeast ? -(2 ** 31) : 2 ** 31 - 1);
  if (type === "f32") return builder.f32(isLeast ? -3.4028234663852886e38 : 3.4028234663852886e38);
  return builder.plain(type, [1], Uint8Array.of(isLeast ? 0 : type === "bool" ? 1 : 255));
}

/** Sums of all elements up to each one: what is 1, 2, 4, … positions before is added in turn. */
export function cumSum(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const type = typeOf(value);
  if (type !== "int32" && type !== "int64")
    refuse(`it sums ${type}`, "Sum int32: float sums depend on their order.");
  const axis = normalAxis(scalar(ctx.constant(node, 1, "axis"), "axis"), dimsOf(value).length);
  const direction = intAttribute(node, "reverse", 0) !== 0 ? -1 : 1;
  const length = dimsOf(value)[axis] as number;
  let sum: Value = ctx.plainTensor(value);
  if (intAttribute(node, "exclusive", 0) !== 0) sum = shifted(ctx, sum, axis, direction);
  for (let distance = 1; distance < length; distance *= 2) {
    const [a, b] = [ctx.plainTensor(sum), ctx.plainTensor(shifted(ctx, sum, axis, direction * distance))];
    sum = { ...a, operand: ctx.builder.arith("add", "s32", a.operand, b.operand) };
  }
  return sum;
}

/** What lies `distance` positions before, 0 outside. */
function shifted(ctx: Lowering, value: Value, axis: number, distance: number): Value {
  const dims = dimsOf(value);
  const lead = count(dims.slice(0, axis));
  const size = dims[axis] as number;
  const tail = count(dims.slice(axis + 1));
  const tensor = ctx.plainTensor(value);
  const flat = [lead, size, tail];
  const axes = flat.map((dim, i) => ({
    dim,
    terms: [{ axis: i, factor: 1 }],
    offset: i === 1 ? -distance : 0,
    checked: i === 1,
  }));
  const operand = ctx.builder.move(tensor.operand, flat, coordinates(axes, flat));
  return { ...tensor, operand: ctx.reshape(operand, dims) };
}
