/** Intervals of FLOAT. Rounding is monotone, so the rounded corners bound every rounded result. */

import { FLOAT_VARIANTS } from "../program/form.ts";
import { broadcastElements } from "./causality/reads.ts";
import type { RangedOperand, StepRanges } from "./context.ts";
import {
  combine,
  gridAbove,
  gridOf,
  highest,
  LIMITS,
  lowest,
  type Range,
  SMALLEST_NORMAL,
  uniform,
} from "./range.ts";

const f = Math.fround;
const SAFER = "Quantize earlier, or clip the operands so that this cannot happen.";

/** How near to 0 a sum can be that is not 0. Both terms are multiples of the finer grid. Besides, a term below half of
 *  the other's least size leaves at least that half, and from there on both are multiples of the grid of that half. */
const sumTiny = (a: number, b: number): number =>
  Math.max(gridAbove(Math.min(a, b)), Math.min(a, b, gridAbove(Math.max(a, b) / 2)));

function roundEven(x: number): number {
  const floor = Math.floor(x);
  const rest = x - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor;
}

/** To s32. */
function saturated(x: number): number {
  const [min, max] = LIMITS.s32;
  return Math.min(Math.max(x, min), max);
}

export function floatRange(ctx: StepRanges): Range {
  const { step } = ctx;
  const name = FLOAT_VARIANTS[step.variant] as (typeof FLOAT_VARIANTS)[number];
  if (name === "lt" || name === "le" || name === "eq") return uniform(0, 1);
  const operands = ctx.operands();
  guard(ctx, name, operands);
  const isSquare = name === "mul" && step.a === step.b;
  const result = combine(operands, step.dims, (low, high, out) =>
    isSquare ? squares(low, high, out) : corners(name, low, high, out),
  );
  const grid = gridAfter(name, operands);
  const range: Range = { ...result, grid, tiny: Math.max(tinyOf(name, operands), distance(result), grid) };
  switch (name) {
    case "toint":
      return ctx.within({ ...range, tiny: 1 }, `the cast value can leave ${step.type}`, SAFER);
    case "quant": {
      const [min, max] = LIMITS[step.type];
      const clamp = (v: number): number => Math.min(Math.max(v, min), max);
      return { low: range.low.map(clamp), high: range.high.map(clamp), tiny: 1 };
    }
    default:
      return finite(ctx, range);
  }
}

/** How far all elements are from 0, on either side of it; 0 where they can be 0. */
const distance = (range: Pick<Range, "low" | "high">): number => {
  const [low, high] = [lowest({ ...range, tiny: 1 }), highest({ ...range, tiny: 1 })];
  return low > 0 ? low : high < 0 ? -high : 0;
};

/** True where no two operands cancel: a sum is then at least as far from 0 as each of its terms. */
const isOneSided = (name: string, operands: readonly RangedOperand[]): boolean => {
  const sides = operands.map(({ range }, i) => {
    const sign = name === "sub" && i === 1 ? -1 : 1;
    return [
      Math.min(sign * lowest(range), sign * highest(range)),
      Math.max(sign * lowest(range), sign * highest(range)),
    ];
  });
  return sides.every(([low = 0]) => low >= 0) || sides.every(([, high = 0]) => high <= 0);
};

function finite(ctx: StepRanges, range: Range): Range {
  const checked = ctx.within(range, "the result can be infinite or not a number", SAFER);
  if (checked.tiny < SMALLEST_NORMAL) {
    ctx.problem(
      "the result can be subnormal",
      checked.tiny,
      checked.tiny,
      "0, or 2^-126 and above in size",
      SAFER,
    );
    return { ...checked, tiny: SMALLEST_NORMAL, grid: 0 };
  }
  return checked;
}

/** Operands for which the operation has no finite result. */
function guard(ctx: StepRanges, name: string, operands: readonly RangedOperand[]): void {
  const divisor = operands[1]?.range;
  if ((name === "div" || name === "dequant" || name === "quant") && divisor !== undefined) {
    const [low, high] = [lowest(divisor), highest(divisor)];
    if (name !== "dequant" && low <= 0 && high >= 0) {
      ctx.problem(
        "the divisor can be 0",
        low,
        high,
        "an interval without 0",
        "Take the maximum with a positive number.",
      );
    }
  }
  const [minuend, , subtrahend] = operands;
  if (name === "dequant" && minuend !== undefined && subtrahend !== undefined) {
    const low = lowest(minuend.range) - highest(subtrahend.range);
    const high = highest(minuend.range) - lowest(subtrahend.range);
    const [min, max] = LIMITS.s32;
    if (low < min || high > max)
      ctx.problem("the value less its zero point can leave s32", low, high, `s32: ${min} to ${max}`, SAFER);
  }
  const radicand = operands[0]?.range;
  if (name === "sqrt" && radicand !== undefined && lowest(radicand) < 0) {
    const low = lowest(radicand);
    ctx.problem(
      "the square root of a negative number",
      low,
      highest(radicand),
      "at least 0",
      "Take the maximum with 0.",
    );
  }
}

function tinyOf(name: string, operands: readonly RangedOperand[]): number {
  const [a, b] = operands.map((o) => o.range.tiny);
  const size = (o: RangedOperand | undefined): number =>
    o === undefined ? 1 : Math.max(Math.abs(lowest(o.range)), Math.abs(highest(o.range)), SMALLEST_NORMAL);
  switch (name) {
    case "add":
    case "sub":
      if (isOneSided(name, operands)) return Math.min(a ?? 1, b ?? 1);
      return sumTiny(a ?? 1, b ?? 1);
    case "mul":
      return f((a ?? 1) * (b ?? 1));
    case "div":
      return f((a ?? 1) / size(operands[1]));
    case "dequant":
      return b ?? 1;
    case "sqrt":
      return f(Math.sqrt(a ?? 1));
    case "min":
    case "max":
      return Math.min(a ?? 1, b ?? 1);
    default:
      return 1;
  }
}

/** What every result is a multiple of: rounding keeps multiples of a power of two, as long as they are not subnormal. */
function gridAfter(name: string, operands: readonly RangedOperand[]): number {
  const [a = 1, b = 1] = operands.map(({ type, range }) => (type === "f32" ? gridOf(range) : 1));
  switch (name) {
    case "add":
    case "sub":
    case "min":
    case "max":
      return Math.min(a, b);
    case "mul":
    case "dequant":
      return a * b;
    case "round":
      return Math.max(a, 1);
    case "tofloat":
      return 1;
    default:
      return 0;
  }
}

/** Bounds of a number times itself. */
function squares([low = 0]: readonly number[], [high = 0]: readonly number[], out: Float64Array): void {
  const [a, b] = [f(low * low), f(high * high)];
  out[0] = low <= 0 && high >= 0 ? 0 : Math.min(a, b);
  out[1] = Math.max(a, b);
}

/** Bounds of one element, written to `out`. */
function corners(name: string, low: readonly number[], high: readonly number[], out: Float64Array): void {
  const values = cornerValues(name, low, high);
  out[0] = Math.min(...values);
  out[1] = Math.max(...values);
}

function cornerValues(name: string, low: readonly number[], high: readonly number[]): number[] {
  const [al = 0, bl = 0, cl = 0] = low;
  const [ah = 0, bh = 0, ch = 0] = high;
  switch (name) {
    case "add":
      return [f(al + bl), f(ah + bh)];
    case "sub":
      return [f(al - bh), f(ah - bl)];
    case "mul":
      return [f(al * bl), f(al * bh), f(ah * bl), f(ah * bh)];
    case "div":
      return [f(al / bl), f(al / bh), f(ah / bl), f(ah / bh)];
    case "sqrt":
      return [f(Math.sqrt(Math.max(al, 0))), f(Math.sqrt(Math.max(ah, 0)))];
    case "round":
      return [roundEven(al), roundEven(ah)];
    case "min":
      return [Math.min(al, bl), Math.min(ah, bh)];
    case "max":
      return [Math.max(al, bl), Math.max(ah, bh)];
    case "tofloat":
      return [f(al), f(ah)];
    case "toint":
      return [Math.trunc(al), Math.trunc(ah)];
    case "dequant": {
      const [least, most] = [f(al - ch), f(ah - cl)];
      return [f(least * bl), f(least * bh), f(most * bl), f(most * bh)];
    }
    default: {
      const parts = [f(al / bl), f(al / bh), f(ah / bl), f(ah / bh)].map((v) => saturated(roundEven(v)));
      return [Math.min(...parts) + cl, Math.max(...parts) + ch];
    }
  }
}

export const floatReads = broadcastElements;
