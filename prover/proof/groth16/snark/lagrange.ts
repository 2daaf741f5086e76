/** Lagrange bases at a secret point, modulo the order of the scalar field. */
import { FIELD_ORDER } from "../r1cs.ts";

const mod = (value: bigint): bigint => {
  const rest = value % FIELD_ORDER;
  return rest < 0n ? rest + FIELD_ORDER : rest;
};

export function power(base: bigint, exponent: bigint): bigint {
  let [result, square] = [1n, mod(base)];
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % FIELD_ORDER;
    square = (square * square) % FIELD_ORDER;
  }
  return result;
}

/** @param value not 0 modulo the order */
export const inverse = (value: bigint): bigint => power(value, FIELD_ORDER - 2n);

/** The values at `tau` of the polynomials of degree below `size` that are 1 at one power of `root` and 0 at the
 *  others: `(tau^size − 1) / size · root^i / (tau − root^i)`.
 *  @param root primitive root of unity of order `size` @param tau not one of its powers */
export function lagrangeBasis(root: bigint, size: number, tau: bigint): bigint[] {
  const powers: bigint[] = [1n];
  for (let i = 1; i < size; i++) powers.push(((powers[i - 1] as bigint) * root) % FIELD_ORDER);
  const scale = (mod(power(tau, BigInt(size)) - 1n) * inverse(BigInt(size))) % FIELD_ORDER;
  const inverses = invertAll(powers.map((point) => mod(tau - point)));
  return powers.map((point, i) => (((point * scale) % FIELD_ORDER) * (inverses[i] as bigint)) % FIELD_ORDER);
}

/** One inversion for all. */
function invertAll(values: readonly bigint[]): bigint[] {
  const prefixes: bigint[] = [];
  let product = 1n;
  for (const value of values) {
    prefixes.push(product);
    product = (product * value) % FIELD_ORDER;
  }
  let rest = inverse(product);
  const inverses = new Array<bigint>(values.length);
  for (let i = values.length - 1; i >= 0; i--) {
    inverses[i] = (rest * (prefixes[i] as bigint)) % FIELD_ORDER;
    rest = (rest * (values[i] as bigint)) % FIELD_ORDER;
  }
  return inverses;
}
