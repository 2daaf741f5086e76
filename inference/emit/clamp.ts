import type { GraphBuilder, Value } from "./graph.ts";

/** 64-bit integers between two bounds. Not by onnxruntime's Max and Min, which take numbers of 2^31 to 2^32 − 1 for
 *  negative ones (1.30, x86-64). */
export function clamped64(graph: GraphBuilder, value: Value, low: Value, high: Value): Value {
  const raised = graph.node("Where", [graph.node("Less", [value, low]), low, value]);
  return graph.node("Where", [graph.node("Greater", [raised, high]), high, raised]);
}
