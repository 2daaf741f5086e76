import { LIMITS } from "../profile/range.ts";
import { lastDim, rowCount, type Step } from "../program/form.ts";
import type { GraphBuilder, Value } from "./graph.ts";
import { numbers, type Place, reshaped, stored } from "./place.ts";
import { clamped, HALF, wide } from "./wide.ts";

/** RESCALE ratio. Source: docs/EXACT.md, section 3. */
export function ratio(place: Place): Value {
  const { graph, step } = place;
  const rows = [rowCount(step.dims), lastDim(step.dims)] as const;
  const numerators = reshaped(graph, numbers(place, step.a), step.dims, rows);
  const divisors = reshaped(graph, place.value(step.b), place.shape(step.b).dims, [rows[0], 1]);
  return reshaped(graph, quotients(graph, step, numerators, divisors), rows, step.dims);
}

/** `⌊(2·x·M + d) / (2·d)⌋` in 64 bits, which the profile proves wide enough, saturated, in stored form; 0 where d is below 1.
 *  @param numbers int32 [rows, length] @param divisors int32 [rows, 1] */
export function quotients(
  graph: GraphBuilder,
  { k, type }: Pick<Step, "k" | "type">,
  numbers: Value,
  divisors: Value,
): Value {
  // By row: a divisor of at least 1, and a multiplier of 0 where it was below.
  const divisor = graph.cast(graph.node("Max", [divisors, graph.int32(1)]), "uint64");
  const isDivisor = graph.cast(graph.node("Less", [graph.int32(0), divisors]), "uint64");
  const multiplier = graph.node("Mul", [isDivisor, wide(graph, 2n * BigInt(k))]);
  const denominator = graph.node("Mul", [divisor, wide(graph, 2n)]);
  // Div is given nothing below 0: some 2^63 is added, a multiple of the denominator.
  const added = graph.node("Div", [wide(graph, HALF), denominator]);
  const addend = graph.node("Add", [graph.node("Mul", [added, denominator]), divisor]);
  const products = graph.node("Mul", [graph.cast(numbers, "uint64"), multiplier]);
  const quotient = graph.node("Div", [graph.node("Add", [products, addend]), denominator]);
  const raised = graph.node("Add", [quotient, graph.node("Sub", [wide(graph, HALF), added])]);
  const [low, high] = LIMITS[type];
  return stored(graph, clamped(graph, raised, { low: BigInt(low), high: BigInt(high) }), type);
}
