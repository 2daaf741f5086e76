/** binary32 arithmetic on exact rationals: slow, without any floating point of the machine, so that it shares
 *  nothing with what it checks. Numbers are 32-bit patterns. A finite number is N · 2^-149 with an integer N. */
const NAN = 0x7fc00000;
const ONE = 1n << 149n;

const isNan = (x: number): boolean => (x & 0x7fffffff) > 0x7f800000;
const isInfinite = (x: number): boolean => (x & 0x7fffffff) === 0x7f800000;
const isNegative = (x: number): boolean => x >>> 31 === 1;
const infinity = (negative: boolean): number => (negative ? 0xff800000 : 0x7f800000);
const zero = (negative: boolean): number => (negative ? 0x80000000 : 0);

/** N of a finite number. */
export function units(x: number): bigint {
  const exponent = (x >>> 23) & 255;
  const fraction = BigInt(x & 0x7fffff);
  const size = exponent === 0 ? fraction : (fraction | 0x800000n) << BigInt(exponent - 1);
  return isNegative(x) ? -size : size;
}

const magnitude = (n: bigint): bigint => (n < 0n ? -n : n);

/** n / d to the nearest integer, half to even; n >= 0. */
function divideHalfEven(n: bigint, d: bigint): bigint {
  const [q, r] = [n / d, n % d];
  const twice = 2n * r;
  return twice > d || (twice === d && q % 2n === 1n) ? q + 1n : q;
}

/** Nearest binary32 of (n / d) · 2^-149, half to even. */
export function roundRatio(n: bigint, d: bigint, negativeZero = false): number {
  if (n === 0n) return zero(negativeZero);
  const negative = n < 0n;
  const size = magnitude(n);
  let shift = 0;
  while ((size / d) >> BigInt(24 + shift) > 0n) shift++;
  let mantissa = divideHalfEven(size, d << BigInt(shift));
  if (mantissa === 1n << 24n) {
    mantissa = 1n << 23n;
    shift++;
  }
  // Below 2^23 the number is subnormal and shift is 0: the bits are the mantissa itself.
  const bits = mantissa < 1n << 23n ? Number(mantissa) : (shift + 1) * 2 ** 23 + Number(mantissa & 0x7fffffn);
  return bits >= 0x7f800000 ? infinity(negative) : (bits | (negative ? 0x80000000 : 0)) >>> 0;
}

export function add(x: number, y: number): number {
  if (isNan(x) || isNan(y)) return NAN;
  if (isInfinite(x)) return isInfinite(y) && x !== y ? NAN : x;
  if (isInfinite(y)) return y;
  return roundRatio(units(x) + units(y), 1n, isNegative(x) && isNegative(y));
}

export const subtract = (x: number, y: number): number => add(x, isNan(y) ? y : (y ^ 0x80000000) >>> 0);

export function multiply(x: number, y: number): number {
  const negative = isNegative(x) !== isNegative(y);
  if (isNan(x) || isNan(y)) return NAN;
  if (isInfinite(x) || isInfinite(y)) {
    const [nx, ny] = [isInfinite(x) ? 1n : units(x), isInfinite(y) ? 1n : units(y)];
    return nx === 0n || ny === 0n ? NAN : infinity(negative);
  }
  return roundRatio(units(x) * units(y), ONE, negative);
}

export function divide(x: number, y: number): number {
  const negative = isNegative(x) !== isNegative(y);
  if (isNan(x) || isNan(y) || (isInfinite(x) && isInfinite(y))) return NAN;
  if (isInfinite(x)) return infinity(negative);
  if (isInfinite(y)) return zero(negative);
  const [nx, ny] = [units(x), units(y)];
  if (ny === 0n) return nx === 0n ? NAN : infinity(negative);
  const sign = ny < 0n ? -1n : 1n;
  return roundRatio(sign * nx * ONE, sign * ny, negative);
}

export function squareRoot(x: number): number {
  if (isNan(x)) return NAN;
  const n = isInfinite(x) ? 1n : units(x);
  if (n === 0n) return x;
  if (isNegative(x)) return NAN;
  if (isInfinite(x)) return x;
  // √(N · 2^-149) in units of 2^-149 is √(N · 2^149); 64 more bits and a sticky one decide every rounding.
  const square = n << (149n + 128n);
  const root = integerRoot(square);
  return roundRatio(2n * root + (root * root === square ? 0n : 1n), 1n << 65n);
}

function integerRoot(n: bigint): bigint {
  let low = 0n;
  let high = 1n << BigInt((n.toString(2).length / 2 + 1) | 0);
  while (low < high) {
    const middle = (low + high + 1n) >> 1n;
    if (middle * middle <= n) low = middle;
    else high = middle - 1n;
  }
  return low;
}

/** Nearest integer of a finite number, half to even. */
function roundToInteger(x: number): bigint {
  const n = units(x);
  const size = divideHalfEven(magnitude(n), ONE);
  return n < 0n ? -size : size;
}

export function round(x: number): number {
  if (isNan(x)) return NAN;
  return isInfinite(x) ? x : fromInteger(roundToInteger(x), isNegative(x));
}

export const fromInteger = (n: bigint, negativeZero = false): number => roundRatio(n * ONE, 1n, negativeZero);

/** −1, 0, 1, or undefined with a NaN. */
export function compare(x: number, y: number): number | undefined {
  if (isNan(x) || isNan(y)) return undefined;
  const key = (z: number): bigint => (isInfinite(z) ? (isNegative(z) ? -1n : 1n) << 400n : units(z));
  return key(x) < key(y) ? -1 : key(x) > key(y) ? 1 : 0;
}

export function extreme(x: number, y: number, sign: 1 | -1): number {
  const order = compare(x, y);
  if (order === undefined) return NAN;
  const chosen = order * sign >= 0 ? x : y;
  return chosen === 0x80000000 ? 0 : chosen;
}

const saturate32 = (n: bigint): bigint =>
  n > 2n ** 31n - 1n ? 2n ** 31n - 1n : n < -(2n ** 31n) ? -(2n ** 31n) : n;

/** Truncated toward zero and saturated to s32; NaN gives 0. */
export function truncate(x: number): bigint {
  if (isNan(x)) return 0n;
  if (isInfinite(x)) return saturate32(isNegative(x) ? -(1n << 40n) : 1n << 40n);
  return saturate32(units(x) / ONE);
}

/** Rounded half to even and saturated to s32; NaN gives 0. */
export function quantize(x: number): bigint {
  if (isNan(x)) return 0n;
  return isInfinite(x) ? truncate(x) : saturate32(roundToInteger(x));
}
