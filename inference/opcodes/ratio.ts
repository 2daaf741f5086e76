import type { StepCheck } from "../program/check.ts";
import { elementCount, lastDim, rowCount, type Step } from "../program/form.ts";
import type { Kernel, PreparedOperand } from "./opcode.ts";
import { inChunks, unstored } from "./readers.ts";
import { saturateInto } from "./saturate.ts";

/** RESCALE ratio: each element times k, divided by the divisor of its row and rounded, halves up; a divisor below 1
 *  gives 0. Source: docs/EXACT.md, section 3. */

const [LEAST, MOST] = [-(2 ** 31), 2 ** 31 - 1];

/** Of numbers that follow one another, as s32. @param into as many */
export function ratios(
  into: Int32Array,
  numbers: { readonly data: Uint8Array | Int32Array; readonly from: number; readonly count: number },
  multiplier: number,
  divisor: number,
  offset = 0,
): void {
  const { data, from, count } = numbers;
  for (let i = 0; i < count; i++) {
    const number = ratio((data[from + i] as number) - offset, multiplier, divisor);
    into[i] = Math.max(LEAST, Math.min(MOST, number));
  }
}

/** Of the divisors, one for each row of the output, and of k. */
export function checkDivisors(check: StepCheck): void {
  const { step } = check;
  const divisors = check.plain("b", "s32");
  check.must(step.k >= 1, "k (multiplier)", step.k, ">= 1");
  if (divisors === undefined) return;
  const [count, rows] = [elementCount(divisors.dims), rowCount(step.dims)];
  check.must(count === rows, "elements of operand b", count, `${rows}, one a row`);
}

export function prepareRatio({ type, dims, k }: Step, { type: aType }: PreparedOperand): Kernel {
  const offset = aType === "s8" ? 128 : 0;
  const length = lastDim(dims);
  return inChunks(elementCount(dims), (out, at, a, b) => {
    const input = a as Uint8Array | Int32Array;
    const divisors = b as Int32Array;
    const numbers = unstored(out.length);
    for (let i = 0, row = Math.floor(at / length); i < out.length; row++) {
      const count = Math.min((row + 1) * length - at, out.length) - i;
      const part = numbers.subarray(i, i + count);
      ratios(part, { data: input, from: at + i, count }, k, divisors[row] as number, offset);
      i += count;
    }
    saturateInto(out, type, numbers);
  });
}

/** Below it a product leaves room for the divisor: the numerator is an integer below 2^53. */
const EXACT = 2 ** 52;

/** `⌊(2·x·M + d) / (2·d)⌋`, 0 of a divisor below 1; exact below 2^53 in size.
 *  @param x within s32 @param multiplier u32 @param divisor within s32 */
export function ratio(x: number, multiplier: number, divisor: number): number {
  if (divisor < 1) return 0;
  const product = 2 * x * multiplier;
  // The quotient n / m of integers, n below 2^53, is an integer or at least 1 / m away from one, which is more than its
  // rounding moves it: the double rounds down to the right integer.
  if (Math.abs(product) < EXACT) return Math.floor((product + divisor) / (2 * divisor));
  const numerator = 2n * BigInt(x) * BigInt(multiplier) + BigInt(divisor);
  const denominator = 2n * BigInt(divisor);
  const truncated = numerator / denominator;
  return Number(truncated * denominator > numerator ? truncated - 1n : truncated);
}
