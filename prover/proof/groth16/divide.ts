/** Division truncated toward zero, as ARITH div computes it. */
import { bit, bitsOf, isZero, product, sign, signBits } from "./bits.ts";
import type { Circuit } from "./circuit.ts";
import {
  bitLength,
  constant,
  extremes,
  floorDivide,
  type Int,
  isConstant,
  narrow,
  not,
  number,
  shifted,
  subtract,
  sum,
} from "./integer.ts";
import { evaluate, LinearSum, signed, wireOf } from "./linear.ts";

/** The quotient of n and d, truncated toward zero. First q and r with n = q·d + r and 0 ≤ r < d: there is one such
 *  pair, q being the quotient rounded down. Where n < 0 (then q < 0) and r ≠ 0, one is added.
 *  @param d at least 1 */
export function quotient(c: Circuit, n: Int, d: Int, what: string): Int {
  if (isConstant(d) && d.low === 1n) return n;
  if (isConstant(n) && isConstant(d)) return constant(n.low / d.low);
  const { floor, rest } = isConstant(d) && powerOf(d.low) ? shift(c, n, d.low, what) : divide(c, n, d, what);
  const [low, high] = extremes(n.low / d.low, n.low / d.high, n.high / d.low, n.high / d.high);
  const negative = not(sign(c, floor, `${what}: quotient`).positive);
  if (isConstant(negative) && negative.low === 0n) return narrow(floor, low, high);
  const whole = isZero(c, rest, `${what}: remainder`);
  const up = subtract(negative, product(c, negative, whole, `${what}: below 0 and whole`));
  return narrow(
    sum([
      [floor, 1n],
      [up, 1n],
    ]),
    low,
    high,
  );
}

const powerOf = (d: bigint): boolean => (d & (d - 1n)) === 0n;

interface Division {
  readonly floor: Int;
  readonly rest: Int;
}

function shift(c: Circuit, n: Int, d: bigint, what: string): Division {
  const places = bitLength(d) - 1;
  const q = { ...n, low: floorDivide(n.low, d), high: floorDivide(n.high, d) };
  const k = q.low < 0n ? signBits(q) : bitLength(q.high);
  const offset = q.low < 0n ? 1n << BigInt(k) : 0n;
  const length = places + k + (offset === 0n ? 0 : 1);
  const bits = bitsOf(c, shifted(n, offset * d), length, `${what} + 2^${places + k}`);
  const floor = shifted(number(bits, places), -offset);
  return { floor: narrow(floor, q.low, q.high), rest: number(bits, 0, places) };
}

function divide(c: Circuit, n: Int, d: Int, what: string): Division {
  const low = floorDivide(n.low, n.low < 0n ? d.low : d.high);
  const high = floorDivide(n.high, n.high < 0n ? d.high : d.low);
  const k = low < 0n ? signBits({ ...n, low, high }) : bitLength(high);
  const offset = low < 0n ? 1n << BigInt(k) : 0n;
  const [numerator, divisor] = [c.settle(n.linear), c.settle(d.linear)];
  const value = (values: readonly bigint[]): readonly [q: bigint, r: bigint] => {
    const [a, b] = [signed(evaluate(numerator, values)), signed(evaluate(divisor, values))];
    const q = b > 0n ? floorDivide(a, b) : 0n;
    return [q + offset, a - q * b];
  };
  const bits = (count: number, part: 0 | 1, name: string): Int[] =>
    c
      .booleans(
        count,
        (values, first) => {
          const x = value(values)[part];
          for (let i = 0; i < count; i++) values[first + i] = (x >> BigInt(i)) & 1n;
        },
        `${what}: ${name}`,
      )
      .map((wire) => bit(wireOf(wire)));
  const quotientBits = bits(k + (offset === 0n ? 0 : 1), 0, "quotient");
  const floor = narrow(shifted(number(quotientBits), -offset), low, high);
  const rest = narrow(number(bits(bitLength(d.high - 1n), 1, "remainder")), 0n, d.high - 1n);
  const left = new LinearSum().add(numerator).add(rest.linear, -1n).done();
  c.enforce(floor.linear, divisor, left, `${what}: quotient · divisor + remainder is the dividend`);
  bitsOf(c, subtract(shifted(d, -1n), rest), bitLength(d.high - 1n), `${what}: divisor - 1 - remainder`);
  return { floor, rest };
}
