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
