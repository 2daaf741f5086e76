/** Bits of integers: range checks, signs, shifts and what is decided by them. */
import type { Circuit } from "./circuit.ts";
import {
  bitLength,
  constant,
  content,
  extremes,
  type Int,
  isConstant,
  narrow,
  not,
  number,
  scaled,
  shifted,
  subtract,
  sum,
} from "./integer.ts";
import { evaluate, invert, type Linear, LinearSum, NOTHING, ONE, wireOf } from "./linear.ts";

/** Longer combinations are not searched for bits. */
const MAX_TERMS = 64;

export const bit = (linear: Linear): Int => ({ linear, low: 0n, high: 1n });

/** The bits of x, least significant first: one boolean each and one equation, or none where x is a sum of booleans
 *  that are its bits already.
 *  @param x at least 0 @param length at least the bits of x.high @param what names x in notes */
export function bitsOf(c: Circuit, x: Int, length: number, what: string): Int[] {
  if (length === 1 && isBit(x)) return [x];
  const known = knownBits(c, x, length);
  if (known !== undefined) return known;
  const linear = c.settle(x.linear);
  const wires = c.booleans(
    length,
    (values, first) => {
      const value = evaluate(linear, values);
      for (let i = 0; i < length; i++) values[first + i] = (value >> BigInt(i)) & 1n;
    },
    what,
  );
  const equation = new LinearSum().add(linear);
  wires.forEach((wire, i) => {
    equation.addTerm(wire, -1n << BigInt(i));
  });
  c.enforceZero(equation.done(), `the bits are those of ${what}, which lies in 0..2^${length} - 1`);
  return wires.map((wire) => bit(wireOf(wire)));
}

function knownBits(c: Circuit, x: Int, length: number): Int[] | undefined {
  if (isConstant(x)) return Array.from({ length }, (_, i) => constant((x.low >> BigInt(i)) & 1n));
  if (x.opaque === true || x.linear.size > MAX_TERMS) return undefined;
  const bits = Array.from({ length }, () => constant(0));
  for (const [wire, coefficient] of x.linear) {
    const place = bitLength(coefficient) - 1;
    const fits = place >= 0 && place < length && coefficient === 1n << BigInt(place);
    if (!fits || !c.isBoolean(wire) || (bits[place] as Int).high !== 0n) return undefined;
    bits[place] = bit(wireOf(wire));
  }
  return bits;
}

/** x · y. The shorter one goes to the side of B, whose points are the dear ones. */
export function product(c: Circuit, x: Int, y: Int, what: string): Int {
  if (isConstant(x)) return scaled(y, x.low);
  if (isConstant(y)) return scaled(x, y.low);
  const [wide, slim] = x.linear.size < y.linear.size || x.high - x.low < y.high - y.low ? [y, x] : [x, y];
  const [low, high] = extremes(x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high);
  const boolean = isBit(x) && isBit(y);
  return { linear: c.multiply(wide.linear, slim.linear, what, boolean), low, high };
}

const isBit = (x: Int): boolean => x.low >= 0n && x.high <= 1n;

/** Whether x ≥ 0, and x itself in its shortest form. */
export function sign(c: Circuit, x: Int, what: string): { positive: Int; value: Int } {
  if (x.low >= 0n) return { positive: constant(1), value: x };
  if (x.high < 0n) return { positive: constant(0), value: x };
  const { factor, whole, rest } = content(x);
  const k = signBits(whole);
  const bits = bitsOf(c, shifted(whole, 1n << BigInt(k)), k + 1, `${what} + 2^${k}`);
  const value = sum([[number(bits), factor]], rest - (factor << BigInt(k)));
  const shorter = value.linear.size < c.settle(x.linear).size ? narrow(value, x.low, x.high) : x;
  return { positive: bits[k] as Int, value: shorter };
}

/** Least k with −2^k ≤ x < 2^k. */
export function signBits(x: Int): number {
  const below = x.low < 0n ? bitLength(-x.low - 1n) : 0;
  return Math.max(below, x.high > 0n ? bitLength(x.high) : 0);
}

/** condition ? yes : no. @param condition 0 or 1 */
export function choose(c: Circuit, condition: Int, yes: Int, no: Int, what: string): Int {
  if (isConstant(condition)) return condition.low === 1n ? yes : no;
  const chosen = sum([
    [product(c, subtract(yes, no), condition, what), 1n],
    [no, 1n],
  ]);
  return narrow(chosen, ...extremes(yes.low, no.low, yes.high, no.high));
}

export function maximum(c: Circuit, x: Int, y: Int, what: string): Int {
  if (x.low >= y.high) return x;
  if (y.low >= x.high) return y;
  const { positive, value } = sign(c, subtract(x, y), `${what}: difference`);
  const raised = sum([
    [product(c, value, positive, what), 1n],
    [y, 1n],
  ]);
  return narrow(raised, extremes(x.low, y.low)[1], extremes(x.high, y.high)[1]);
}

export function minimum(c: Circuit, x: Int, y: Int, what: string): Int {
  return scaled(maximum(c, scaled(x, -1n), scaled(y, -1n), what), -1n);
}

/** 1 where x = 0, else 0. The inverse that proves x ≠ 0 is 0 where x = 0: it is not free either. */
export function isZero(c: Circuit, x: Int, what: string): Int {
  if (x.low > 0n || x.high < 0n) return constant(0);
  if (isConstant(x)) return constant(1);
  if (x.low === 0n && x.high === 1n) return not(x);
  if (x.low === -1n && x.high === 0n) return shifted(x, 1n);
  const linear = c.settle(x.linear);
  const inverse = c.wires(1, (values, at) => {
    const value = evaluate(linear, values);
    values[at] = value === 0n ? 0n : invert(value);
  });
  const zero = c.wires(1, (values, at) => {
    values[at] = evaluate(linear, values) === 0n ? 1n : 0n;
  });
  const rest = new LinearSum().addTerm(ONE, 1n).addTerm(zero, -1n).done();
  c.enforce(linear, wireOf(inverse), rest, `${what} has an inverse unless it is 0`);
  c.enforce(linear, wireOf(zero), NOTHING, `only ${what} = 0 is marked as zero`);
  c.enforce(wireOf(inverse), wireOf(zero), NOTHING, `the inverse of ${what} = 0 is 0`);
  return bit(wireOf(zero));
}

/** Above this many bits an inverse is cheaper than a chain of products. */
const MAX_CHAIN = 4;

/** `start` where all bits are 0, else 0. */
export function noneOf(c: Circuit, bits: readonly Int[], start: Int, what: string): Int {
  if (bits.length > MAX_CHAIN) {
    const none = isZero(c, sum(bits.map((b) => [b, 1n] as const)), what);
    return product(c, none, start, what);
  }
  return bits.reduce((all, b) => product(c, all, not(b), what), start);
}

/** x >> shift, rounded down. */
export function shiftRight(c: Circuit, x: Int, shift: number, what: string): Int {
  const low = x.low >> BigInt(shift);
  const length = bitLength(x.high - (low << BigInt(shift)));
  if (length <= shift) return constant(low);
  if (shift === 0) return x;
  const bits = bitsOf(c, shifted(x, -(low << BigInt(shift))), length, what);
  return narrow(shifted(number(bits, shift), low), low, x.high >> BigInt(shift));
}
