import type { GraphBuilder, Value } from "./graph.ts";

/** A number of each channel on the last axis, or one of all elements. */
type Each = bigint | readonly bigint[];

export const HALF = 2n ** 63n;

/** One number in the place of equal ones. */
const joined = (each: Each): Each =>
  typeof each === "bigint" || each.some((one) => one !== each[0]) ? each : (each[0] as bigint);

/** 64-bit integers modulo 2^64 as uint64, whose arithmetic wraps. */
export function wide(graph: GraphBuilder, each: Each): Value {
  const numbers = joined(each);
  const isOne = typeof numbers === "bigint";
  const words = BigUint64Array.from(isOne ? [numbers] : numbers, (one) => BigInt.asUintN(64, one));
  return graph.constant("uint64", isOne ? [] : [words.length], words);
}

const raised = (graph: GraphBuilder, each: Each): Value =>
  wide(graph, typeof each === "bigint" ? each + HALF : each.map((one) => one + HALF));

/** Within s32. */
export interface Bounds {
  readonly low: Each;
  readonly high: Each;
}

/** int32 numbers between bounds. Of the 64-bit types in uint64 alone: onnxruntime's Max, Min and Clip of int64 take numbers
 *  of 2^31 to 2^32 − 1 for negative ones (1.30, x86-64).
 *  @param numbers uint64, signed ones raised by 2^63, which keeps their order and their lowest 32 bits */
export function clamped(graph: GraphBuilder, numbers: Value, { low, high }: Bounds): Value {
  const bounds = [raised(graph, low), raised(graph, high)] as const;
  const isOfAll = [low, high].every((each) => typeof joined(each) === "bigint");
  const found = isOfAll
    ? graph.node("Clip", [numbers, ...bounds])
    : graph.node("Min", [graph.node("Max", [numbers, bounds[0]]), bounds[1]]);
  return graph.cast(found, "int32");
}

export interface Shift {
  readonly addends: Each;
  /** 0 to 63 */
  readonly shifts: readonly number[];
  /** without them the result is modulo 2^32 */
  readonly bounds?: Bounds;
}

/** `(x + addend) >> shift` as int32, the sum modulo 2^64 as signed. @param x 64-bit integers modulo 2^64, as uint64 */
export function shiftedRight(graph: GraphBuilder, x: Value, { addends, shifts, bounds }: Shift): Value {
  const sums = graph.node("Add", [x, raised(graph, addends)]);
  const quotients = graph.node("BitShift", [sums, wide(graph, shifts.map(BigInt))], { direction: "RIGHT" });
  const missing = shifts.map((shift) => HALF - (HALF >> BigInt(shift)));
  const found = graph.node("Add", [quotients, wide(graph, missing)]);
  return bounds === undefined ? graph.cast(found, "int32") : clamped(graph, found, bounds);
}
