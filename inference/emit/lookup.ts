/** LOOKUP and TABLE as ONNX nodes. Source: docs/EXACT.md, section 3. */
import { elementCount, isBelow, LOOKUP_VARIANTS, lastDim, rowCount, weightIndex } from "../program/form.ts";
import { unpackLookup } from "../program/weights.ts";
import { below } from "./below.ts";
import type { GraphBuilder, Value } from "./graph.ts";
import { elements, type Place, reshaped } from "./place.ts";

export function lookup(place: Place): Value {
  if (isBelow(place.step)) return below(place);
  return LOOKUP_VARIANTS[place.step.variant] === "sum" ? sum(place) : pick(place);
}

const clampIds = (graph: GraphBuilder, ids: Value, rows: number): Value =>
  graph.node("Clip", [ids, graph.int32(0), graph.int32(rows - 1)]);

function sum({ graph, model, step, value, shape }: Place): Value {
  const { dims } = shape(step.b);
  const [v, d] = dims as [number, number];
  const values = unpackLookup(model.weights[weightIndex(step.b)] as Uint8Array, v, d);
  // Row 0 is skipped by definition, whatever it holds.
  values.fill(0, 0, d);
  const { dims: idDims } = shape(step.a);
  const ids = graph.reshape(clampIds(graph, value(step.a), v), [rowCount(idDims), lastDim(idDims)]);
  const rows = graph.cast(graph.node("Gather", [graph.constant("int8", [v, d], values), ids]), "int32");
  return graph.reshape(graph.node("ReduceSum", [rows, graph.shape([1])], { keepdims: 0 }), step.dims);
}

/** A row of d elements of each id. */
function pick(place: Place): Value {
  const { graph, step, value, shape } = place;
  const [v, d] = shape(step.b).dims as [number, number];
  const ids = graph.reshape(clampIds(graph, value(step.a), v), [elementCount(step.dims) / d]);
  const picked = d === 1 ? elements(place, step.b, ids) : graph.node("Gather", [value(step.b), ids]);
  return graph.reshape(picked, step.dims);
}

/** An element of each byte. */
export function table(place: Place): Value {
  const { graph, step, value } = place;
  const count = elementCount(step.dims);
  const bytes = reshaped(graph, graph.cast(value(step.a), "int32"), step.dims, [count]);
  return reshaped(graph, elements(place, step.b, bytes), [count], step.dims);
}
