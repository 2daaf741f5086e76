import { ratio } from "../opcodes/ratio.ts";
import { isNorm, isStep, lastDim, type TensorType } from "../program/form.ts";
import { checkDivisor, WIDEN } from "./arith.ts";
import type { ElementReads, ReadForm } from "./causality/reads.ts";
import type { StepRanges } from "./context.ts";
import { combine, highest, lowest, type Range, saturatedRange } from "./range.ts";

/** What the emitted file computes in 64 bits stays below it, with room to spare. */
const MOST = 2 ** 62;

/** Intervals of a ratio. Bytes saturate by definition. */
export const ratioRange = (ctx: StepRanges): Range => quotients(ctx, "b", ctx.step.dims, ctx.step.type);

/** Intervals of operand a times k, by a divisor a row: monotone in the element; in the divisor towards 0.
 *  @param by the operand that has the divisors @param dims in which a's elements are read */
export function quotients(ctx: StepRanges, by: "b" | "c", dims: readonly number[], type: TensorType): Range {
  const { k } = ctx.step;
  const [x, divisor] = [{ range: ctx.operand("a").range, dims }, ctx.operand(by)];
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
  if (isOfOwnLength(ctx, by)) {
    // No element is longer than its row: no quotient is above the multiplier.
    for (const i of result.low.keys()) {
      result.low[i] = Math.max(result.low[i] as number, -k);
      result.high[i] = Math.min(result.high[i] as number, k);
    }
  }
  if (type === "s32") return ctx.within({ ...result, tiny: 1 }, "the ratio can leave s32", WIDEN, "s32");
  return saturatedRange({ ...result, tiny: 1 }, type);
}

/** Whether rows are divided by their own norms. */
function isOfOwnLength({ model, step }: StepRanges, by: "b" | "c"): boolean {
  const operand = step[by];
  const divisor = isStep(operand) ? model.program.steps[operand] : undefined;
  return divisor !== undefined && isNorm(divisor) && divisor.a === step.a;
}

/** The element, and its row's divisor. */
export function ratioReads({ step: { dims } }: ReadForm): ElementReads {
  const length = lastDim(dims);
  return (element, visit) => {
    visit(0, element, 1);
    visit(1, Math.floor(element / length), 1);
  };
}
