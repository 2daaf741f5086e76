import { numberDims } from "../opcodes/planes.ts";
import { shiftedSum } from "../opcodes/rounding.ts";
import { isPlanes, isRatio, lastDim, NONE } from "../program/form.ts";
import type { ChannelParameters } from "../program/weights.ts";
import { type ElementReads, type ReadForm, sameElement } from "./causality/reads.ts";
import { channelSums, checkForm, eachByChannel, SMALLER, spread } from "./channels.ts";
import type { StepRanges } from "./context.ts";
import { changedRange, planesRange, planesReads } from "./planes.ts";
import type { Range } from "./range.ts";
import { ratioRange, ratioReads } from "./ratio.ts";

/** Intervals of RESCALE. */
export function rescaleRange(ctx: StepRanges): Range {
  if (isRatio(ctx.step)) return ratioRange(ctx);
  const { step } = ctx;
  const { dims } = isPlanes(step) ? { dims: numberDims(step) } : ctx.operand("a");
  const numbers = step.c === NONE ? undefined : changedRange(ctx);
  const { sums, channels } = channelSums(ctx, numbers);
  const apply = (acc: number, channel: ChannelParameters): number => {
    checkForm(ctx, channel, [acc, acc], "integer");
    return Number(shiftedSum(acc, channel));
  };
  const [low, high] = [eachByChannel(sums.low, channels, apply), eachByChannel(sums.high, channels, apply)];
  const rescaled = { low, high, tiny: 1 };
  const result = ctx.within(
    spread(rescaled, dims, lastDim(dims)),
    "the result can leave s32",
    SMALLER,
    "s32",
  );
  return isPlanes(step) ? planesRange(step, result) : result;
}

export function rescaleReads(form: ReadForm): ElementReads {
  if (isRatio(form.step)) return ratioReads(form);
  return isPlanes(form.step) ? planesReads(form) : sameElement();
}
