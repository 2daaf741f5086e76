import type { GraphBuilder, Value } from "./graph.ts";
import { numbers, type Place } from "./place.ts";

const long = (graph: GraphBuilder, value: number): Value =>
  graph.constant("int64", [], BigInt64Array.of(BigInt(value)));

/** REDUCE norm of sums below 2^62, which the profile proves: the root of the double is at most one off.
 *  @param rows how many there are, and the length of one. Source: docs/EXACT.md, section 3. */
export function norm(place: Place, rows: readonly number[]): Value {
  const { graph, step } = place;
  const wide = (value: Value): Value => graph.cast(value, "int64");
  const x = wide(graph.reshape(numbers(place, step.a), rows));
  const total = graph.node("Add", [rowSums(graph, graph.node("Mul", [x, x])), long(graph, step.k)]);
  const near = wide(graph.node("Sqrt", [graph.cast(total, "double")]));
  const isAbove = graph.node("Greater", [graph.node("Mul", [near, near]), total]);
  const root = graph.node("Sub", [near, wide(isAbove)]);
  const next = graph.node("Add", [root, long(graph, 1)]);
  const isBelow = graph.node("LessOrEqual", [graph.node("Mul", [next, next]), total]);
  const result = graph.cast(graph.node("Add", [root, wide(isBelow)]), "int32");
  return graph.reshape(result, step.dims);
}

/** Sums of rows of numbers from 0 on, in parts of 31 bits: onnxruntime's ReduceSum rounds sums of 2^53 and more to
 *  doubles, those of int64 too (1.30, x86-64). */
function rowSums(graph: GraphBuilder, numbers: Value): Value {
  const half = long(graph, 2 ** 31);
  const sum = (value: Value): Value => graph.node("ReduceSum", [value, graph.shape([1])], { keepdims: 0 });
  const high = graph.node("Div", [numbers, half]);
  const low = graph.node("Sub", [numbers, graph.node("Mul", [high, half])]);
  return graph.node("Add", [graph.node("Mul", [sum(high), half]), sum(low)]);
}
