import { LIMITS } from "../profile/range.ts";
import { lastDim, type Operand } from "../program/form.ts";
import type { Value } from "./graph.ts";
import { isWhole, type Place, stored } from "./place.ts";
import { shiftedRight } from "./wide.ts";

/** ARITH rotate modulo 2^64, which the profile proves wide enough: rows of pairs, whose parts are taken one by one. Source:
 *  docs/EXACT.md, section 3. */
export function rotated(place: Place): Value {
  const { graph, step, value, shape } = place;
  /** The first and the second elements of an operand's pairs. */
  const sides = (operand: Operand): readonly [Value, Value] => {
    const { dims } = shape(operand);
    const side = (index: number): Value => {
      const [start, end, axis, stride] = [index, lastDim(dims), dims.length - 1, 2].map((number) =>
        graph.shape([number]),
      ) as [Value, Value, Value, Value];
      const found = graph.node("Slice", [value(operand), start, end, axis, stride]);
      return graph.cast(graph.reshape(found, [...dims.slice(0, -1), lastDim(dims) / 2, 1]), "uint64");
    };
    return [side(0), side(1)];
  };
  const [[x, y], [c, s]] = [sides(step.a), sides(step.b)];
  const product = (one: Value, other: Value): Value => graph.node("Mul", [one, other]);
  const turned = graph.node(
    "Concat",
    [graph.node("Sub", [product(x, c), product(y, s)]), graph.node("Add", [product(x, s), product(y, c)])],
    { axis: -1 },
  );
  const [least, most] = LIMITS[step.type];
  const bounds = { low: BigInt(least), high: BigInt(most) };
  // A shift of 0 has no half.
  const addends = 2n ** BigInt(step.k) / 2n;
  const all = stored(graph, shiftedRight(graph, turned, { addends, shifts: [step.k], bounds }), step.type);
  const pairs = [...step.dims.slice(0, -1), lastDim(step.dims) / 2, 2];
  return graph.reshape(isWhole(place) ? all : graph.node("Expand", [all, graph.shape(pairs)]), step.dims);
}
