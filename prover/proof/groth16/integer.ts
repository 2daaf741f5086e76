/** Integers inside a circuit: linear combinations of wires with proven bounds. */
import { constantOf, type Linear, LinearSum, ONE } from "./linear.ts";

/** A linear combination whose value is an integer from low to high, as every input that the codec can give and the
 *  constraints make it. The bounds lie far below the field's order: field and integer arithmetic are the same. */
export interface Int {
  readonly linear: Linear;
  readonly low: bigint;
  readonly high: bigint;
  /** The linear combination is too long to be looked into, or not kept by a circuit that only counts. */
  readonly opaque?: true;
}

export function constant(value: bigint | number): Int {
  const exact = BigInt(value);
  return { linear: constantOf(exact), low: exact, high: exact };
}

export const isConstant = (x: Int): boolean => x.low === x.high;

const int = (linear: Linear, low: bigint, high: bigint, opaque: boolean): Int =>
  low === high ? constant(low) : opaque ? { linear, low, high, opaque } : { linear, low, high };

/** The same integer with what is also known of its bounds. */
export function narrow(x: Int, low: bigint, high: bigint): Int {
  if (low <= x.low && high >= x.high) return x;
  return int(x.linear, extremes(low, x.low)[1], extremes(high, x.high)[0], x.opaque === true);
}

/** Σ factor · x + offset. */
export function sum(parts: Iterable<readonly [x: Int, factor: bigint]>, offset = 0n): Int {
  const linear = new LinearSum().add(constantOf(offset));
  let [low, high, opaque] = [offset, offset, false];
  for (const [x, factor] of parts) {
    if (factor === 0n) continue;
    linear.add(x.linear, factor);
    low += factor * (factor > 0n ? x.low : x.high);
    high += factor * (factor > 0n ? x.high : x.low);
    if (x.opaque === true) opaque = true;
  }
  return int(linear.done(), low, high, opaque);
}

export const add = (x: Int, y: Int): Int =>
  sum([
    [x, 1n],
    [y, 1n],
  ]);
export const subtract = (x: Int, y: Int): Int =>
  sum([
    [x, 1n],
    [y, -1n],
  ]);
export const shifted = (x: Int, offset: bigint): Int => sum([[x, 1n]], offset);
export const scaled = (x: Int, factor: bigint): Int => sum([[x, factor]]);
/** 1 − x. */
export const not = (x: Int): Int => sum([[x, -1n]], 1n);

/** Σ 2^i · bits[i], over bits from..to − 1. */
export function number(bits: readonly Int[], from = 0, to = bits.length): Int {
  return sum(bits.slice(from, to).map((bit, i) => [bit, 1n << BigInt(i)] as const));
}

/** x = factor · whole + rest with the largest factor that all wires' coefficients share; 0 ≤ rest < factor. */
export function content(x: Int): { factor: bigint; whole: Int; rest: bigint } {
  const unit = { factor: 1n, whole: x, rest: 0n };
  if (x.opaque === true) return unit;
  let factor = 0n;
  for (const [wire, coefficient] of x.linear) if (wire !== ONE) factor = gcd(factor, coefficient);
  if (factor <= 1n) return unit;
  const offset = x.linear.get(ONE) ?? 0n;
  const rest = offset - factor * floorDivide(offset, factor);
  const linear = new LinearSum();
  for (const [wire, c] of x.linear) linear.addTerm(wire, (wire === ONE ? c - rest : c) / factor);
  const low = -floorDivide(rest - x.low, factor);
  return { factor, whole: { linear: linear.done(), low, high: floorDivide(x.high - rest, factor) }, rest };
}

/** Quotient rounded down. @param b above 0 */
export const floorDivide = (a: bigint, b: bigint): bigint => (a >= 0n ? a / b : -((b - 1n - a) / b));

function gcd(a: bigint, b: bigint): bigint {
  if (b < 0n) b = -b;
  while (b !== 0n) [a, b] = [b, a % b];
  return a;
}

/** Least and largest of some integers. */
export function extremes(first: bigint, ...others: bigint[]): [low: bigint, high: bigint] {
  let [low, high] = [first, first];
  for (const x of others) {
    if (x < low) low = x;
    if (x > high) high = x;
  }
  return [low, high];
}

/** Number of bits of x ≥ 0. */
export const bitLength = (x: bigint): number => (x === 0n ? 0 : x.toString(2).length);
