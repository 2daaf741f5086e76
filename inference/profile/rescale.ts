import { shiftedSum } from "../opcodes/requantizer.ts";
import { isRatio, lastDim } from "../program/form.ts";
import type { ChannelParameters } from "../program/weights.ts";
import { channelSums, checkForm, SMALLER, spread } from "./channels.ts";
import type { StepRanges } from "./context.ts";
import type { Range } from "./range.ts";
import { ratioRange } from "./ratio.ts";

/** Intervals of RESCALE. */
export function rescaleRange(ctx: StepRanges): Range {
  if (isRatio(ctx.step)) return ratioRange(ctx);
  const { sums, channels } = channelSums(ctx);
  const apply = (acc: number, i: number): number => {
    const channel = channels[channels.length === 1 ? 0 : i % channels.length] as ChannelParameters;
    checkForm(ctx, channel, [acc, acc], "integer");
    return Number(shiftedSum(acc, channel));
  };
  const rescaled = { low: sums.low.map(apply), high: sums.high.map(apply), tiny: 1 };
  return ctx.within(
    spread(rescaled, ctx.step.dims, lastDim(ctx.step.dims)),
    "the result can leave s32",
    SMALLER,
  );
}
