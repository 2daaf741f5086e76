import { elementCount, isNorm, lastDim, REDUCE_VARIANTS } from "../program/form.ts";
import { WIDEN } from "./arith.ts";
import { type ElementReads, type ReadForm, wholeRow } from "./causality/reads.ts";
import type { StepRanges } from "./context.ts";
import { empty, isUniform, type Range, uniform } from "./range.ts";

/** Intervals of REDUCE. */
export function reduceRange(ctx: StepRanges): Range {
  const { step } = ctx;
  const { range, dims } = ctx.operand("a");
  const length = lastDim(dims);
  if (isNorm(step)) return normRange(ctx, range, length);
  const name = REDUCE_VARIANTS[step.variant];
  if (isUniform(range) && elementCount(dims) > 1) {
    const times = name === "sum" ? length : 1;
    const [low, high] = [(range.low[0] as number) * times, (range.high[0] as number) * times];
    return ctx.within(uniform(low, high), "the sum can leave s32", WIDEN);
  }
  const result = empty(step.dims);
  const fold =
    name === "sum"
      ? (x: number, y: number) => x + y
      : name === "min"
        ? Math.min
        : (x: number, y: number) => Math.max(x, y);
  for (let row = 0; row < result.low.length; row++) {
    let low = range.low[row * length] as number;
    let high = range.high[row * length] as number;
    for (let i = row * length + 1; i < (row + 1) * length; i++) {
      low = fold(low, range.low[i] as number);
      high = fold(high, range.high[i] as number);
    }
    result.low[row] = low;
    result.high[row] = high;
  }
  return ctx.within({ ...result, tiny: 1 }, "the sum can leave s32", WIDEN);
}

/** Of a norm: the roots of the least and of the largest sum of squares. */
function normRange(ctx: StepRanges, range: Range, length: number): Range {
  const { step } = ctx;
  const what = "the norm can leave s32";
  const square = (i: number): readonly [number, number] => {
    const [low, high] = [range.low[i] as number, range.high[i] as number];
    const least = low > 0 ? low : Math.min(high, 0);
    return [least ** 2, Math.max(low ** 2, high ** 2)];
  };
  if (isUniform(range)) {
    const [least, most] = square(0);
    return ctx.within(
      uniform(rootBelow(length * least + step.k), rootAbove(length * most + step.k)),
      what,
      WIDEN,
    );
  }
  const result = empty(step.dims);
  for (let row = 0; row < result.low.length; row++) {
    let [least, most] = [step.k, step.k];
    for (let i = row * length; i < (row + 1) * length; i++) {
      const [low, high] = square(i);
      least += low;
      most += high;
    }
    result.low[row] = rootBelow(least);
    result.high[row] = rootAbove(most);
  }
  return ctx.within({ ...result, tiny: 1 }, what, WIDEN);
}

/** Doubles hold smaller sums exactly; the root of a larger one is less than 1 off. */
const EXACT = 2 ** 52;
const rootBelow = (sum: number): number => Math.floor(Math.sqrt(sum)) - (sum < EXACT ? 0 : 1);
const rootAbove = (sum: number): number => Math.floor(Math.sqrt(sum)) + (sum < EXACT ? 0 : 1);

/** The row. */
export const reduceReads = (form: ReadForm): ElementReads => wholeRow(form, (element) => element);
