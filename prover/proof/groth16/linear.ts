/** Linear combinations of wires while a circuit is built. Wire 0 is the constant 1. Coefficients are integers: those
 *  of an `Int` stay as small as they are, those of field values are reduced. */
import { FIELD_ORDER, type LinearCombination } from "./r1cs.ts";

/** The wire that is always 1. */
export const ONE = 0;

/** Coefficient by wire, none of them 0. Wires below 0 are lanes of packed rows that nothing has split yet
 *  (packed.ts). */
export type Linear = ReadonlyMap<number, bigint>;

export const NOTHING: Linear = new Map();

/** Writes the values of the wires from `first` on, which earlier wires determine. */
export type Assign = (values: bigint[], first: number) => void;

export function constantOf(value: bigint): Linear {
  return value === 0n ? NOTHING : new Map([[ONE, value]]);
}

export const wireOf = (wire: number): Linear => new Map([[wire, 1n]]);

/** Adds up linear combinations. */
export class LinearSum {
  readonly #terms = new Map<number, bigint>();

  add(terms: Linear, factor = 1n): this {
    for (const [wire, coefficient] of terms) this.addTerm(wire, coefficient * factor);
    return this;
  }

  addTerm(wire: number, coefficient: bigint): this {
    const sum = (this.#terms.get(wire) ?? 0n) + coefficient;
    if (sum === 0n) this.#terms.delete(wire);
    else this.#terms.set(wire, sum);
    return this;
  }

  done(): Linear {
    return this.#terms;
  }
}

/** x modulo the field's order, from 0. */
export function reduce(x: bigint): bigint {
  const rest = x % FIELD_ORDER;
  return rest < 0n ? rest + FIELD_ORDER : rest;
}

/** The integer of least size that a field element stands for. */
export const signed = (x: bigint): bigint => (x > FIELD_ORDER >> 1n ? x - FIELD_ORDER : x);

/** Inverse of a field element. @param x not 0 modulo the field's order */
export function invert(x: bigint): bigint {
  let [a, b] = [reduce(x), FIELD_ORDER];
  let [u, v] = [1n, 0n];
  while (a !== 0n) {
    const q = b / a;
    [a, b] = [b - q * a, a];
    [u, v] = [v - q * u, u];
  }
  return reduce(v);
}

/** Value of a linear combination, from 0 to the field's order − 1. */
export function evaluate(terms: Linear, values: readonly bigint[]): bigint {
  let sum = 0n;
  for (const [wire, coefficient] of terms) {
    const value = values[wire] as bigint;
    if (value === 1n) sum += coefficient;
    else if (value !== 0n) sum += coefficient * value;
  }
  return reduce(sum);
}

/** The form of an R1CS: reduced, in order of the wires. */
export function toCombination(terms: Linear): LinearCombination {
  const reduced: [number, bigint][] = [];
  for (const [wire, coefficient] of terms) {
    const c = reduce(coefficient);
    if (c !== 0n) reduced.push([wire, c]);
  }
  return reduced.sort(([a], [b]) => a - b);
}
