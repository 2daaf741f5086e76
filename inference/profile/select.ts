import { boundsAt, type ElementReads } from "./causality/reads.ts";
import type { StepRanges } from "./context.ts";
import { broadcastIndex, combine, gridOf, type Range } from "./range.ts";

/** Intervals of SELECT. @param most elements of which each has an interval of its own; default: as `combine` */
export function selectRange(ctx: StepRanges, most?: number): Range {
  const [condition, yes, no] = ctx.operands();
  if (condition === undefined || yes === undefined || no === undefined)
    throw new TypeError("SELECT has three operands");
  const chosen = (low: readonly number[], high: readonly number[], out: Float64Array): void => {
    const [cl = 0, yl = 0, nl = 0] = low;
    const [ch = 1, yh = 0, nh = 0] = high;
    out[0] = cl > 0 ? yl : ch === 0 ? nl : Math.min(yl, nl);
    out[1] = cl > 0 ? yh : ch === 0 ? nh : Math.max(yh, nh);
  };
  const result = combine([condition, yes, no], ctx.step.dims, chosen, most);
  const grid = Math.min(gridOf(yes.range), gridOf(no.range));
  return { ...result, grid, tiny: Math.min(yes.range.tiny, no.range.tiny) };
}

/** The condition, and the sides that it can take. */
export function selectReads(ctx: StepRanges): ElementReads {
  const { a, b, c, dims } = ctx.step;
  const { range } = ctx.operand("a");
  const [condition, yes, no] = ctx.operands().map((operand) => broadcastIndex(operand.dims, dims));
  return (element, visit) => {
    const at = condition?.[element] as number;
    const [low, high] = boundsAt(range, at);
    visit(a, at, 1);
    if (high !== 0) visit(b, yes?.[element] as number, 1);
    if (low <= 0) visit(c, no?.[element] as number, 1);
  };
}
