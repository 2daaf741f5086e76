/** Intervals of ARITH, REDUCE, SELECT and TABLE. */

import { ARITH_VARIANTS, elementCount, lastDim, REDUCE_VARIANTS } from "../program/form.ts";
import type { StepRanges } from "./context.ts";
import { combine, empty, isUniform, lowest, type Range, uniform } from "./range.ts";

const WIDEN = "Clip the operands before this step, or use smaller scales or weights.";

export function arithRange(ctx: StepRanges): Range {
  const { step } = ctx;
  const name = ARITH_VARIANTS[step.variant];
  const operands = ctx.operands();
  if (name === "lt" || name === "le" || name === "eq") return uniform(0, 1);
  if (name === "div") {
    const divisor = (operands[1] as { range: Range }).range;
    const low = lowest(divisor);
    if (low < 1) {
      ctx.problem(
        "the divisor can be below 1",
        low,
        low,
        "at least 1",
        "Take the maximum of the divisor and 1.",
      );
    }
  }
  const result = combine(operands, step.dims, (low, high, out) => {
    const [al = 0, bl = 0] = low;
    const [ah = 0, bh = 0] = high;
    switch (name) {
      case "add":
        out[0] = al + bl;
        out[1] = ah + bh;
        break;
      case "sub":
        out[0] = al - bh;
        out[1] = ah - bl;
        break;
      case "mul":
        corners(out, al * bl, al * bh, ah * bl, ah * bh);
        break;
      case "div": {
        const least = Math.max(bl, 1);
        const most = Math.max(bh, 1);
        corners(out, al / least, al / most, ah / least, ah / most);
        out[0] = Math.trunc(out[0] as number);
        out[1] = Math.trunc(out[1] as number);
        break;
      }
      case "min":
        out[0] = Math.min(al, bl);
        out[1] = Math.min(ah, bh);
        break;
      case "max":
        out[0] = Math.max(al, bl);
        out[1] = Math.max(ah, bh);
        break;
      default:
        out[0] = al;
        out[1] = ah;
    }
  });
  const range = { ...result, tiny: 1 };
  return ctx.within(range, `the ${name === "cast" ? "cast value" : "result"} can leave ${step.type}`, WIDEN);
}

function corners(out: Float64Array, ...values: number[]): void {
  out[0] = Math.min(...values);
  out[1] = Math.max(...values);
}

export function reduceRange(ctx: StepRanges): Range {
  const { step } = ctx;
  const { range, dims } = ctx.operand("a");
  const length = lastDim(dims);
  const name = REDUCE_VARIANTS[step.variant];
  if (isUniform(range) && elementCount(dims) > 1) {
    const times = name === "sum" ? length : 1;
    const [low, high] = [(range.low[0] as number) * times, (range.high[0] as number) * times];
    return ctx.within(uniform(low, high), "the sum can leave s32", WIDEN);
  }
  const result = empty(step.dims);
  const fold =
    name === "sum"
      ? (x: number, y: number) => x + y
      : name === "min"
        ? Math.min
        : (x: number, y: number) => Math.max(x, y);
  for (let row = 0; row < result.low.length; row++) {
    let low = range.low[row * length] as number;
    let high = range.high[row * length] as number;
    for (let i = row * length + 1; i < (row + 1) * length; i++) {
      low = fold(low, range.low[i] as number);
      high = fold(high, range.high[i] as number);
    }
    result.low[row] = low;
    result.high[row] = high;
  }
  return ctx.within({ ...result, tiny: 1 }, "the sum can leave s32", WIDEN);
}

export function selectRange(ctx: StepRanges): Range {
  const [condition, yes, no] = ctx.operands();
  if (condition === undefined || yes === undefined || no === undefined)
    throw new TypeError("SELECT has three operands");
  const result = combine([condition, yes, no], ctx.step.dims, (low, high, out) => {
    const [cl = 0, yl = 0, nl = 0] = low;
    const [ch = 1, yh = 0, nh = 0] = high;
    out[0] = cl > 0 ? yl : ch === 0 ? nl : Math.min(yl, nl);
    out[1] = cl > 0 ? yh : ch === 0 ? nh : Math.max(yh, nh);
  });
  return { ...result, tiny: Math.min(yes.range.tiny, no.range.tiny) };
}

/** Stored byte of a value of a one-byte type. */
const stored = (type: string, value: number): number => (type === "s8" ? value + 128 : value);

export function tableRange(ctx: StepRanges): Range {
  const { step } = ctx;
  const source = ctx.operand("a");
  const map = ctx.weight("b").bytes;
  const values = Array.from(map, (byte) =>
    step.type === "s8" ? byte - 128 : step.type === "bool" ? Math.min(byte, 1) : byte,
  );
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
