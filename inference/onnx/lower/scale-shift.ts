/** Gain and shift of normalized elements: inputs 1 and 2 of a node. */

import type { Operand } from "../../program/form.ts";
import { count, numbers, type OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { knownTensor } from "./fold.ts";
import type { Lowering } from "./lowering.ts";
import { typeOf } from "./values.ts";

/** Times input 1, plus input 2, where they are there.
 *  @param dims in which they broadcast
 *  @param unit of the elements, a power of two */
export function scaledAndShifted(
  ctx: Lowering,
  node: OnnxNode,
  rows: Operand,
  dims: readonly number[],
  unit = 1,
): Operand {
  const { builder } = ctx;
  const gain = along(ctx, node, 1, dims, unit) ?? (unit === 1 ? undefined : builder.f32(unit));
  const scaled = gain === undefined ? rows : builder.float("mul", "f32", rows, gain);
  const shift = along(ctx, node, 2, dims, 1);
  return shift === undefined ? scaled : builder.float("add", "f32", scaled, shift);
}

/** Gain or shift of each normalized element, times a power of two. */
function along(
  ctx: Lowering,
  node: OnnxNode,
  input: number,
  dims: readonly number[],
  unit: number,
): Operand | undefined {
  const values = alongRows(ctx, node, input, count(dims));
  if (values === undefined) return undefined;
  const data = Float32Array.from(values, (v) => v * unit);
  return ctx.tensor({ kind: "constant", tensor: { type: "float32", dims, data } }).operand;
}

/** Gain or shift of each of n normalized elements, as numbers; undefined where the node has none. */
export function alongRows(
  ctx: Lowering,
  node: OnnxNode,
  input: number,
  n: number,
): readonly number[] | undefined {
  const value = ctx.optional(node, input);
  if (value === undefined) return undefined;
  const tensor = knownTensor(value);
  if (tensor === undefined || typeOf(value) !== "float32" || tensor.data.length !== n) {
    return refuse(
      `its input ${input} is no float32 constant of ${n} elements`,
      "Make it an initializer, one number for each normalized element.",
    );
  }
  const values = numbers(tensor);
  const strange = values.find((v) => !Number.isFinite(v));
  if (strange !== undefined) refuse(`a constant holds ${strange}`, "Use finite constants.");
  return values;
}
