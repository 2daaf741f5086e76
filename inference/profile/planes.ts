import { planeLength } from "../opcodes/planes.ts";
import { numberOf } from "../opcodes/rounding.ts";
import type { Step } from "../program/form.ts";
import { boundsAt, type ElementReads, type ReadForm } from "./causality/reads.ts";
import { empty, highest, lowest, type Range, uniform } from "./range.ts";

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

/** Intervals of the high byte and of the low one of what lies between two numbers. */
function planesOf(low: number, high: number): readonly [Bytes, Bytes] {
  const [least, most] = [numberOf(low), numberOf(high)];
  const ofHigh = [least >> 8, most >> 8] as const;
  return [ofHigh, ofHigh[0] === ofHigh[1] ? [least & 255, most & 255] : [0, 255]];
}

/** The number whose byte it is, and its row's divisor. */
export function planesReads({ step, dims: [, , divisors] }: ReadForm): ElementReads {
  const length = planeLength(step);
  return (element, visit) => {
    const row = Math.floor(element / (2 * length));
    visit(0, row * length + (element % length), 1);
    if (divisors !== undefined) visit(2, row, 1);
  };
}
