import {
  DOT_VARIANTS,
  elementCount,
  isActivationDot,
  lastDim,
  rowCount,
  type WeightDescriptor,
} from "../program/form.ts";
import { type ChannelParameters, unpackDot } from "../program/weights.ts";
import { WIDEN } from "./arith.ts";
import { parametersOf, requantizedRange, spread, wrapped } from "./channels.ts";
import type { StepRanges } from "./context.ts";
import { empty, hull, isUniform, type Range, uniform } from "./range.ts";

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
  if (isActivationDot(step)) return activationRange(ctx);
  const { descriptor, bytes } = ctx.weight("b");
  const [n, k] = descriptor.dims as [number, number];
  const range = wrapped(ctx, { ...accumulators(ctx, ctx.weight("b")), tiny: 1 });
  if (DOT_VARIANTS[step.variant] === "s32") return spread(range, step.dims, n);
  return requantizedRange(ctx, range, parametersOf(bytes, 32 * (Math.ceil(k / 32) + 1), n), n);
}

/** Intervals of DOT activations: the sum of each product's interval. */
function activationRange(ctx: StepRanges): Range {
  const { step } = ctx;
  const [left, right] = [ctx.operand("a"), ctx.operand("b")];
  const [n, k] = [lastDim(step.dims), lastDim(left.dims)];
  const what = "the sum can leave s32";
  const isApart =
    !isUniform(left.range) && !isUniform(right.range) && elementCount(step.dims) * k <= MAX_PRODUCTS;
  const result = empty(step.dims);
  if (!isApart || result.low.length === 1) {
    const [low, high] = interval(hull(left.range), 0, hull(right.range), 0);
    return ctx.within(uniform(k * low, k * high), what, WIDEN);
  }
  for (let element = 0; element < result.low.length; element++) {
    const row = Math.floor(element / n);
    const [a, b] = [row * k, (Math.floor(row / step.k) * n + (element % n)) * k];
    let [least, most] = [0, 0];
    for (let i = 0; i < k; i++) {
      const [low, high] = interval(left.range, a + i, right.range, b + i);
      least += low;
      most += high;
    }
    result.low[element] = least;
    result.high[element] = most;
  }
  return ctx.within({ ...result, tiny: 1 }, what, WIDEN);
}

/** Of the product of an element of a and one of b. */
function interval(a: Range, i: number, b: Range, j: number): [low: number, high: number] {
  const [al, ah] = [a.low[i] as number, a.high[i] as number];
  const [bl, bh] = [b.low[j] as number, b.high[j] as number];
  const [w, x, y, z] = [al * bl, al * bh, ah * bl, ah * bh];
  return [Math.min(w, x, y, z), Math.max(w, x, y, z)];
}
