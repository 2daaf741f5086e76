/** What the forms of Softmax of a quantized tensor share: rows, and how far each element is below the largest of its row. */

import type { Operand } from "../../program/form.ts";
import { count } from "../graph.ts";
import type { Lowering } from "./lowering.ts";
import { reduceRows } from "./rows.ts";
import type { TensorValue } from "./values.ts";

export interface SoftmaxRows {
  /** The entry of a vector for each `max − q`, [rows, n]. @param table of as many entries as differences have values, or
   *  with a last one that stands for all that are farther */
  picked(type: "s32" | "f32", table: Int32Array | Float32Array): Operand;
  /** Sum of each row of s32, [rows, 1]. */
  sum(operand: Operand): Operand;
  /** What an operand of dims [rows, n] is in the graph. */
  result(operand: Operand, type: "s32" | "f32"): TensorValue;
  /** The inverse. */
  of(tensor: TensorValue): Operand;
}

/** @param reduced axes that are one row */
export function softmaxRows(ctx: Lowering, source: TensorValue, reduced: readonly number[]): SoftmaxRows {
  const { builder } = ctx;
  const { dims } = source;
  const kept = dims.map((_, axis) => axis).filter((axis) => !reduced.includes(axis));
  const order = [...kept, ...reduced];
  const n = count(reduced.map((axis) => dims[axis] as number));
  const elements = count(dims);
  const [rows, column] = [
    [elements / n, n],
    [elements / n, 1],
  ];
  const stored = ctx.reshape(ctx.inLayout(source, order), rows);
  const top = reduceRows(ctx, "max", stored, column);
  const ids = ctx.reshape(builder.arith("sub", "s32", top, stored), [elements, 1]);
  const layout = order.every((axis, i) => axis === i) ? {} : { layout: order };
  return {
    picked(type, table) {
      const entries = builder.plain(type, [table.length, 1], table);
      return ctx.reshape(builder.lookup("pick", ids, entries, [elements]), rows);
    },
    sum: (operand) => reduceRows(ctx, "sum", operand, column),
    of: (tensor) => ctx.reshape(ctx.inLayout(tensor, order), rows),
    result: (operand, type) => ({
      ...{ kind: "tensor", operand, type, onnx: type === "f32" ? "float32" : "int32", dims, ...layout },
    }),
  };
}
