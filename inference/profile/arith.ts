import { ARITH_VARIANTS, isRotate } from "../program/form.ts";
import { broadcastElements, type ElementReads, type ReadForm } from "./causality/reads.ts";
import type { RangedOperand, StepRanges } from "./context.ts";
import { combine, lowest, type Range, uniform } from "./range.ts";
import { rotateRange, rotateReads } from "./rotate.ts";

export const WIDEN = "Clip the operands before this step, or use smaller scales or weights.";

/** Intervals of ARITH. */
export function arithRange(ctx: StepRanges): Range {
  const { step } = ctx;
  if (isRotate(step)) return rotateRange(ctx);
  const name = ARITH_VARIANTS[step.variant];
  const operands = ctx.operands();
  if (name === "lt" || name === "le" || name === "eq") return uniform(0, 1);
  if (name === "div") checkDivisor(ctx, (operands[1] as RangedOperand).range);
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

/** Reports a divisor that can be below 1. */
export function checkDivisor(ctx: StepRanges, divisor: Range): void {
  const low = lowest(divisor);
  if (low >= 1) return;
  ctx.problem("the divisor can be below 1", low, low, "at least 1", "Take the maximum of the divisor and 1.");
}

/** The least and the largest of a function where both operands are at an end of their intervals. */
export function corners(out: Float64Array, w: number, x: number, y: number, z: number): void {
  out[0] = Math.min(w, x, y, z);
  out[1] = Math.max(w, x, y, z);
}

export const arithReads = (form: ReadForm): ElementReads =>
  isRotate(form.step) ? rotateReads(form) : broadcastElements(form);
