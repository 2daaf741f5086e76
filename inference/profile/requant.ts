import { lastDim } from "../program/form.ts";
import { channelSums, requantizedRange } from "./channels.ts";
import type { StepRanges } from "./context.ts";
import type { Range } from "./range.ts";

/** Intervals of REQUANT. */
export function requantRange(ctx: StepRanges): Range {
  const { sums, channels } = channelSums(ctx);
  return requantizedRange(ctx, sums, channels, lastDim(ctx.step.dims));
}
