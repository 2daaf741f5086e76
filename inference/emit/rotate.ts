import { LIMITS } from "../profile/range.ts";
import { lastDim, type Operand } from "../program/form.ts";
import { clamped64 } from "./clamp.ts";
import type { Value } from "./graph.ts";
import { elementTypeOf, type Place } from "./place.ts";

/** ARITH rotate in 64 bits, which the profile proves wide enough: rows of pairs, whose parts are taken one by one. Source:
 *  docs/EXACT.md, section 3. */
export function rotated({ graph, step, value, shape }: Place): Value {
  const constant = (number: number): Value => graph.constant("int64", [], BigInt64Array.of(BigInt(number)));
  /** The first and the second elements of an operand's pairs. */
  const sides = (operand: Operand): readonly [Value, Value] => {
    const { dims } = shape(operand);
    const pairs = [...dims.slice(0, -1), lastDim(dims) / 2, 2];
    const wide = graph.reshape(graph.cast(value(operand), "int64"), pairs);
    const side = (index: number): Value =>
      graph.node("Gather", [wide, graph.constant("int64", [1], BigInt64Array.of(BigInt(index)))], {
        axis: pairs.length - 1,
      });
    return [side(0), side(1)];
  };
  const [[x, y], [c, s]] = [sides(step.a), sides(step.b)];
  const product = (one: Value, other: Value): Value => graph.node("Mul", [one, other]);
  const turned = graph.node(
    "Concat",
    [graph.node("Sub", [product(x, c), product(y, s)]), graph.node("Add", [product(x, s), product(y, c)])],
    { axis: -1 },
  );
  // The floor of a quotient from one that is rounded toward zero; a shift of 0 has no half.
  const unit = constant(2 ** step.k);
  const raised = graph.node("Add", [turned, constant(Math.floor(2 ** (step.k - 1)))]);
  const truncated = graph.node("Div", [raised, unit]);
  const isAbove = graph.node("Greater", [graph.node("Mul", [truncated, unit]), raised]);
  const rounded = graph.node("Sub", [truncated, graph.cast(isAbove, "int64")]);
  const [low, high] = LIMITS[step.type];
  const clamped = clamped64(graph, rounded, constant(low), constant(high));
  const stored = step.type === "s8" ? graph.node("Add", [clamped, constant(128)]) : clamped;
  const all = graph.cast(stored, elementTypeOf(step.type));
  const isWhole = [step.a, step.b].some((operand) => shape(operand).dims.join() === step.dims.join());
  const pairs = [...step.dims.slice(0, -1), lastDim(step.dims) / 2, 2];
  return graph.reshape(isWhole ? all : graph.node("Expand", [all, graph.shape(pairs)]), step.dims);
}
