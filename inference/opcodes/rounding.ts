import type { ChannelParameters } from "../program/weights.ts";

/** Adding and subtracting 1.5 · 2^52 rounds a double to an integer, half to even: the sum has no fraction bits. */
const INTEGER_ULP = 6_755_399_441_055_744;
export const S32_MIN = -(2 ** 31);
export const S32_MAX = 2 ** 31 - 1;

/** Nearest integer, half to even. Exact for every binary32 number; the result of -0.3 is +0. */
export const roundHalfEven = (x: number): number =>
  Math.abs(x) < 2 ** 31 ? x + INTEGER_ULP - INTEGER_ULP : x;

/** q of a quantization: nearest integer of a binary32 number, NaN gives 0, saturated to s32. */
export function quantum(x: number): number {
  if (x < 2 ** 31 && x > -(2 ** 31)) return x + INTEGER_ULP - INTEGER_ULP;
  if (Number.isNaN(x)) return 0;
  const q = roundHalfEven(x);
  return q < S32_MIN ? S32_MIN : Math.min(q, S32_MAX);
}

/** `(acc·M + B) >> S` for every content: modulo 2^64 as signed, S modulo 64, arithmetic shift. */
export function shiftedSum(
  acc: number,
  { multiplier, addend, shift }: Pick<ChannelParameters, "multiplier" | "addend" | "shift">,
): bigint {
  return BigInt.asIntN(64, BigInt(acc) * BigInt(multiplier) + addend) >> BigInt(shift & 63);
}

/** What DOT rescaled makes of a shifted sum: `-2^u` to `2^u - 1`, u being the upper clamp modulo 32. */
export function limited(shifted: bigint, upper: number): number {
  const limit = 1n << BigInt(upper & 31);
  if (shifted < -limit) return Number(-limit);
  return Number(shifted < limit ? shifted : limit - 1n);
}

/** Most of 16 bits. */
export const MOST_NUMBER = 65_535;

/** The number of 16 bits of RESCALE planes. @param rescaled what RESCALE makes of the element, within s32 */
export const numberOf = (rescaled: number): number => Math.max(0, Math.min(MOST_NUMBER, rescaled));
