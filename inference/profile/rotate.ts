import { S32_MAX, S32_MIN } from "../opcodes/rounding.ts";
import { elementCount } from "../program/form.ts";
import { broadcastMaps, type ElementReads, type ReadForm } from "./causality/reads.ts";
import type { RangedOperand, StepRanges } from "./context.ts";
import { broadcastIndex, hull, isUniform, MAX_INTERVALS, type Range, saturatedRange } from "./range.ts";

/** What the emitted file computes in 64 bits stays below it, with room to spare. */
const MOST = 2 ** 62;
/** Products below it are exact doubles, and so are sums of two. */
const EXACT = 2 ** 51;
const NARROW = "Clip the operands before this step, or turn by numbers of fewer bits.";
/** More than the sum of two products of s32 is off as a double. */
const INEXACTNESS = 2 ** 12;

/** Intervals of a rotation, pair by pair. What saturates does so by definition. */
export function rotateRange(ctx: StepRanges): Range {
  const { type, dims, k } = ctx.step;
  const [a, b] = [ctx.operand("a"), ctx.operand("b")];
  const count = elementCount(dims);
  const length = (isUniform(a.range) && isUniform(b.range)) || count > MAX_INTERVALS ? 2 : count;
  const [readA, readB] = [pairsOf(a, dims, length), pairsOf(b, dims, length)];
  const result = { low: new Float64Array(length), high: new Float64Array(length), tiny: 1 };
  const [half, unit] = [2 ** (k - 1), 2 ** k];
  let largest = 0;
  const set = (i: number, left: Interval, right: Interval): void => {
    const [low, high] = [left[0] + right[0], left[1] + right[1]];
    largest = Math.max(largest, -low, high);
    // Two products can be as far off as they are large and leave a small sum.
    const isExact = Math.max(-left[0], left[1], -right[0], right[1]) < EXACT;
    const margin = isExact ? 0 : INEXACTNESS;
    result.low[i] = nearest(low - margin, half, unit);
    result.high[i] = nearest(high + margin, half, unit);
  };
  for (let i = 0; i < length; i += 2) {
    const [x, y, c, s] = [readA(i), readA(i + 1), readB(i), readB(i + 1)];
    const [least, most] = products(y, s);
    set(i, products(x, c), [-most, -least]);
    set(i + 1, products(x, s), products(y, c));
  }
  if (largest + half > MOST)
    ctx.problem("the numerator can leave 64 bits", -largest, largest, `at most ${MOST}`, NARROW);
  return saturatedRange(length < count ? hull(result) : result, type);
}

type Interval = readonly [number, number];

const nearest = (value: number, half: number, unit: number): number =>
  Math.max(S32_MIN, Math.min(S32_MAX, Math.floor((value + half) / unit)));

function products([al, ah]: Interval, [bl, bh]: Interval): Interval {
  const [p, q, r, t] = [al * bl, al * bh, ah * bl, ah * bh];
  return [Math.min(p, q, r, t), Math.max(p, q, r, t)];
}

/** Intervals of an operand at the output's elements. @param length 2: those of all first elements and of all second ones */
function pairsOf(
  { range, dims }: RangedOperand,
  output: readonly number[],
  length: number,
): (element: number) => Interval {
  if (isUniform(range) || length < elementCount(output)) {
    const all = sides(range);
    return (element) => all[element % 2] as Interval;
  }
  const index = broadcastIndex(dims, output);
  const { low, high } = range;
  return (element) => {
    const at = index[element] as number;
    return [low[at] as number, high[at] as number];
  };
}

/** Of the first and of the second elements of all pairs. */
function sides({ low, high }: Range): readonly [Interval, Interval] {
  const of = (side: number): Interval => {
    let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let i = low.length === 1 ? 0 : side; i < low.length; i += 2) {
      least = Math.min(least, low[i] as number);
      most = Math.max(most, high[i] as number);
    }
    return [least, most];
  };
  return [of(0), of(1)];
}

/** The pair that the element is in, of both operands. */
export function rotateReads(form: ReadForm): ElementReads {
  const [a, b] = broadcastMaps(form) as [Int32Array, Int32Array];
  return (element, visit) => {
    const first = element - (element % 2);
    visit(0, a[first] as number, 2);
    visit(1, b[first] as number, 2);
  };
}
