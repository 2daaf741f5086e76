import {
  broadcastMaps,
  CAN_BE_OTHER,
  CAN_BE_ZERO,
  type ElementReads,
  type ReadForm,
  zerosAt,
} from "./causality/reads.ts";
import type { StepRanges } from "./context.ts";
import { combine, gridOf, type Range } from "./range.ts";

/** Intervals of SELECT. @param most elements of which each has an interval of its own; default: as `combine` */
export function selectRange(ctx: StepRanges, most?: number): Range {
  const [condition, yes, no] = ctx.operands();
  if (condition === undefined || yes === undefined || no === undefined)
    throw new TypeError("SELECT has three operands");
  // By index: a mask has many elements, and taking lists apart would be most of the work.
  const chosen = (low: readonly number[], high: readonly number[], out: Float64Array): void => {
    const [isTrue, isFalse] = [(low[0] as number) > 0, high[0] === 0];
    const [yesLow, noLow] = [low[1] as number, low[2] as number];
    const [yesHigh, noHigh] = [high[1] as number, high[2] as number];
    out[0] = isTrue ? yesLow : isFalse ? noLow : Math.min(yesLow, noLow);
    out[1] = isTrue ? yesHigh : isFalse ? noHigh : Math.max(yesHigh, noHigh);
  };
  const result = combine([condition, yes, no], ctx.step.dims, chosen, most);
  const grid = Math.min(gridOf(yes.range), gridOf(no.range));
  return { ...result, grid, tiny: Math.min(yes.range.tiny, no.range.tiny) };
}

/** The condition, and the sides that it can take. */
export function selectReads(form: ReadForm): ElementReads {
  const [zeros] = form.zeros;
  const [condition, yes, no] = broadcastMaps(form);
  return (element, visit) => {
    const at = condition?.[element] as number;
    const can = zerosAt(zeros, at);
    visit(0, at, 1);
    if (can & CAN_BE_OTHER) visit(1, yes?.[element] as number, 1);
    if (can & CAN_BE_ZERO) visit(2, no?.[element] as number, 1);
  };
}
