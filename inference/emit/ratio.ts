import { LIMITS } from "../profile/range.ts";
import { lastDim, rowCount, type Step } from "../program/form.ts";
import { clamped, flooredQuotient } from "./clamp.ts";
import type { GraphBuilder, Value } from "./graph.ts";
import { numbers, type Place, stored } from "./place.ts";

/** RESCALE ratio. Source: docs/EXACT.md, section 3. */
export function ratio(place: Place): Value {
  const { graph, step } = place;
  const rows = rowCount(step.dims);
  const numerators = graph.reshape(numbers(place, step.a), [rows, lastDim(step.dims)]);
  const divisors = graph.reshape(place.value(step.b), [rows, 1]);
  return graph.reshape(quotients(graph, step, numerators, divisors), step.dims);
}

/** `⌊(2·x·M + d) / (2·d)⌋` in 64 bits, which the profile proves wide enough, saturated, in stored form; 0 where d is below 1.
 *  @param numbers int32 [rows, length] @param divisors int32 [rows, 1] */
export function quotients(
  graph: GraphBuilder,
  { k, type }: Pick<Step, "k" | "type">,
  numbers: Value,
  divisors: Value,
): Value {
  const constant = (value: bigint): Value => graph.constant("int64", [], BigInt64Array.of(value));
  // By row: a divisor of at least 1, and a multiplier of 0 where it was below.
  const divisor = graph.cast(graph.node("Max", [divisors, graph.int32(1)]), "int64");
  const isBelow = graph.node("Less", [divisors, graph.int32(1)]);
  const multiplier = graph.node("Where", [isBelow, constant(0n), constant(2n * BigInt(k))]);
  const denominator = graph.node("Mul", [divisor, constant(2n)]);
  const products = graph.node("Mul", [graph.cast(numbers, "int64"), multiplier]);
  const numerator = graph.node("Add", [products, divisor]);
  const quotient = flooredQuotient(graph, numerator, denominator);
  const [low, high] = LIMITS[type];
  return stored(graph, clamped(graph, quotient, low, high), type);
}
