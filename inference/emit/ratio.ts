import { LIMITS } from "../profile/range.ts";
import { lastDim, rowCount, type Step } from "../program/form.ts";
import { clamped64 } from "./clamp.ts";
import type { GraphBuilder, Value } from "./graph.ts";
import { elementTypeOf, numbers, type Place } from "./place.ts";

/** RESCALE ratio. Source: docs/EXACT.md, section 3. */
export function ratio(place: Place): Value {
  const { graph, step } = place;
  const rows = rowCount(step.dims);
  const numerators = graph.reshape(numbers(place, step.a), [rows, lastDim(step.dims)]);
  const divisors = graph.reshape(place.value(step.b), [rows, 1]);
  return graph.reshape(quotients(graph, step, numerators, divisors), step.dims);
}

/** `⌊(2·x·M + d) / (2·d)⌋` in 64 bits, which the profile proves wide enough, saturated, in stored form.
 *  @param numbers int32 [rows, length] @param divisors int32 [rows, 1] */
export function quotients(
  graph: GraphBuilder,
  { k, type }: Pick<Step, "k" | "type">,
  numbers: Value,
  divisors: Value,
): Value {
  const constant = (value: number): Value => graph.constant("int64", [], BigInt64Array.of(BigInt(value)));
  const wide = (value: Value): Value => graph.cast(value, "int64");
  const [x, divisor] = [wide(numbers), wide(divisors)];
  const numerator = graph.node("Add", [graph.node("Mul", [x, constant(2 * k)]), divisor]);
  // Never below 2 inside Div, whatever the operand holds.
  const denominator = graph.node("Mul", [graph.node("Max", [divisor, constant(1)]), constant(2)]);
  const truncated = graph.node("Div", [numerator, denominator]);
  const isAbove = graph.node("Greater", [graph.node("Mul", [truncated, denominator]), numerator]);
  const quotient = graph.node("Sub", [truncated, wide(isAbove)]);
  const isBelow = graph.node("Less", [divisor, constant(1)]);
  const result = graph.node("Where", [isBelow, constant(0), quotient]);
  const [low, high] = LIMITS[type];
  const clamped = clamped64(graph, result, constant(low), constant(high));
  const stored = type === "s8" ? graph.node("Add", [clamped, constant(128)]) : clamped;
  return graph.cast(stored, elementTypeOf(type));
}
