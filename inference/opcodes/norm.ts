import { lastDim, type Step, type TensorType } from "../program/form.ts";
import type { Kernel, PreparedOperand } from "./opcode.ts";

/** REDUCE norm: `min(⌊√(Σ x² + k)⌋, 2^31 − 1)` of each row, exactly. Source: docs/EXACT.md, section 3. */

export const MAX_NORM_BYTES = 8192;
const LARGEST = 2 ** 31 - 1;

export function prepareNorm({ k }: Step, { type, dims }: PreparedOperand): Kernel {
  const length = lastDim(dims);
  return (out, a, _b, _c, from = 0, to = out.length) => {
    for (let row = from; row < to; row++) {
      out[row] = norm(a as Uint8Array | Int32Array, type, row * length, length, k);
    }
  };
}

/** An x is 65,536·h + l, so that x² has three parts, and the sums of 8,192 of each are integers below 2^53. */
function norm(
  data: Uint8Array | Int32Array,
  type: TensorType,
  from: number,
  length: number,
  k: number,
): number {
  const offset = type === "s8" ? 128 : 0;
  let high = 0;
  let middle = 0;
  let low = 0;
  for (let i = from; i < from + length; i++) {
    const x = (data[i] as number) - offset;
    const h = x >> 16;
    const l = x & 0xffff;
    high += h * h;
    middle += h * l;
    low += l * l;
  }
  const total = (BigInt(high) << 32n) + (BigInt(middle) << 17n) + BigInt(low) + BigInt(k);
  return cappedRoot(total);
}

/** `min(⌊√total⌋, 2^31 − 1)`. @param total at least 0 */
export function cappedRoot(total: bigint): number {
  if (total >= 1n << 62n) return LARGEST;
  // Of a total below 2^62 the double is at most one off.
  let root = BigInt(Math.floor(Math.sqrt(Number(total))));
  while (root * root > total) root--;
  while ((root + 1n) * (root + 1n) <= total) root++;
  return Number(root);
}
