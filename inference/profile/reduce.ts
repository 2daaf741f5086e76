import { elementCount, lastDim, REDUCE_VARIANTS } from "../program/form.ts";
import { WIDEN } from "./arith.ts";
import type { StepRanges } from "./context.ts";
import { empty, isUniform, type Range, uniform } from "./range.ts";

/** Intervals of REDUCE. */
export function reduceRange(ctx: StepRanges): Range {
  const { step } = ctx;
  const { range, dims } = ctx.operand("a");
  const length = lastDim(dims);
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
