/** Functions of a few bits, given by the table of their values: what a look-up in a constant table is. */
import type { Circuit } from "./circuit.ts";
import { constantOf, invert, type Linear, LinearSum, reduce } from "./linear.ts";

/** A function of the low bits, as coefficients of their monomials: entry m belongs to the product of the bits in m. */
type Coefficients = readonly bigint[];

/** A function whose coefficient of the product of all high bits is 1: `(top high bit + shift) · factor + rest`.
 *  Without a factor: `lowest high bit + shift`. */
interface Monic {
  readonly shift: Coefficients;
  readonly factor?: Monic;
  readonly rest?: Monic;
}

/** How a table is computed from its bits: every function of the low bits is a linear combination of their monomials,
 *  and the high bits are divided off one by one, which takes one product for two values of the high bits. */
export interface TableForm {
  readonly bits: number;
  readonly low: number;
  /** Leading coefficient, a function of the low bits; `scaled` where it is nowhere 0 and was divided off, else it is
   *  one more than what has to be added times the product of all high bits. */
  readonly lead: Coefficients;
  readonly scaled: boolean;
  readonly monic?: Monic;
}

/** Products that a form takes besides the monomials of the low bits. */
export function productsOf({ bits, low, scaled }: TableForm): number {
  const high = bits - low;
  if (high === 0) return 0;
  return 2 ** (high - 1) - 1 + (scaled ? 1 : high);
}

/** Coefficients of A and B in those products. */
export function coefficientsOf({ bits, low, lead, scaled, monic }: TableForm): number {
  if (monic === undefined) return 0;
  const terms = (c: Coefficients): number => c.filter((x) => x !== 0n).length;
  const of = (node: Monic): { size: number; inside: number } => {
    const left = terms(node.shift) + 1;
    if (node.factor === undefined || node.rest === undefined) return { size: left, inside: 0 };
    const [factor, rest] = [of(node.factor), of(node.rest)];
    return { size: rest.size + 1, inside: left + factor.size + factor.inside + rest.inside };
  };
  const { size, inside } = of(monic);
  return inside + terms(lead) + (scaled ? size : 1 + 2 * (bits - low - 1));
}

/** Products of all monomials of `low` bits. */
export const monomialProducts = (low: number): number => 2 ** low - low - 1;

/** Low bits for which `tables` look-ups by the same index of `bits` bits take fewest products. */
export function bestLow(bits: number, tables: number): number {
  const cost = (low: number): number =>
    monomialProducts(low) + tables * (low === bits ? 0 : 2 ** (bits - low - 1));
  return Array.from({ length: bits + 1 }, (_, low) => low).reduce((a, b) => (cost(b) < cost(a) ? b : a));
}

/** @param values 2^bits field elements by index @param low how many of the index's bits are low ones */
export function tableForm(values: readonly bigint[], bits: number, low: number): TableForm {
  const span = 2 ** low;
  // polynomial[h][l]: coefficient of the monomial h of the high bits at the value l of the low ones.
  const polynomial = Array.from({ length: 2 ** (bits - low) }, (_, h) =>
    values.slice(h * span, (h + 1) * span).map(reduce),
  );
  toMonomials(polynomial, (a, b) => a.map((x, l) => reduce(x - (b[l] as bigint))));
  const leading = polynomial[polynomial.length - 1] as bigint[];
  if (bits === low) return { bits, low, lead: coefficients(leading), scaled: true };
  const scaled = leading.every((x) => x !== 0n);
  const lead = scaled ? leading : leading.map((x) => reduce(x - 1n));
  const inverses = leading.map((x) => (scaled ? invert(x) : 1n));
  const monic = polynomial.map((row) => row.map((x, l) => reduce(x * (inverses[l] as bigint))));
  monic[monic.length - 1] = leading.map(() => 1n);
  return { bits, low, lead: coefficients(lead), scaled, monic: divide(monic) };
}

/** Replaces values on all combinations of bits by coefficients of their monomials. */
function toMonomials<T>(table: T[], subtract: (a: T, b: T) => T): void {
  for (let step = 1; step < table.length; step *= 2) {
    for (let i = 0; i < table.length; i++) {
      if ((i & step) !== 0) table[i] = subtract(table[i] as T, table[i - step] as T);
    }
  }
}

function coefficients(values: readonly bigint[]): bigint[] {
  const result = [...values];
  toMonomials(result, (a, b) => reduce(a - b));
  return result;
}

/** @param polynomial by monomial of the high bits, the last one being 1 everywhere */
function divide(polynomial: readonly (readonly bigint[])[]): Monic {
  const half = polynomial.length / 2;
  const without = polynomial.slice(0, half);
  if (half === 1) return { shift: coefficients(without[0] as bigint[]) };
  // p = p0 + h·p1 = (h + s)·p1 + (p0 − s·p1), s such that the rest is led by 1: p1 is.
  const factor = polynomial.slice(half);
  const shift = (without[half - 1] as bigint[]).map((x) => reduce(x - 1n));
  const rest = without.map((row, m) =>
    row.map((x, l) => reduce(x - (shift[l] as bigint) * ((factor[m] as bigint[])[l] as bigint))),
  );
  return { shift: coefficients(shift), factor: divide(factor), rest: divide(rest) };
}

/** The monomials of an index's low bits, which every table of the same index shares. */
export function monomialsOf(circuit: Circuit, bits: readonly Linear[]): Linear[] {
  const monomials: Linear[] = [constantOf(1n)];
  bits.forEach((bit, i) => {
    monomials.push(bit);
    for (let m = 1; m < 2 ** i; m++) {
      const product = circuit.multiply(monomials[m] as Linear, bit, "a product of the index's bits", true);
      monomials.push(product);
    }
  });
  return monomials;
}

/** The table's value at an index.
 *  @param monomials of the low bits @param high the other bits, the lowest first */
export function lookUp(
  circuit: Circuit,
  form: TableForm,
  monomials: readonly Linear[],
  high: readonly Linear[],
): Linear {
  const low = (c: Coefficients): LinearSum => {
    const sum = new LinearSum();
    c.forEach((coefficient, m) => {
      if (coefficient !== 0n) sum.add(monomials[m] as Linear, coefficient);
    });
    return sum;
  };
  const { lead, scaled, monic } = form;
  if (monic === undefined) return low(lead).done();
  const evaluated = (node: Monic, level: number): LinearSum => {
    const left = low(node.shift).add(high[level] as Linear);
    if (node.factor === undefined || node.rest === undefined) return left;
    const factor = evaluated(node.factor, level - 1).done();
    const product = circuit.multiply(left.done(), factor, "a step of the look-up");
    return evaluated(node.rest, level - 1).add(product);
  };
  const value = evaluated(monic, high.length - 1);
  if (scaled) return circuit.multiply(value.done(), low(lead).done(), "the look-up, scaled");
  const all = high.reduce((a, b) => circuit.multiply(a, b, "the product of the index's high bits", true));
  return value.add(circuit.multiply(low(lead).done(), all, "the look-up's leading term")).done();
}
