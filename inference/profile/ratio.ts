import { ratio } from "../opcodes/ratio.ts";
import { isNorm, isStep, lastDim } from "../program/form.ts";
import { checkDivisor, WIDEN } from "./arith.ts";
import type { ElementReads, ReadForm } from "./causality/reads.ts";
import type { StepRanges } from "./context.ts";
import { combine, highest, LIMITS, lowest, type Range } from "./range.ts";

/** What the emitted file computes in 64 bits stays below it, with room to spare. */
const MOST = 2 ** 62;

/** Intervals of a ratio: monotone in the element; in the divisor towards 0. Bytes saturate by definition. */
export function ratioRange(ctx: StepRanges): Range {
  const { type, dims, k } = ctx.step;
  const [x, divisor] = [ctx.operand("a"), ctx.operand("b")];
  checkDivisor(ctx, divisor.range);
  const size = Math.max(-lowest(x.range), highest(x.range));
  const largest = 2 * size * k + highest(divisor.range);
  if (largest > MOST)
    ctx.problem("the numerator can leave 64 bits", -largest, largest, `at most ${MOST}`, WIDEN);
  // One divisor a row, whatever the operand's dims.
  const divisors = { range: divisor.range, dims: [...dims.slice(0, -1), 1] };
  const result = combine([x, divisors], dims, (lows, highs, out) => {
    const [low, least] = lows as [number, number];
    const [high, most] = highs as [number, number];
    out[0] = ratio(low, k, Math.max(1, low < 0 ? least : most));
    out[1] = ratio(high, k, Math.max(1, high < 0 ? most : least));
  });
  if (isOfOwnLength(ctx)) {
    // No element is longer than its row: no quotient is above the multiplier.
    for (const i of result.low.keys()) {
      result.low[i] = Math.max(result.low[i] as number, -k);
      result.high[i] = Math.min(result.high[i] as number, k);
    }
  }
  if (type === "s32") return ctx.within({ ...result, tiny: 1 }, "the ratio can leave s32", WIDEN);
  const [min, max] = LIMITS[type];
  const clamp = (value: number): number => Math.min(Math.max(value, min), max);
  return { low: result.low.map(clamp), high: result.high.map(clamp), tiny: 1 };
}

/** Whether rows are divided by their own norms. */
function isOfOwnLength({ model, step: { a, b } }: StepRanges): boolean {
  const divisor = isStep(b) ? model.program.steps[b] : undefined;
  return divisor !== undefined && isNorm(divisor) && divisor.a === a;
}

/** The element, and its row's divisor. */
export function ratioReads({ step: { dims } }: ReadForm): ElementReads {
  const length = lastDim(dims);
  return (element, visit) => {
    visit(0, element, 1);
    visit(1, Math.floor(element / length), 1);
  };
}
