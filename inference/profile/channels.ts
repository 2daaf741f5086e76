/** What the intervals of DOT, REQUANT and RESCALE share. */

import { limited, shiftedSum } from "../opcodes/rounding.ts";
import { DOT_VARIANTS } from "../program/form.ts";
import { floatOfBits } from "../program/tensor.ts";
import { type ChannelParameters, readParameters } from "../program/weights.ts";
import type { StepRanges } from "./context.ts";
import { type Ends, empty, hull, isUniform, LIMITS, type Range, uniform } from "./range.ts";
import { requantizedByte } from "./requantized.ts";

export const SMALLER = "Use smaller weights or biases, or split the product.";

export function parametersOf(bytes: Uint8Array, rowBytes: number, count: number): ChannelParameters[] {
  return Array.from({ length: count }, (_, n) => readParameters(bytes, (n + 1) * rowBytes - 32));
}

/** Accumulators, which must not wrap. */
export function wrapped(ctx: StepRanges, range: Range): Range {
  const whole = hull(range);
  const [min, max] = LIMITS.s32;
  const [low, high] = [whole.low[0] as number, whole.high[0] as number];
  if (low >= min && high <= max) return range;
  ctx.problem("the accumulator can leave s32", low, high, `${min} to ${max}`, SMALLER);
  return uniform(min, max);
}

/** One interval for each output element from one for each channel. */
export function spread(range: Range, dims: readonly number[], n: number): Range {
  const result = empty(dims);
  if (range.low.length === result.low.length) return range;
  if (result.low.length === 1 || isUniform(range)) return hull(range);
  for (let i = 0; i < result.low.length; i++) {
    result.low[i] = range.low[i % n] as number;
    result.high[i] = range.high[i % n] as number;
  }
  return { ...result, tiny: range.tiny };
}

/** What `f` makes of bounds of accumulators, whose channels take turns. Rows are often alike: what is as a row before is
 *  not computed again. */
export function eachByChannel(
  bounds: Ends,
  channels: readonly ChannelParameters[],
  f: (bound: number, channel: ChannelParameters) => number,
): Float64Array {
  const period = channels.length;
  const result = new Float64Array(bounds.length);
  for (let i = 0; i < bounds.length; i++) {
    const isAsBefore = i >= period && bounds[i] === bounds[i - period];
    result[i] = isAsBefore
      ? (result[i - period] as number)
      : f(bounds[i] as number, channels[i % period] as ChannelParameters);
  }
  return result;
}

/** Bytes of accumulators. */
export function requantizedRange(
  ctx: StepRanges,
  range: Range,
  channels: readonly ChannelParameters[],
  n: number,
): Range {
  const { step } = ctx;
  const form = DOT_VARIANTS[step.variant] === "binary32" ? "binary32" : "integer";
  const offset = step.type === "s8" ? 128 : 0;
  return byForm(
    ctx,
    range,
    channels,
    n,
    form,
    (acc, channel) => requantizedByte(acc, channel, form) - offset,
  );
}

/** What DOT rescaled makes of accumulators. */
export const limitedRange = (
  ctx: StepRanges,
  range: Range,
  channels: readonly ChannelParameters[],
  n: number,
): Range =>
  byForm(ctx, range, channels, n, "integer", (acc, channel) =>
    limited(shiftedSum(acc, channel), channel.upper),
  );

/** @param of each form is monotone in the accumulator */
function byForm(
  ctx: StepRanges,
  range: Range,
  channels: readonly ChannelParameters[],
  n: number,
  form: "integer" | "binary32",
  of: (acc: number, channel: ChannelParameters) => number,
): Range {
  const each = (bounds: Ends): Float64Array =>
    eachByChannel(
      isUniform(range) ? new Float64Array(channels.length).fill(bounds[0] as number) : bounds,
      channels,
      (acc, channel) => {
        checkForm(ctx, channel, [acc, acc], form);
        return of(acc, channel);
      },
    );
  const [low, high] = [each(range.low), each(range.high)];
  return spread({ low, high, tiny: 1 }, ctx.step.dims, channels.length === 1 ? 1 : n);
}

/** What the integer form must keep exact, and the binary32 form normal. */
export function checkForm(
  ctx: StepRanges,
  channel: ChannelParameters,
  acc: readonly [number, number],
  form: "integer" | "binary32",
): void {
  if (form === "integer") {
    const values = acc.map((x) => x * channel.multiplier + Number(channel.addend));
    if (values.some((v) => Math.abs(v) >= 2 ** 53)) {
      const [low = 0, high = 0] = values;
      ctx.problem("acc·M + B can reach 2^53", low, high, "below 2^53 in size", "Import the model again.");
    }
    return;
  }
  const scale = floatOfBits(channel.scaleBits);
  if (!(scale > 0) || !Number.isFinite(scale) || scale < 2 ** -100) {
    ctx.problem(
      "the scale is not a normal number above 0",
      scale,
      scale,
      "2^-100 and above",
      "Use another scale.",
    );
  }
}

/** Intervals of a channelwise step's sums `a + bias′`, and the channels' parameters.
 *  @param source in place of operand a's intervals */
export function channelSums(
  ctx: StepRanges,
  source = ctx.operand("a").range,
): { sums: Range; channels: readonly ChannelParameters[] } {
  const { descriptor, bytes } = ctx.weight("b");
  const count = descriptor.dims[0] as number;
  const channels = parametersOf(bytes, 32, count);
  const length = isUniform(source) ? count : source.low.length;
  const low = new Float64Array(length);
  const high = new Float64Array(length);
  for (let i = 0; i < length; i++) {
    const { bias } = channels[count === 1 ? 0 : i % count] as ChannelParameters;
    low[i] = (source.low[isUniform(source) ? 0 : i] as number) + bias;
    high[i] = (source.high[isUniform(source) ? 0 : i] as number) + bias;
  }
  return { sums: wrapped(ctx, { low, high, tiny: 1 }), channels };
}
