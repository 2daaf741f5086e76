import { sourceMap } from "../opcodes/move.ts";
import { elementCount, lastDim, NONE, type Step } from "../program/form.ts";
import type { GraphBuilder, Value } from "./graph.ts";
import { elements, type Place, reshaped, selected } from "./place.ts";

/** MOVE as ONNX nodes. Source: docs/EXACT.md, section 3. */
export function move(place: Place): Value {
  const { graph, step, value, shape } = place;
  const map = sourceMap(step);
  const count = elementCount(shape(step.a).dims);
  if (map.length === count && map.every((from, i) => from === i))
    return reshaped(graph, value(step.a), shape(step.a).dims, step.dims);
  const hasGaps = map.includes(-1);
  // Whole rows where a row stays together, else element by element.
  const length =
    count % lastDim(step.dims) === 0 && copiesRows(map, lastDim(step.dims)) ? lastDim(step.dims) : 1;
  const places = map.filter((_, i) => i % length === 0).map((from) => Math.max(0, from) / length);
  const indices = graph.constant("int32", [places.length], places);
  const gathered =
    length === 1
      ? elements(place, step.a, indices)
      : graph.node("Gather", [
          reshaped(graph, value(step.a), shape(step.a).dims, [count / length, length]),
          indices,
        ]);
  const moved = reshaped(
    graph,
    gathered,
    length === 1 ? [places.length] : [places.length, length],
    step.dims,
  );
  if (!hasGaps) return moved;
  const isInside = graph.constant(
    "bool",
    step.dims,
    Uint8Array.from(map, (from) => (from < 0 ? 0 : 1)),
  );
  const other = step.b === NONE ? pad(graph, step) : value(step.b);
  return selected(place, isInside, moved, other);
}

/** Whether each row of an output is one of the operand's, read as rows of that length. @param map as of `sourceMap` */
const copiesRows = (map: Int32Array, length: number): boolean =>
  length > 1 &&
  map.every((from, i) =>
    i % length === 0 ? from >= 0 && from % length === 0 : from === (map[i - 1] as number) + 1,
  );

function pad(graph: GraphBuilder, { type, k }: Step): Value {
  if (type === "s32") return graph.int32(k | 0);
  if (type === "f32") return graph.constant("float", [], Uint32Array.of(k));
  return graph.constant("uint8", [], Uint8Array.of(k));
}
