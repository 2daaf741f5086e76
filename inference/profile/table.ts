import { sameElement } from "./causality/reads.ts";
import type { StepRanges } from "./context.ts";
import { combine, type Range } from "./range.ts";

/** Stored byte of a value of a one-byte type. */
const stored = (type: string, value: number): number => (type === "s8" ? value + 128 : value);

/** Intervals of TABLE. */
export function tableRange(ctx: StepRanges): Range {
  const { step } = ctx;
  const source = ctx.operand("a");
  const map = ctx.weight("b").bytes;
  const values = Array.from(map, (byte) => (step.type === "s8" ? byte - 128 : byte));
  ctx.areNumbers(step.type, values);
  const result = combine([source], step.dims, (low, high, out) => {
    let least = Number.POSITIVE_INFINITY;
    let most = Number.NEGATIVE_INFINITY;
    const end = stored(source.type, high[0] as number);
    for (let byte = stored(source.type, low[0] as number); byte <= end; byte++) {
      least = Math.min(least, values[byte] as number);
      most = Math.max(most, values[byte] as number);
    }
    out[0] = least;
    out[1] = most;
  });
  return { ...result, tiny: 1 };
}

export const tableReads = sameElement;
