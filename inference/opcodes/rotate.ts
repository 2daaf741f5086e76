import type { StepCheck } from "../program/check.ts";
import { elementCount, lastDim, type Step } from "../program/form.ts";
import type { Kernel, PreparedOperand } from "./opcode.ts";
import { inChunks, integerReader, unstored } from "./readers.ts";
import { S32_MAX, S32_MIN } from "./rounding.ts";
import { saturateInto } from "./saturate.ts";

/** ARITH rotate: pairs of neighbours (x, y) of a, as complex numbers, times those (c, s) of b, by 2^k, rounded, halves up,
 *  and saturated. Source: docs/EXACT.md, section 3. */

export function prepareRotate(
  { type, dims, k }: Step,
  [a, b]: readonly [PreparedOperand, PreparedOperand],
): Kernel {
  const [readA, readB] = [integerReader(dims, a, 0), integerReader(dims, b, 1)];
  // Rows and chunks are even, so a part begins with a pair's first element.
  return inChunks(elementCount(dims), (out, at, left, right) => {
    const found = unstored(out.length);
    rotateInto(found, readA(left, at, out.length), readB(right, at, out.length), k);
    saturateInto(out, type, found);
  });
}

/** Pairs of numbers by pairs of turns, as s32. */
function rotateInto(found: Int32Array, numbers: Int32Array, turns: Int32Array, k: number): void {
  const half = 2 ** (k - 1);
  const unit = 2 ** k;
  for (let i = 0; i < found.length; i += 2) {
    const x = numbers[i] as number;
    const y = numbers[i + 1] as number;
    const c = turns[i] as number;
    const s = turns[i + 1] as number;
    const first = x * c - y * s;
    const second = x * s + y * c;
    if (isExact(x * c) && isExact(y * s) && isExact(x * s) && isExact(y * c)) {
      found[i] = saturated(Math.floor((first + half) / unit));
      found[i + 1] = saturated(Math.floor((second + half) / unit));
    } else {
      found[i] = sumOfProducts(x, c, -y, s, k);
      found[i + 1] = sumOfProducts(x, s, y, c, k);
    }
  }
}

/** Below it two products, and a half beside their sum, are exact doubles. */
const EXACT = 2 ** 51;
const isExact = (product: number): boolean => product < EXACT && product > -EXACT;

const saturated = (value: number): number => Math.max(S32_MIN, Math.min(S32_MAX, value));

/** `(x·c + y·s) / 2^k` to the nearest s32, halves up. @param y -2^31 to 2^31, the others within s32 */
function sumOfProducts(x: number, c: number, y: number, s: number, k: number): number {
  const value = BigInt(x) * BigInt(c) + BigInt(y) * BigInt(s);
  return saturated(Number((2n * value + (1n << BigInt(k))) >> BigInt(k + 1)));
}

/** One element, within s32. @param first whether it is the first one of its pair */
export const rotated = (
  [x, y]: readonly [number, number],
  [c, s]: readonly [number, number],
  k: number,
  first: boolean,
): number => (first ? sumOfProducts(x, c, -y, s, k) : sumOfProducts(x, s, y, c, k));

/** Most bits that a result is shifted by. */
const MOST_SHIFT = 31;

export function rotateRules(check: StepCheck): void {
  const { step } = check;
  const length = lastDim(step.dims);
  check.type("u8", "s8", "s32");
  check.must(length % 2 === 0, "last dim", length, "an even number");
  for (const name of ["a", "b"] as const) {
    const operand = check.plain(name, "s32");
    check.broadcasts(name, operand);
    if (operand !== undefined)
      check.must(
        lastDim(operand.dims) === length,
        `last dim of operand ${name}`,
        lastDim(operand.dims),
        `${length}`,
      );
  }
  check.none("c");
  check.must(step.k <= MOST_SHIFT, "k (shift)", step.k, `0..${MOST_SHIFT}`);
}
