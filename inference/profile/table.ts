import { sameElement } from "./causality/reads.ts";
import type { StepRanges } from "./context.ts";
import { combine, type Range } from "./range.ts";

const BYTES = 256;

/** Stored byte of a value of a one-byte type. */
const stored = (type: string, value: number): number => (type === "s8" ? value + 128 : value);

/** Intervals of TABLE. */
export function tableRange(ctx: StepRanges): Range {
  const { step } = ctx;
  const source = ctx.operand("a");
  const map = ctx.weight("b").bytes;
  const values = Array.from(map, (byte) => (step.type === "s8" ? byte - 128 : byte));
  ctx.areNumbers(step.type, values);
  // Of 256 numbers there are few intervals, and elements are many.
  const found = new Map<number, readonly [low: number, high: number]>();
  const result = combine([source], step.dims, (low, high, out) => {
    const from = stored(source.type, low[0] as number);
    const to = stored(source.type, high[0] as number);
    const key = BYTES * from + to;
    let bounds = found.get(key);
    if (bounds === undefined) {
      const entries = values.slice(from, to + 1);
      bounds = [Math.min(...entries), Math.max(...entries)];
      found.set(key, bounds);
    }
    [out[0], out[1]] = bounds;
  });
  return { ...result, tiny: 1 };
}

export const tableReads = sameElement;
