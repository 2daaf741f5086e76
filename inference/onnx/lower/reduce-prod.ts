/** ReduceProd of integers. */

import { elementCount, type Operand } from "../../program/form.ts";
import { coordinates } from "../axes.ts";
import type { OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import type { Lowering } from "./lowering.ts";
import { reducedAxes, reducedConstant } from "./reduced.ts";
import { dimsOf, typeOf, type Value } from "./values.ts";

/** Products of halves of each row, until one number is left. */
export function reduceProd(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const type = typeOf(value);
  const dims = dimsOf(value);
  const { axes, keepdims } = reducedAxes(ctx, node, dims);
  if (axes === undefined) return value;
  if (type !== "int32" && type !== "int64") {
    return refuse(
      `it multiplies ${type}`,
      "Multiply int32 or int64: float32 products depend on their order.",
    );
  }
  if (value.kind === "constant") {
    return reducedConstant(ctx, value.tensor, (x, y) => x * y, axes, keepdims);
  }
  const kept = [...dims.keys()].filter((axis) => !axes.includes(axis));
  const result = keepdims
    ? dims.map((dim, axis) => (axes.includes(axis) ? 1 : dim))
    : kept.map((axis) => dims[axis] as number);
  const tensor = ctx.tensor(value);
  const rows = elementCount(result);
  let length = elementCount(dims) / rows;
  let all = ctx.reshape(ctx.inLayout(tensor, [...kept, ...axes]), [rows, length]);
  const part = (from: number, size: number): Operand =>
    ctx.builder.move(
      all,
      [rows, size],
      coordinates(
        [
          { dim: rows, terms: [{ axis: 0, factor: 1 }], offset: 0, checked: false },
          { dim: length, terms: [{ axis: 1, factor: 1 }], offset: from, checked: false },
        ],
        [rows, size],
      ),
    );
  const times = (a: Operand, b: Operand): Operand => ctx.builder.arith("mul", "s32", a, b);
  let over: Operand | undefined;
  while (length > 1) {
    const half = length >> 1;
    if (length % 2 === 1) {
      const last = part(length - 1, 1);
      over = over === undefined ? last : times(over, last);
    }
    all = times(part(0, half), part(half, half));
    length = half;
  }
  if (over !== undefined) all = times(all, over);
  return { kind: "tensor", operand: ctx.reshape(all, result), type: "s32", onnx: type, dims: result };
}
