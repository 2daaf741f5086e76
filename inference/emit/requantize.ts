/** Requantization as ONNX nodes. Source: docs/EXACT.md, section 3, DOT, REQUANT and RESCALE. */
import { integerRequantized } from "../onnx/requantize/integer-form.ts";
import { requantized as byRule, thresholds } from "../onnx/requantize/rule.ts";
import { type DOT_VARIANTS, weightIndex } from "../program/form.ts";
import { floatOfBits } from "../program/tensor.ts";
import { type ChannelParameters, readParameters } from "../program/weights.ts";
import type { GraphBuilder, Value } from "./graph.ts";
import { NotEmittable } from "./not-emittable.ts";
import type { Place } from "./place.ts";
import { type Bounds, shiftedRight, wide } from "./wide.ts";

/** Parameter words of a step's operand b, the last word of each row. */
export function parametersOf({ model, step }: Place): ChannelParameters[] {
  const words = model.weights[weightIndex(step.b)] as Uint8Array;
  const channels = model.program.weights[weightIndex(step.b)]?.dims[0] as number;
  const stride = words.length / channels;
  return Array.from({ length: channels }, (_, n) => readParameters(words, (n + 1) * stride - 32));
}

/** Sums with each channel's bias. */
export const withBiases = (
  graph: GraphBuilder,
  sums: Value,
  channels: readonly ChannelParameters[],
): Value =>
  channels.every(({ bias }) => bias === 0) ? sums : graph.node("Add", [sums, biases(graph, channels)]);

export const biases = (graph: GraphBuilder, channels: readonly ChannelParameters[]): Value =>
  graph.constant(
    "int32",
    [channels.length],
    Int32Array.from(channels, ({ bias }) => bias),
  );

/** Stored bytes of s32 sums, channels on the last axis. */
export function requantized(
  graph: GraphBuilder,
  acc: Value,
  channels: readonly ChannelParameters[],
  form: (typeof DOT_VARIANTS)[number],
): Value {
  // Clamped before the zero point is added: a large float has no room for small addends.
  const low = channels.map(({ lower, zeroPoint }) => lower - zeroPoint);
  const high = channels.map(({ upper, zeroPoint }) => upper - zeroPoint);
  const zeroPoints = channels.map(({ zeroPoint }) => zeroPoint);
  const dims = [channels.length];
  if (form === "integer") {
    const number = shifted(graph, acc, channels, { low: low.map(BigInt), high: high.map(BigInt) });
    const zero = graph.constant("int32", dims, Int32Array.from(zeroPoints));
    return graph.cast(graph.node("Add", [number, zero]), "uint8");
  }
  const float = (numbers: readonly number[]): Value =>
    graph.constant("float", dims, Float32Array.from(numbers));
  const scaledSums = scaled(graph, acc, channels);
  const number = graph.node("Min", [graph.node("Max", [scaledSums, float(low)]), float(high)]);
  return graph.cast(graph.node("Add", [number, float(zeroPoints)]), "uint8");
}

/** s32 sums by DOT rescaled, channels on the last axis. */
export function limitedSums(graph: GraphBuilder, acc: Value, channels: readonly ChannelParameters[]): Value {
  const limits = channels.map(({ upper }) => 2n ** BigInt(upper & 31));
  return shifted(graph, acc, channels, {
    low: limits.map((limit) => -limit),
    high: limits.map((limit) => limit - 1n),
  });
}

/** binary32 scales of all channels. @throws NotEmittable unless they are finite and above 0 */
export function scalesOf(channels: readonly ChannelParameters[]): Float32Array {
  const scales = Float32Array.from(channels, ({ scaleBits }) => floatOfBits(scaleBits));
  if (!scales.every((scale) => Number.isFinite(scale) && scale > 0))
    throw new NotEmittable("a requantization scale is not a finite number above 0");
  return scales;
}

/** `roundHalfEven(f32(f32(acc) × scale))`, float. */
function scaled(graph: GraphBuilder, acc: Value, channels: readonly ChannelParameters[]): Value {
  const scale = graph.constant("float", [channels.length], scalesOf(channels));
  return graph.node("Round", [graph.node("Mul", [graph.cast(acc, "float"), scale])]);
}

/** `(acc·M + B) >> S` as int32, modulo 2^32 or between bounds. */
export function shifted(
  graph: GraphBuilder,
  acc: Value,
  channels: readonly ChannelParameters[],
  bounds?: Bounds,
): Value {
  const multipliers = channels.map(({ multiplier }) => BigInt(multiplier));
  const products = graph.node("Mul", [graph.cast(acc, "uint64"), wide(graph, multipliers)]);
  return shiftedRight(graph, products, {
    addends: channels.map(({ addend }) => addend),
    shifts: channels.map(({ shift }) => shift & 63),
    ...(bounds === undefined ? {} : { bounds }),
  });
}

/** True if the integer form gives the byte of the binary32 rule for every accumulator from `low` to `high`. Both are
 *  monotone, so it is enough to compare them at both sides of each change of the rule's byte. */
export function isBinary32Rule(channel: ChannelParameters, low: number, high: number): boolean {
  const scale = floatOfBits(channel.scaleBits);
  if (!Number.isFinite(scale) || scale <= 0 || channel.lower > channel.upper) return false;
  const { multiplier, addend, shift } = channel;
  const isExact = [low, high].every((acc) => Math.abs(acc * multiplier) + Math.abs(Number(addend)) < 2 ** 53);
  if (!isExact || low < -(2 ** 31) || high >= 2 ** 31) return false;
  const rule = { ...channel, scale };
  const form = { m: multiplier, b: addend, s: shift & 63 };
  const agrees = (acc: number): boolean => byRule(acc, rule) === integerRequantized(acc, form, rule);
  if (!agrees(low) || !agrees(high)) return false;
  return thresholds(rule, low, high).every(
    ({ acc }) => acc <= low || acc > high || (agrees(acc) && agrees(acc - 1)),
  );
}
