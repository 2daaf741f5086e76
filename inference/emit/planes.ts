/** Numbers of 16 bits as planes of bytes: RESCALE planes and DOT planes as ONNX nodes. Source: docs/EXACT.md, section 3. */
import { MOST_NUMBER } from "../opcodes/rounding.ts";
import { elementCount, lastDim, rowCount } from "../program/form.ts";
import type { ChannelParameters } from "../program/weights.ts";
import type { Value } from "./graph.ts";
import { type Place, reshaped } from "./place.ts";
import { quotients } from "./ratio.ts";
import { withBiases } from "./requantize.ts";

/** What numbers are multiplied by, or divided by in parts of their rows. @param numbers s32 of these dims */
export function changed(
  { graph, step, value, shape }: Place,
  numbers: Value,
  dims: readonly number[],
): Value {
  const by = value(step.c);
  if (step.k === 0) return graph.node("Mul", [numbers, reshaped(graph, by, shape(step.c).dims, dims)]);
  const count = elementCount(shape(step.c).dims);
  const rows = [count, elementCount(dims) / count];
  const parts = reshaped(graph, numbers, dims, rows);
  const divisors = reshaped(graph, by, shape(step.c).dims, [count, 1]);
  return reshaped(graph, quotients(graph, { k: step.k, type: "s32" }, parts, divisors), rows, dims);
}

/** @param rescaled s32 [rows, numbers of a row] */
export function planes({ graph, step }: Place, rescaled: Value): Value {
  const number = graph.node("Clip", [rescaled, graph.int32(0), graph.int32(MOST_NUMBER)]);
  const high = graph.node("Div", [number, graph.int32(256)]);
  // Cast keeps the lowest byte.
  const joined = graph.node("Concat", [graph.cast(high, "uint8"), graph.cast(number, "uint8")], { axis: 1 });
  return reshaped(graph, joined, [rowCount(step.dims), lastDim(step.dims)], step.dims);
}

/** `256·high + low` of the products of each plane, plus bias, modulo 2^32.
 *  @param product of [G, rows, K] with the weights: [G, rows, N / G], without the first axis where G is 1 */
export function planesDot(
  { graph, step, value, shape }: Place,
  channels: readonly ChannelParameters[],
  product: (rows: Value) => Value,
): Value {
  const [groups, m, n] = [step.k, rowCount(step.dims), lastDim(step.dims)];
  const { dims } = shape(step.a);
  const k = lastDim(dims) / 2;
  const batch = groups === 1 ? [] : [groups];
  const order = { perm: [1, 0, 2] };
  const source =
    groups === 1
      ? value(step.a)
      : graph.node("Transpose", [graph.reshape(value(step.a), [m, groups, 2 * k])], order);
  const products = product(graph.reshape(source, [...batch, 2 * m, k]));
  const apart = graph.reshape(products, [...batch, m, 2, n / groups]);
  const plane = (index: bigint): Value =>
    graph.node("Gather", [apart, graph.constant("int64", [], BigInt64Array.of(index))], {
      axis: batch.length + 1,
    });
  const sums = graph.node("Add", [graph.node("Mul", [plane(0n), graph.int32(256)]), plane(1n)]);
  const byRow = groups === 1 ? sums : graph.reshape(graph.node("Transpose", [sums], order), [m, n]);
  return reshaped(graph, withBiases(graph, byRow, channels), [m, n], step.dims);
}
