/** A static proof that a circuit leaves its prover no choice: every wire is a function of the given ones. Four rules,
 *  each of which fixes wires by wires that are fixed already:
 *  - **equation**: `a · b = c` with one unknown wire, which stands in c only;
 *  - **bits**: the unknown wires of such a constraint are all booleans, each coefficient larger than all smaller ones
 *    together, and all of them below the field's order: no two choices have the same sum;
 *  - **division**: `q · d = n − r`, the unknown bits of q and r together, with `d − 1 − r` a sum of booleans;
 *  - **zero test**: `x · i = 1 − z`, `x · z = 0`, `i · z = 0`.
 *  A boolean is a wire with the constraint `w · w = w`. */
import { extremes } from "./integer.ts";
import { ONE, signed } from "./linear.ts";
import { type Constraint, FIELD_ORDER, type LinearCombination, type R1cs } from "./r1cs.ts";

export interface Determinism {
  /** Wires that the given ones do not fix by these rules. */
  readonly free: readonly number[];
  /** Constraints that neither fix a wire nor restrict a given one. */
  readonly idle: readonly number[];
}

interface Interval {
  readonly low: bigint;
  readonly high: bigint;
}

const BIT: Interval = { low: 0n, high: 1n };

/** @param given wires that the verifier chooses: inputs, and signals that no constraint reads */
export function determinism(r1cs: R1cs, given: readonly number[]): Determinism {
  const search = new Search(r1cs, given);
  while (search.pass()) {}
  return search.result();
}

/** Wires besides the constant that the verifier of a circuit chooses. @param binding wires that hold the binding */
export function givenWires(inputSignals: number, binding: readonly number[]): number[] {
  return [...Array.from({ length: inputSignals }, (_, i) => 1 + i), ...binding];
}

class Search {
  readonly #r1cs: R1cs;
  readonly #known: Uint8Array;
  readonly #used: Uint8Array;
  /** Number of the constraint that makes a wire a boolean. */
  readonly #booleans = new Map<number, number>();
  readonly #intervals = new Map<number, Interval>([[ONE, { low: 1n, high: 1n }]]);
  readonly #constraintsOf: number[][];
  readonly #given: ReadonlySet<number>;

  constructor(r1cs: R1cs, given: readonly number[]) {
    this.#given = new Set([ONE, ...given]);
    this.#r1cs = r1cs;
    this.#known = new Uint8Array(r1cs.wires);
    this.#used = new Uint8Array(r1cs.constraints.length);
    for (const wire of this.#given) this.#known[wire] = 1;
    this.#constraintsOf = Array.from({ length: r1cs.wires }, () => []);
    r1cs.constraints.forEach(({ a, b, c }, i) => {
      for (const wire of new Set([...a, ...b, ...c].map(([w]) => w))) this.#constraintsOf[wire]?.push(i);
      const wire = single(a);
      if (wire === undefined || single(b) !== wire || single(c) !== wire) return;
      this.#booleans.set(wire, i);
      this.#intervals.set(wire, BIT);
      if (this.#given.has(wire)) this.#used[i] = 1;
    });
  }

  /** Tries every constraint once, in order. @returns whether that fixed a wire */
  pass(): boolean {
    let progress = false;
    this.#r1cs.constraints.forEach((constraint, i) => {
      const [a, b, c] = [constraint.a, constraint.b, constraint.c].map((x) => this.#unknown(x)) as [
        LinearCombination,
        LinearCombination,
        LinearCombination,
      ];
      if (a.length + b.length === 0 && c.length === 0) return;
      const fixed =
        a.length + b.length === 0
          ? this.#equation(i, constraint, c)
          : b.length === 0
            ? this.#division(i, constraint, a, c)
            : a.length === 0 && this.#zeroTest(i, constraint, b, c);
      if (fixed) progress = true;
    });
    return progress;
  }

  result(): Determinism {
    const free: number[] = [];
    this.#known.forEach((known, wire) => {
      if (known === 0) free.push(wire);
    });
    const idle: number[] = [];
    this.#used.forEach((used, i) => {
      if (used === 0) idle.push(i);
    });
    return { free, idle };
  }

  #unknown(combination: LinearCombination): LinearCombination {
    return combination.filter(([wire]) => this.#known[wire] === 0);
  }

  #equation(i: number, constraint: Constraint, c: LinearCombination): boolean {
    if (c.length === 1) {
      const [wire] = c[0] as (typeof c)[number];
      const isProduct = constraint.c.length === 1 && c[0]?.[1] === 1n;
      const interval = isProduct ? this.#product(constraint) : undefined;
      if (interval !== undefined && !this.#intervals.has(wire)) this.#intervals.set(wire, interval);
      // A boolean that is a given wire: its constraint restricts that one.
      const isInput = constraint.c.every(([w]) => w === wire || this.#given.has(w));
      return this.#fix(i, [wire], isInput && this.#booleans.has(wire) ? c : []);
    }
    const size = this.#distinctSums(c);
    if (size === undefined || size >= FIELD_ORDER) return false;
    return this.#fix(
      i,
      c.map(([wire]) => wire),
      c,
    );
  }

  /** Both pairs (q, r) and (q′, r′) that satisfy it have (q − q′)·d = r′ − r, and r, r′ lie in 0..d − 1. */
  #division(i: number, { b }: Constraint, q: LinearCombination, r: LinearCombination): boolean {
    const divisor = this.#interval(b);
    const [quotients, remainders] = [this.#distinctSums(q), this.#distinctSums(r)];
    if (divisor === undefined || quotients === undefined || remainders === undefined) return false;
    if (r.length === 0 || r.some(([, coefficient]) => signed(coefficient) > 0n)) return false;
    const [, widest] = extremes(divisor.high, -divisor.low);
    const bound = this.#constraintsOf[(r[0] as (typeof r)[number])[0]]?.find(
      (j) => j !== i && this.#isRemainderBound(j, b, r, widest + remainders),
    );
    if (bound === undefined || quotients * widest + remainders >= FIELD_ORDER) return false;
    this.#used[bound] = 1;
    const wires = [...q, ...r];
    return this.#fix(
      i,
      wires.map(([wire]) => wire),
      wires,
    );
  }

  /** Whether constraint j says `d − 1 − r = t` with t a sum of booleans that is not below 0.
   *  @param largest size of d and r together */
  #isRemainderBound(j: number, d: LinearCombination, r: LinearCombination, largest: bigint): boolean {
    const { a, b, c } = this.#r1cs.constraints[j] as Constraint;
    if (a.length > 0 || b.length > 0) return false;
    const rest = new Map(c.map(([wire, coefficient]) => [wire, signed(coefficient)]));
    const add = (wire: number, x: bigint): void => {
      rest.set(wire, (rest.get(wire) ?? 0n) + x);
    };
    for (const [wire, coefficient] of d) add(wire, -signed(coefficient));
    add(ONE, 1n);
    // The coefficients of r are negative in n − r already: adding r is subtracting them.
    for (const [wire, coefficient] of r) add(wire, -signed(coefficient));
    let size = largest + 1n;
    for (const [wire, x] of rest) {
      if (x === 0n) continue;
      if (x > 0n || !this.#booleans.has(wire)) return false;
      size -= x;
    }
    return size < FIELD_ORDER;
  }

  #zeroTest(
    i: number,
    { a, b, c }: Constraint,
    unknownB: LinearCombination,
    unknownC: LinearCombination,
  ): boolean {
    const [inverse, zero] = [single(b), unknownC.length === 1 ? unknownC[0]?.[0] : undefined];
    if (inverse === undefined || unknownB.length !== 1 || zero === undefined) return false;
    const isRest = c.length === 2 && coefficientOf(c, ONE) === 1n && coefficientOf(c, zero) === -1n;
    if (!isRest || inverse === zero) return false;
    const others = this.#constraintsOf[zero] ?? [];
    const marks = others.find((j) => this.#isNothing(j, zero, (x) => sameCombination(x, a)));
    const pins = others.find((j) => this.#isNothing(j, zero, (x) => single(x) === inverse));
    if (marks === undefined || pins === undefined) return false;
    this.#used[marks] = 1;
    this.#used[pins] = 1;
    this.#intervals.set(zero, BIT);
    return this.#fix(i, [inverse, zero]);
  }

  /** Whether constraint j is `x · wire = 0`. */
  #isNothing(j: number, wire: number, isX: (x: LinearCombination) => boolean): boolean {
    const { a, b, c } = this.#r1cs.constraints[j] as Constraint;
    return c.length === 0 && single(b) === wire && isX(a);
  }

  /** @param booleans wires among them that their boolean constraints restrict */
  #fix(i: number, wires: readonly number[], booleans: LinearCombination = []): true {
    for (const wire of wires) this.#known[wire] = 1;
    for (const [wire] of booleans) this.#used[this.#booleans.get(wire) as number] = 1;
    this.#used[i] = 1;
    return true;
  }

  /** Σ of sizes of coefficients, if the wires are booleans of which no two choices have the same integer sum. */
  #distinctSums(combination: LinearCombination): bigint | undefined {
    if (!combination.every(([wire]) => this.#booleans.has(wire))) return undefined;
    const sizes = combination.map(([, x]) => (signed(x) < 0n ? -signed(x) : signed(x)));
    sizes.sort((x, y) => (x < y ? -1 : x > y ? 1 : 0));
    let total = 0n;
    for (const size of sizes) {
      if (size <= total) return undefined;
      total += size;
    }
    return total;
  }

  #interval(combination: LinearCombination): Interval | undefined {
    let [low, high] = [0n, 0n];
    for (const [wire, coefficient] of combination) {
      const interval = this.#intervals.get(wire);
      if (interval === undefined) return undefined;
      const factor = signed(coefficient);
      const [least, most] = extremes(factor * interval.low, factor * interval.high);
      low += least;
      high += most;
    }
    return { low, high };
  }

  #product({ a, b }: Constraint): Interval | undefined {
    const [x, y] = [this.#interval(a), this.#interval(b)];
    if (x === undefined || y === undefined) return undefined;
    const [low, high] = extremes(x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high);
    return -low < FIELD_ORDER / 2n && high < FIELD_ORDER / 2n ? { low, high } : undefined;
  }
}

/** The wire of a combination that is one wire. */
function single(combination: LinearCombination): number | undefined {
  return combination.length === 1 && combination[0]?.[1] === 1n ? combination[0][0] : undefined;
}

function coefficientOf(combination: LinearCombination, wire: number): bigint {
  return signed(combination.find(([w]) => w === wire)?.[1] ?? 0n);
}

function sameCombination(x: LinearCombination, y: LinearCombination): boolean {
  return x.length === y.length && x.every(([wire, c], i) => wire === y[i]?.[0] && c === y[i]?.[1]);
}
