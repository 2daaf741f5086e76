/** LOOKUP below as ONNX nodes. Source: docs/EXACT.md, section 3. */
import { lastDim, NONE, rowCount, type Step } from "../program/form.ts";
import { clamped64 } from "./clamp.ts";
import type { GraphBuilder, Value } from "./graph.ts";
import { type Place, selected } from "./place.ts";

/** Distances have 33 bits. */
export function below(place: Place): Value {
  const { graph, step, value, shape } = place;
  const counts = step.c === NONE ? undefined : graph.cast(value(step.c), "bool");
  const least = graph.int32(-(2 ** 31));
  const numbers = value(step.a);
  const counted = counts === undefined ? numbers : graph.node("Where", [counts, numbers, least]);
  const rows = graph.reshape(counted, [rowCount(step.dims), lastDim(step.dims)]);
  const most = graph.node("ReduceMax", [rows], { axes: [1], keepdims: 1 });
  const wide = graph.cast(graph.reshape(most, [...step.dims.slice(0, -1), 1]), "int64");
  const distances = graph.node("Sub", [wide, graph.cast(numbers, "int64")]);
  const [v] = shape(step.b).dims as [number];
  const [first, last] = [0, v - 1].map((id) => graph.constant("int64", [], BigInt64Array.of(BigInt(id))));
  const ids = clamped64(graph, distances, first as Value, last as Value);
  const flat = graph.reshape(ids, [rowCount(step.dims) * lastDim(step.dims)]);
  const picked = graph.reshape(graph.node("Gather", [value(step.b), flat]), step.dims);
  return counts === undefined ? picked : selected(place, counts, picked, nothing(graph, step));
}

/** The number 0 in stored form. */
function nothing(graph: GraphBuilder, { type }: Step): Value {
  if (type === "s32") return graph.int32(0);
  if (type === "f32") return graph.float(0);
  return graph.constant("uint8", [], Uint8Array.of(type === "s8" ? 128 : 0));
}
