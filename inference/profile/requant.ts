import { lastDim } from "../program/form.ts";
import { sameElement } from "./causality/reads.ts";
import { channelSums, requantizedRange } from "./channels.ts";
import type { StepRanges } from "./context.ts";
import type { Range } from "./range.ts";

/** Intervals of REQUANT. */
export function requantRange(ctx: StepRanges): Range {
  const { sums, channels } = channelSums(ctx);
  return requantizedRange(ctx, sums, channels, lastDim(ctx.step.dims));
}

export const requantReads = sameElement;
