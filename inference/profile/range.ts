/** Intervals of a tensor's elements. */

import { broadcastMap } from "../opcodes/broadcast.ts";
import { elementCount, type TensorType } from "../program/form.ts";

/** One end of each element's interval. */
export type Ends = Float64Array | Int32Array;

/** Lowest and highest value of each element, or of all of them when the arrays have length 1.
 *  Values are real: s8 as −128..127, bool as 0..1, f32 as its number. */
export interface Range {
  readonly low: Ends;
  readonly high: Ends;
  /** f32 only: no element is nearer to zero than this without being zero. */
  readonly tiny: number;
  /** f32 only: a power of two that every element is a multiple of, where more is known than `tiny` says. Sums keep it. */
  readonly grid?: number;
}

/** Numbers of binary32 that are at least `tiny` in size are multiples of this, and so are their exact sums. */
export const gridAbove = (tiny: number): number => 2 ** (Math.floor(Math.log2(tiny)) - 23);

/** What every element is a multiple of. */
export const gridOf = ({ tiny, grid = 0 }: Range): number => Math.max(grid, gridAbove(tiny));

/** The largest power of two that these numbers of binary32 are multiples of; 1 for zeros alone. */
export function commonGrid(values: ArrayLike<number>): number {
  const word = new Float32Array(1);
  const bits = new Uint32Array(word.buffer);
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < values.length; i++) {
    word[0] = values[i] as number;
    if (word[0] === 0) continue;
    const exponent = ((bits[0] as number) >>> 23) & 0xff;
    const mantissa = ((bits[0] as number) & 0x7fffff) | (exponent > 0 ? 0x800000 : 0);
    const zeros = 31 - Math.clz32(mantissa & -mantissa);
    least = Math.min(least, Math.max(exponent, 1) - 150 + zeros);
  }
  return least === Number.POSITIVE_INFINITY ? 1 : 2 ** least;
}

/** Tensors above this many elements get one interval for all, so that a proof stays cheap. */
export const MAX_INTERVALS = 2 ** 18;

/** Intervals that one analysis keeps; steps beyond get one interval for all their elements. */
export const MAX_KEPT_INTERVALS = 2 ** 25;

/** The smallest normal binary32 number. */
export const SMALLEST_NORMAL = 2 ** -126;

export const LIMITS: Readonly<Record<TensorType, readonly [number, number]>> = {
  u8: [0, 255],
  s8: [-128, 127],
  s32: [-(2 ** 31), 2 ** 31 - 1],
  f32: [-3.4028234663852886e38, 3.4028234663852886e38],
  bool: [0, 1],
};

export function uniform(low: number, high: number, tiny = 1, grid?: number): Range {
  const range = { low: Float64Array.of(low), high: Float64Array.of(high), tiny };
  return grid === undefined ? range : { ...range, grid };
}

/** Any value of a type: what a step counts as after a failed proof. */
export const anything = (type: TensorType): Range => uniform(...LIMITS[type], SMALLEST_NORMAL);

/** Exactly these values. @param isReal true for numbers of binary32 */
export function exactly(values: ArrayLike<number>, isReal = false): Range {
  const data = Float64Array.from(values);
  let tiny = Number.POSITIVE_INFINITY;
  for (const v of data) if (v !== 0) tiny = Math.min(tiny, Math.abs(v));
  const bounds = { low: data, high: data, tiny: Number.isFinite(tiny) ? tiny : 1 };
  const range = isReal ? { ...bounds, grid: commonGrid(data) } : bounds;
  return data.length > MAX_INTERVALS ? hull(range) : range;
}

/** What `sat` of a type makes of intervals. */
export function saturatedRange({ low, high }: Range, type: TensorType): Range {
  const [min, max] = LIMITS[type];
  const clamp = (value: number): number => Math.min(Math.max(value, min), max);
  return { low: low.map(clamp), high: high.map(clamp), tiny: 1 };
}

export const isUniform = (range: Range): boolean => range.low.length === 1;

export function lowest(range: Range): number {
  let low = Number.POSITIVE_INFINITY;
  for (const v of range.low) if (v < low || Number.isNaN(v)) low = v;
  return low;
}

export function highest(range: Range): number {
  let high = Number.NEGATIVE_INFINITY;
  for (const v of range.high) if (v > high || Number.isNaN(v)) high = v;
  return high;
}

/** The same intervals in half of the room, where their ends are whole numbers of 32 bits. */
export function compact(range: Range): Range {
  const [low, high] = [range.low, range.high].map((ends) => {
    const whole = Int32Array.from(ends);
    return whole.every((end, i) => end === ends[i]) ? whole : ends;
  }) as [Ends, Ends];
  return { ...range, low, high };
}

/** One interval for all elements. */
export const hull = (range: Range): Range => uniform(lowest(range), highest(range), range.tiny, range.grid);

/** Arrays for a result of these dims, or of length 1 if it is too large for one interval each. */
export function empty(dims: readonly number[]): { low: Float64Array; high: Float64Array } {
  const count = elementCount(dims);
  const length = count > MAX_INTERVALS ? 1 : count;
  return { low: new Float64Array(length), high: new Float64Array(length) };
}

/** Index into an operand of `dims` for each element of an output, under broadcast. */
export const broadcastIndex = (dims: readonly number[], output: readonly number[]): Int32Array =>
  broadcastMap(output, dims) ?? new Int32Array(elementCount(output)).map((_, i) => i);

/** Applies `f` to the intervals of broadcast operands; f writes [low, high] of one element into `out`.
 *  @param most elements of which each has an interval of its own */
export function combine(
  operands: readonly { readonly range: Range; readonly dims: readonly number[] }[],
  dims: readonly number[],
  f: (low: readonly number[], high: readonly number[], out: Float64Array) => void,
  most = MAX_INTERVALS,
): { low: Float64Array; high: Float64Array } {
  const low = new Array<number>(operands.length);
  const high = new Array<number>(operands.length);
  const out = new Float64Array(2);
  const count = elementCount(dims);
  const length = operands.every((o) => isUniform(o.range)) || count > most ? 1 : count;
  const single = length === 1;
  const result = { low: new Float64Array(length), high: new Float64Array(length) };
  const ranges = operands.map((o) => (single ? hull(o.range) : o.range));
  const maps = operands.map(({ dims: own }, k) =>
    isUniform(ranges[k] as Range) ? undefined : broadcastMap(dims, own),
  );
  const hasOne = ranges.map(isUniform);
  for (let i = 0; i < length; i++) {
    for (let k = 0; k < ranges.length; k++) {
      const map = maps[k];
      const at = hasOne[k] ? 0 : map === undefined ? i : (map[i] as number);
      low[k] = (ranges[k] as Range).low[at] as number;
      high[k] = (ranges[k] as Range).high[at] as number;
    }
    f(low, high, out);
    result.low[i] = out[0] as number;
    result.high[i] = out[1] as number;
  }
  return result;
}
