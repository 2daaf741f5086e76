import type { GraphBuilder, Value } from "./graph.ts";
import { numbers, type Place, reshaped } from "./place.ts";
import { wide } from "./wide.ts";

/** REDUCE norm of sums below 2^62, which the profile proves: the root of the double is never too small, and at most one too
 *  large. For n² ≤ sum, n below 2^31, the nearest double of the sum is at least n²·(1 − 2^-53), so that its root is nearer to n
 *  than to the double below n.
 *  @param rows how many there are, and the length of one. Source: docs/EXACT.md, section 3. */
export function norm(place: Place, rows: readonly number[]): Value {
  const { graph, step } = place;
  const x = graph.cast(reshaped(graph, numbers(place, step.a), place.shape(step.a).dims, rows), "uint64");
  const squares = graph.node("Mul", [x, x]);
  const total = graph.node("Add", [rowSums(graph, squares), wide(graph, BigInt(step.k))]);
  const near = graph.cast(graph.node("Sqrt", [graph.cast(total, "double")]), "uint64");
  const isAbove = graph.node("Greater", [graph.node("Mul", [near, near]), total]);
  const result = graph.cast(graph.node("Sub", [near, graph.cast(isAbove, "uint64")]), "int32");
  return reshaped(graph, result, [rows[0] as number, 1], step.dims);
}

/** Sums of rows of uint64, in parts of 32 bits, whose sums are exact in doubles: a row has at most 8,192 numbers. ReduceSum of 64-bit integers rounds to doubles, too, and takes several times as long (onnxruntime 1.30,
 *  x86-64). */
function rowSums(graph: GraphBuilder, squares: Value): Value {
  const sum = (part: Value): Value => {
    const sums = graph.node("ReduceSum", [graph.cast(part, "double"), graph.shape([1])], { keepdims: 1 });
    return graph.cast(sums, "uint64");
  };
  const high = graph.node("BitShift", [squares, wide(graph, 32n)], { direction: "RIGHT" });
  const low = graph.cast(squares, "uint32");
  return graph.node("Add", [graph.node("Mul", [sum(high), wide(graph, 2n ** 32n)]), sum(low)]);
}
