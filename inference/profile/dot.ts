/** Intervals of DOT, REQUANT and RESCALE. */

import { DOT_VARIANTS, lastDim, rowCount, type WeightDescriptor } from "../program/form.ts";
import { type ChannelParameters, readParameters, unpackDot } from "../program/weights.ts";
import type { StepRanges } from "./context.ts";
import { empty, hull, isUniform, LIMITS, type Range, uniform } from "./range.ts";
import { requantizedByte } from "./requantized.ts";

/** Above this many multiplications the rows of an activation share one interval for each column. */
const MAX_PRODUCTS = 2 ** 26;

const SMALLER = "Use smaller weights or biases, or split the product.";

export function parametersOf(bytes: Uint8Array, rowBytes: number, count: number): ChannelParameters[] {
  return Array.from({ length: count }, (_, n) => readParameters(bytes, (n + 1) * rowBytes - 32));
}

export interface DotWeights {
  readonly descriptor: WeightDescriptor;
  readonly bytes: Uint8Array;
}

/** The accumulators of a DOT step: one interval for each output element, or one for each channel. */
export function accumulators(
  ctx: StepRanges,
  { descriptor, bytes }: DotWeights,
): { low: Float64Array; high: Float64Array } {
  const { step } = ctx;
  const input = ctx.operand("a");
  const [n, k] = descriptor.dims as [number, number];
  const channels = parametersOf(bytes, 32 * (Math.ceil(k / 32) + 1), n);
  const weights = unpackDot(bytes, n, k);
  const shift = input.type === "s8" ? 128 : 0;
  const groups = step.k;
  const perRow = rowCount(step.dims);
  const tooMany = perRow * n > empty(step.dims).low.length || perRow * n * k > MAX_PRODUCTS;
  const single = isUniform(input.range) || tooMany;
  const rows = single ? 1 : perRow;
  const source = single ? columns(input.range, groups * k) : input.range;
  const low = new Float64Array(rows * n);
  const high = new Float64Array(rows * n);
  for (let row = 0; row < rows; row++) {
    for (let channel = 0; channel < n; channel++) {
      const { bias, weightOffset } = channels[channel] as ChannelParameters;
      const from = (row * groups + Math.floor((channel * groups) / n)) * k;
      let least = bias;
      let most = bias;
      for (let i = 0; i < k; i++) {
        const w = (weights[channel * k + i] as number) - weightOffset;
        const a = (source.low[from + i] as number) + shift;
        const b = (source.high[from + i] as number) + shift;
        least += w * (w < 0 ? b : a);
        most += w * (w < 0 ? a : b);
      }
      low[row * n + channel] = least;
      high[row * n + channel] = most;
    }
  }
  return { low, high };
}

/** Hull of all rows: one interval for each of `length` columns, rows being blocks of `length` elements. */
function columns(range: Range, length: number): Range {
  if (isUniform(range)) {
    const low = new Float64Array(length).fill(range.low[0] as number);
    return { low, high: low.map(() => range.high[0] as number), tiny: range.tiny };
  }
  const low = new Float64Array(length).fill(Number.POSITIVE_INFINITY);
  const high = new Float64Array(length).fill(Number.NEGATIVE_INFINITY);
  for (let i = 0; i < range.low.length; i++) {
    const at = i % length;
    low[at] = Math.min(low[at] as number, range.low[i] as number);
    high[at] = Math.max(high[at] as number, range.high[i] as number);
  }
  return { low, high, tiny: range.tiny };
}

export function dotRange(ctx: StepRanges): Range {
  const { step } = ctx;
  const { descriptor, bytes } = ctx.weight("b");
  const [n, k] = descriptor.dims as [number, number];
  const range = wrapped(ctx, { ...accumulators(ctx, ctx.weight("b")), tiny: 1 });
  if (DOT_VARIANTS[step.variant] === "s32") return spread(range, step.dims, n);
  return requantRange(ctx, range, parametersOf(bytes, 32 * (Math.ceil(k / 32) + 1), n), n);
}

function wrapped(ctx: StepRanges, range: Range): Range {
  const whole = hull(range);
  const [min, max] = LIMITS.s32;
  const [low, high] = [whole.low[0] as number, whole.high[0] as number];
  if (low >= min && high <= max) return range;
  ctx.problem("the accumulator can leave s32", low, high, `${min} to ${max}`, SMALLER);
  return uniform(min, max);
}

/** One interval for each output element from one for each channel. */
function spread(range: Range, dims: readonly number[], n: number): Range {
  const result = empty(dims);
  if (range.low.length === result.low.length) return range;
  if (result.low.length === 1 || isUniform(range)) return hull(range);
  result.low.forEach((_, i) => {
    result.low[i] = range.low[i % n] as number;
    result.high[i] = range.high[i % n] as number;
  });
  return { ...result, tiny: range.tiny };
}

/** Bytes of accumulators: both forms are monotone in the accumulator. */
function requantRange(
  ctx: StepRanges,
  range: Range,
  channels: readonly ChannelParameters[],
  n: number,
): Range {
  const { step } = ctx;
  const form = DOT_VARIANTS[step.variant] === "integer" ? "integer" : "binary32";
  const per = channels.length === 1 || isUniform(range) ? channels.length : n;
  const length = isUniform(range) ? channels.length : range.low.length;
  const low = new Float64Array(length);
  const high = new Float64Array(length);
  const offset = step.type === "s8" ? 128 : 0;
  for (let i = 0; i < length; i++) {
    const at = isUniform(range) ? 0 : i;
    const channel = channels[channels.length === 1 ? 0 : i % per] as ChannelParameters;
    const acc = [range.low[at] as number, range.high[at] as number] as const;
    checkForm(ctx, channel, acc, form);
    low[i] = requantizedByte(acc[0], channel, form) - offset;
    high[i] = requantizedByte(acc[1], channel, form) - offset;
  }
  return spread({ low, high, tiny: 1 }, step.dims, channels.length === 1 ? 1 : n);
}

function checkForm(
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
  const scale = scaleOf(channel);
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

export function scaleOf(channel: ChannelParameters): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, channel.scaleBits);
  return view.getFloat32(0);
}

/** REQUANT, and RESCALE with its s32 result. */
export function channelRange(ctx: StepRanges): Range {
  const { step } = ctx;
  const source = ctx.operand("a").range;
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
  const range = wrapped(ctx, { low, high, tiny: 1 });
  if (step.opcode === "requant") return requantRange(ctx, range, channels, lastDim(step.dims));
  const rescaled = rescale(ctx, range, channels);
  return ctx.within(spread(rescaled, step.dims, lastDim(step.dims)), "the result can leave s32", SMALLER);
}

function rescale(ctx: StepRanges, range: Range, channels: readonly ChannelParameters[]): Range {
  const apply = (x: number, i: number): number => {
    const channel = channels[channels.length === 1 ? 0 : i % channels.length] as ChannelParameters;
    checkForm(ctx, channel, [x, x], "integer");
    return Math.floor((x * channel.multiplier + Number(channel.addend)) / 2 ** (channel.shift & 63));
  };
  return { low: range.low.map(apply), high: range.high.map(apply), tiny: 1 };
}
