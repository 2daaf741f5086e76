import {
  elementCount,
  isActivationDot,
  isPlanesDot,
  isSumsDot,
  lastDim,
  NONE,
  rowCount,
  type Slot,
  type WeightDescriptor,
} from "../program/form.ts";
import { type ChannelParameters, unpackDot } from "../program/weights.ts";
import { WIDEN } from "./arith.ts";
import { CAN_BE_ZERO, type ElementReads, type ReadForm, wholeRow, zerosAt } from "./causality/reads.ts";
import { limitedRange, parametersOf, requantizedRange, spread, wrapped } from "./channels.ts";
import type { StepRanges } from "./context.ts";
import { combine, type Ends, empty, hull, isUniform, type Range, uniform } from "./range.ts";

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
  const numbers = isPlanesDot(step) ? numbersOf(input.range, k) : input.range;
  const perRow = rowCount(step.dims);
  const tooMany = perRow * n > empty(step.dims).low.length || perRow * n * k > MAX_PRODUCTS;
  const single = isUniform(numbers) || tooMany;
  const rows = single ? 1 : perRow;
  const source = single ? columns(numbers, groups * k) : numbers;
  const low = new Float64Array(rows * n);
  const high = new Float64Array(rows * n);
  for (let row = 0; row < rows; row++) {
    // Rows are often alike, as none of a product with constant weights is told from another.
    if (row > 0 && isAsBefore(source, row * groups * k, groups * k)) {
      low.copyWithin(row * n, (row - 1) * n, row * n);
      high.copyWithin(row * n, (row - 1) * n, row * n);
      continue;
    }
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

/** Whether the `length` intervals from one on are those of as many in front of it. */
function isAsBefore({ low, high }: Range, from: number, length: number): boolean {
  for (let i = from; i < from + length; i++) {
    if (low[i] !== low[i - length] || high[i] !== high[i - length]) return false;
  }
  return true;
}

/** Of numbers of 16 bits, k a row, from their planes of bytes. */
function numbersOf({ low, high, tiny }: Range, k: number): Range {
  if (low.length === 1) return uniform(257 * (low[0] as number), 257 * (high[0] as number));
  const number = (bytes: Ends): Float64Array =>
    Float64Array.from({ length: bytes.length / 2 }, (_, i) => {
      const at = 2 * (i - (i % k)) + (i % k);
      return 256 * (bytes[at] as number) + (bytes[at + k] as number);
    });
  return { low: number(low), high: number(high), tiny };
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
  if (isSumsDot(step)) return spread(range, step.dims, n);
  const channels = parametersOf(bytes, 32 * (Math.ceil(k / 32) + 1), n);
  if (step.type !== "s32") return requantizedRange(ctx, range, channels, n);
  const limited = limitedRange(ctx, range, channels, n);
  if (step.c === NONE) return limited;
  const terms = [{ range: limited, dims: step.dims }, ctx.operand("c")];
  const sums = combine(terms, step.dims, ([x, y], [z, w], out) => {
    out[0] = (x as number) + (y as number);
    out[1] = (z as number) + (w as number);
  });
  return ctx.within({ ...sums, tiny: 1 }, "the sum can leave s32", WIDEN);
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
  for (let row = 0; row < result.low.length / n; row++) {
    // Rows of one matrix are often alike.
    if (row % step.k > 0 && isAsBefore(left.range, row * k, k)) {
      result.low.copyWithin(row * n, (row - 1) * n, row * n);
      result.high.copyWithin(row * n, (row - 1) * n, row * n);
    } else sumProducts(left.range, right.range, { row, other: Math.floor(row / step.k) * n, n, k }, result);
  }
  return ctx.within({ ...result, tiny: 1 }, what, WIDEN);
}

/** Of a row of a and each of the n rows of b from `other` on, k products each. */
function sumProducts(
  a: Range,
  b: Range,
  { row, other, n, k }: Readonly<Record<"row" | "other" | "n" | "k", number>>,
  result: { readonly low: Float64Array; readonly high: Float64Array },
): void {
  for (let column = 0; column < n; column++) {
    let [least, most] = [0, 0];
    for (let i = row * k, j = (other + column) * k; i < (row + 1) * k; i++, j++) {
      const al = a.low[i] as number;
      const ah = a.high[i] as number;
      const bl = b.low[j] as number;
      const bh = b.high[j] as number;
      const [w, x, y, z] = [al * bl, al * bh, ah * bl, ah * bh];
      least += Math.min(w, x, y, z);
      most += Math.max(w, x, y, z);
    }
    result.low[row * n + column] = least;
    result.high[row * n + column] = most;
  }
}

/** Of the product of an element of a and one of b. */
function interval(a: Range, i: number, b: Range, j: number): [low: number, high: number] {
  const [al, ah] = [a.low[i] as number, a.high[i] as number];
  const [bl, bh] = [b.low[j] as number, b.high[j] as number];
  const [w, x, y, z] = [al * bl, al * bh, ah * bl, ah * bh];
  return [Math.min(w, x, y, z), Math.max(w, x, y, z)];
}

/** The row of the element's group, and what is added; of DOT activations both rows. */
export function dotReads(form: ReadForm): ElementReads {
  if (isActivationDot(form.step)) return bothRows(form);
  const { dims, k: groups } = form.step;
  const n = lastDim(dims);
  const row = wholeRow(form, (element) => {
    const first = Math.floor(element / n) * groups;
    return first + Math.floor(((element % n) * groups) / n);
  });
  if (form.dims[2] === undefined) return row;
  return (element, visit) => {
    row(element, visit);
    visit(2, element, 1);
  };
}

/** No term with a factor that is always 0. In a step of too many products to look at each, the beginnings of both rows
 *  up to the last term whose first factor can be another number. */
function bothRows(form: ReadForm): ElementReads {
  const { dims, k: rowsOfMatrix } = form.step;
  const [n, length] = [lastDim(dims), lastDim(form.dims[0] as readonly number[])];
  const isLarge = elementCount(dims) * length > MAX_PRODUCTS;
  const leftZeros = alwaysZero(form, 0);
  const rightZeros = isLarge ? undefined : alwaysZero(form, 1);
  const stretchesOf = rowStretches(leftZeros, length, isLarge);
  return (element, visit) => {
    const row = Math.floor(element / n);
    const from = row * length;
    const other = (Math.floor(row / rowsOfMatrix) * n + (element % n)) * length;
    const found = stretchesOf(row);
    for (let i = 0; i < found.length; i += 2) {
      const end = found[i + 1] as number;
      for (let first = found[i] as number; first < end; ) {
        const next = rightZeros === undefined ? end : endOfStretch(rightZeros, other, first, end);
        if (next > first) {
          visit(0, from + first, next - first);
          visit(1, other + first, next - first);
        }
        // Where it ended before is a zero.
        first = next + 1;
      }
    }
  };
}

/** Where the elements of a row of operand a can be other than 0: the first of each stretch, and its end. The last row's
 *  are kept, as its elements come together.
 *  @param isOne one stretch from the row's beginning in place of several */
function rowStretches(
  zeros: Uint8Array | undefined,
  length: number,
  isOne: boolean,
): (row: number) => readonly number[] {
  let last = -1;
  let found: readonly number[] = [0, length];
  if (zeros === undefined) return () => found;
  return (row) => {
    if (row === last) return found;
    const made: number[] = [];
    for (let first = 0; first < length; ) {
      const end = endOfStretch(zeros, row * length, first, length);
      if (end > first) made.push(first, end);
      first = end + 1;
    }
    last = row;
    found = isOne && made.length > 0 ? [0, made.at(-1) as number] : made;
    return found;
  };
}

/** The first zero of a row that begins at `row`, from `first` on and before `end`; `end` where there is none. */
function endOfStretch(zeros: Uint8Array, row: number, first: number, end: number): number {
  let i = first;
  while (i < end && zeros[row + i] === 0) i++;
  return i;
}

/** 1 for each element that is always 0; undefined where none is known to be. */
function alwaysZero({ dims, zeros }: ReadForm, slot: Slot): Uint8Array | undefined {
  const known = zeros[slot];
  if (known === undefined || !known.includes(CAN_BE_ZERO)) return undefined;
  const count = elementCount(dims[slot] as readonly number[]);
  return Uint8Array.from({ length: count }, (_, i) => Number(zerosAt(known, i) === CAN_BE_ZERO));
}
