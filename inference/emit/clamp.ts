import type { GraphBuilder, Value } from "./graph.ts";

/** A bound of each channel on the last axis, or one of all elements. */
type Each = number | readonly number[];

/** One number in the place of equal ones. */
const joined = (each: Each): Each =>
  typeof each === "number" || each.some((one) => one !== each[0]) ? each : (each[0] as number);

/** 64-bit integers between bounds of 32 bits, as int32. In doubles, which are exact below 2^53 and keep the order beyond it:
 *  onnxruntime's Max and Min of 64-bit integers take numbers of 2^31 to 2^32 − 1 for negative ones (1.30, x86-64). */
export function clamped(graph: GraphBuilder, value: Value, lows: Each, highs: Each): Value {
  const [low, high] = [joined(lows), joined(highs)];
  const bound = (each: Each): Value =>
    typeof each === "number"
      ? graph.constant("double", [], Float64Array.of(each))
      : graph.constant("double", [each.length], Float64Array.from(each));
  const double = graph.cast(value, "double");
  const found =
    typeof low === "number" && typeof high === "number"
      ? graph.node("Clip", [double, bound(low), bound(high)])
      : graph.node("Min", [graph.node("Max", [double, bound(low)]), bound(high)]);
  return graph.cast(found, "int32");
}

/** `⌊x / divisor⌋` of 64-bit integers. Div rounds toward zero. @param divisor above 0 */
export function flooredQuotient(graph: GraphBuilder, x: Value, divisor: Value): Value {
  const truncated = graph.node("Div", [x, divisor]);
  const isAbove = graph.node("Greater", [graph.node("Mul", [truncated, divisor]), x]);
  return graph.node("Sub", [truncated, graph.cast(isAbove, "int64")]);
}
