import { DOT_VARIANTS, rowCount, type WeightDescriptor } from "../program/form.ts";
import { type ChannelParameters, unpackDot } from "../program/weights.ts";
import { parametersOf, requantizedRange, spread, wrapped } from "./channels.ts";
import type { StepRanges } from "./context.ts";
import { empty, isUniform, type Range } from "./range.ts";

/** Above this many multiplications the rows of an activation share one interval for each column. */
const MAX_PRODUCTS = 2 ** 26;

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

/** Intervals of DOT. */
export function dotRange(ctx: StepRanges): Range {
  const { step } = ctx;
  const { descriptor, bytes } = ctx.weight("b");
  const [n, k] = descriptor.dims as [number, number];
  const range = wrapped(ctx, { ...accumulators(ctx, ctx.weight("b")), tiny: 1 });
  if (DOT_VARIANTS[step.variant] === "s32") return spread(range, step.dims, n);
  return requantizedRange(ctx, range, parametersOf(bytes, 32 * (Math.ceil(k / 32) + 1), n), n);
}
