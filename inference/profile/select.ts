import type { StepRanges } from "./context.ts";
import { combine, gridOf, type Range } from "./range.ts";

/** Intervals of SELECT. */
export function selectRange(ctx: StepRanges): Range {
  const [condition, yes, no] = ctx.operands();
  if (condition === undefined || yes === undefined || no === undefined)
    throw new TypeError("SELECT has three operands");
  const result = combine([condition, yes, no], ctx.step.dims, (low, high, out) => {
    const [cl = 0, yl = 0, nl = 0] = low;
    const [ch = 1, yh = 0, nh = 0] = high;
    out[0] = cl > 0 ? yl : ch === 0 ? nl : Math.min(yl, nl);
    out[1] = cl > 0 ? yh : ch === 0 ? nh : Math.max(yh, nh);
  });
  const grid = Math.min(gridOf(yes.range), gridOf(no.range));
  return { ...result, grid, tiny: Math.min(yes.range.tiny, no.range.tiny) };
}
