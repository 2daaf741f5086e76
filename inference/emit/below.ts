/** LOOKUP below as ONNX nodes. Source: docs/EXACT.md, section 3. */
import { lastDim, NONE, rowCount, type Step } from "../program/form.ts";
import type { GraphBuilder, Value } from "./graph.ts";
import { elements, type Place, reshaped, selected } from "./place.ts";

/** Distances have 33 bits: what is further below the largest than the table reaches is taken for as far. */
export function below(place: Place): Value {
  const { graph, step, value, shape } = place;
  const counts = step.c === NONE ? undefined : graph.cast(value(step.c), "bool");
  const least = -(2 ** 31);
  const numbers = value(step.a);
  const counted = counts === undefined ? numbers : graph.node("Where", [counts, numbers, graph.int32(least)]);
  const [rows, length] = [rowCount(step.dims), lastDim(step.dims)];
  const most = graph.node("ReduceMax", [reshaped(graph, counted, step.dims, [rows, length])], {
    axes: [1],
    keepdims: 1,
  });
  const last = (shape(step.b).dims[0] as number) - 1;
  const end = graph.int32(last);
  const floor = graph.node("Sub", [graph.node("Max", [most, graph.int32(least + last)]), end]);
  const raised = graph.node("Max", [reshaped(graph, numbers, step.dims, [rows, length]), floor]);
  // What does not count may be above the largest: whatever it finds is not taken.
  const ids = graph.node("Clip", [graph.node("Sub", [most, raised]), graph.int32(0), end]);
  const flat = graph.reshape(ids, [rows * length]);
  const picked = graph.reshape(elements(place, step.b, flat), step.dims);
  return counts === undefined ? picked : selected(place, counts, picked, nothing(graph, step));
}

/** The number 0 in stored form. */
function nothing(graph: GraphBuilder, { type }: Step): Value {
  if (type === "s32") return graph.int32(0);
  if (type === "f32") return graph.float(0);
  return graph.constant("uint8", [], Uint8Array.of(type === "s8" ? 128 : 0));
}
