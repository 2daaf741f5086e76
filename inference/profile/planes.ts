import { changedBy, divisorsOfRow, numberDims, planeLength } from "../opcodes/planes.ts";
import { numberOf } from "../opcodes/rounding.ts";
import type { Step } from "../program/form.ts";
import { corners, WIDEN } from "./arith.ts";
import { boundsAt, type ElementReads, type ReadForm } from "./causality/reads.ts";
import type { StepRanges } from "./context.ts";
import { combine, empty, highest, lowest, type Range, uniform } from "./range.ts";
import { quotients } from "./ratio.ts";

type Bytes = readonly [low: number, high: number];

/** Intervals of numbers of 16 bits as planes of bytes. @param rescaled intervals of what is clamped to 16 bits */
export function planesRange(step: Step, rescaled: Range): Range {
  const result = empty(step.dims);
  const length = planeLength(step);
  if (result.low.length === 1) {
    const [high, low] = planesOf(lowest(rescaled), highest(rescaled));
    return uniform(Math.min(high[0], low[0]), Math.max(high[1], low[1]));
  }
  for (let i = 0; i < result.low.length / 2; i++) {
    const [high, low] = planesOf(...boundsAt(rescaled, i));
    const at = 2 * (i - (i % length)) + (i % length);
    [result.low[at], result.high[at]] = high;
    [result.low[at + length], result.high[at + length]] = low;
  }
  return { ...result, tiny: 1 };
}

/** Intervals of what operand a's numbers are changed to by operand c. */
export function changedRange(ctx: StepRanges): Range {
  const { step } = ctx;
  const by = ctx.operand("c");
  const dims = numberDims(step);
  if (step.k !== 0) {
    const parts = divisorsOfRow(step, by.dims);
    return quotients(ctx, "c", [...dims.slice(0, -1), parts, planeLength(step) / parts], "s32");
  }
  const terms = [ctx.operand("a").range, by.range].map((range) => ({ range, dims }));
  const found = combine(terms, dims, ([al = 0, bl = 0], [ah = 0, bh = 0], out) => {
    corners(out, al * bl, al * bh, ah * bl, ah * bh);
  });
  return ctx.within({ ...found, tiny: 1 }, "the product can leave s32", WIDEN, "s32");
}

/** Intervals of the high byte and of the low one of what lies between two numbers. */
function planesOf(low: number, high: number): readonly [Bytes, Bytes] {
  const [least, most] = [numberOf(low), numberOf(high)];
  const ofHigh = [least >> 8, most >> 8] as const;
  return [ofHigh, ofHigh[0] === ofHigh[1] ? [least & 255, most & 255] : [0, 255]];
}

/** The number whose byte it is, and its factor or divisor. */
export function planesReads({ step, dims: [, , by] }: ReadForm): ElementReads {
  const length = planeLength(step);
  return (element, visit) => {
    const row = Math.floor(element / (2 * length));
    const index = element % length;
    visit(0, row * length + index, 1);
    if (by !== undefined) visit(2, changedBy(step, by, row, index), 1);
  };
}
