/** Builds a rank-1 constraint system together with the program that computes its witness. */
import { type Assign, evaluate, type Linear, NOTHING, ONE, reduce, toCombination, wireOf } from "./linear.ts";
import { PackedRows } from "./packed.ts";
import type { Constraint, R1cs, Witness } from "./r1cs.ts";

interface Assignment {
  readonly first: number;
  readonly count: number;
  readonly assign: Assign;
}

/** What one step of the program costs. */
export interface StepCost {
  readonly step: number;
  /** `dot integer u8 [1, 64]` */
  readonly operation: string;
  readonly constraints: number;
  /** Coefficients of A and B, which a prover multiplies one by one; those of C cost it nothing. */
  readonly coefficients: number;
}

export interface CircuitOptions {
  /** Counts constraints and keeps none of them: what a circuit too large to hold is measured with. */
  readonly counting?: boolean;
}

/** Constraints after which counting ends: far beyond what anybody proves with Groth16. */
export const MAX_COUNTED = 2 ** 20;

/** Thrown by a circuit that counts, when it has counted enough. */
export class CountedEnough extends Error {}

/** A circuit under construction. Public wires come first; every other wire is determined by the constraints that
 *  come with it. */
export class Circuit {
  readonly counting: boolean;
  readonly packed = new PackedRows(this);
  readonly costs: StepCost[] = [];
  readonly #publicWires: number;
  readonly #constraints: Constraint[] = [];
  readonly #assignments: Assignment[] = [];
  /** 1 for wires that are 0 or 1. */
  #booleans = new Uint8Array(1024);
  #wires: number;
  #count = 0;
  #coefficients = 0;
  #place = "";
  #element = -1;

  /** @param publicWires number of public signals, without the constant */
  constructor(publicWires: number, { counting = false }: CircuitOptions = {}) {
    this.#publicWires = publicWires;
    this.#wires = 1 + publicWires;
    this.counting = counting;
  }

  get constraintCount(): number {
    return this.#count;
  }

  /** Runs `build`; what it adds is charged to one step, and its notes name the step. */
  step<T>(step: number, operation: string, build: () => T): T {
    const [constraints, coefficients] = [this.#count, this.#coefficients];
    this.#place = `step ${step} (${operation})`;
    this.#element = -1;
    try {
      return build();
    } finally {
      this.costs.push({
        step,
        operation,
        constraints: this.#count - constraints,
        coefficients: this.#coefficients - coefficients,
      });
    }
  }

  /** Element of the output that the next constraints belong to. */
  element(element: number): void {
    this.#element = element;
  }

  /** New wires whose values `assign` computes from earlier ones. @returns the first */
  wires(count: number, assign: Assign): number {
    const first = this.#wires;
    this.#wires += count;
    if (!this.counting) this.#assignments.push({ first, count, assign });
    return first;
  }

  /** The same for public wires, which are there already. */
  assignPublic(first: number, count: number, assign: Assign): void {
    if (!this.counting) this.#assignments.push({ first, count, assign });
  }

  /** A wire without constraints: stands for any sum in a circuit that only counts. */
  unknown(): Linear {
    return wireOf(this.#wires++);
  }

  /** `a · b = c`. Products cost a prover time by the coefficients of a and b.
   *  @param property what breaks without it */
  enforce(a: Linear, b: Linear, c: Linear, property: string): void {
    this.skip(1, a.size + b.size);
    if (this.counting) return;
    const place = this.#element < 0 ? this.#place : `${this.#place} element ${this.#element}`;
    this.#constraints.push({
      a: toCombination(a),
      b: toCombination(b),
      c: toCombination(c),
      note: `${place}: ${property}`,
    });
  }

  /** Counts constraints that a counting circuit need not write out.
   *  @throws CountedEnough if it counts only */
  skip(constraints: number, coefficients: number): void {
    this.#count += constraints;
    this.#coefficients += coefficients;
    if (this.counting && this.#count > MAX_COUNTED) throw new CountedEnough();
  }

  /** `x = 0`, without a coefficient in A or B. */
  enforceZero(x: Linear, property: string): void {
    this.enforce(NOTHING, NOTHING, x, property);
  }

  /** New wires that are 0 or 1, one constraint each. */
  booleans(count: number, assign: Assign, property: string): number[] {
    const first = this.wires(count, assign);
    return Array.from({ length: count }, (_, i) => {
      const bit = wireOf(first + i);
      this.#markBoolean(first + i);
      this.enforce(bit, bit, bit, `bit ${i} of ${property} is 0 or 1`);
      return first + i;
    });
  }

  isBoolean(wire: number): boolean {
    return this.#booleans[wire] === 1;
  }

  #markBoolean(wire: number): void {
    if (wire >= this.#booleans.length) {
      const larger = new Uint8Array(2 * wire);
      larger.set(this.#booleans);
      this.#booleans = larger;
    }
    this.#booleans[wire] = 1;
  }

  /** The wire of `a · b`. @param boolean true where both factors are 0 or 1 */
  multiply(a: Linear, b: Linear, property: string, boolean = false): Linear {
    const [left, right] = [this.settle(a), this.settle(b)];
    const product = this.wires(1, (values, at) => {
      values[at] = reduce(evaluate(left, values) * evaluate(right, values));
    });
    if (boolean) this.#markBoolean(product);
    this.enforce(left, right, wireOf(product), property);
    return wireOf(product);
  }

  /** The linear combination over wires that exist: lanes of packed rows are split where they are named. */
  settle(terms: Linear): Linear {
    for (const wire of terms.keys()) if (wire < ONE) return this.packed.split(terms);
    return terms;
  }

  r1cs(): R1cs {
    return { wires: this.#wires, publicWires: this.#publicWires, constraints: this.#constraints };
  }

  /** Computes every wire.
   *  @param prepare writes the public wires that nothing computes: inputs and binding
   *  @param forced values by wire that replace what is computed, so that later wires follow a forgery */
  witness(prepare: (values: bigint[]) => void, forced?: ReadonlyMap<number, bigint>): Witness {
    const values = new Array<bigint>(this.#wires).fill(0n);
    values[ONE] = 1n;
    prepare(values);
    for (const { first, count, assign } of this.#assignments) {
      assign(values, first);
      if (forced === undefined) continue;
      for (let wire = first; wire < first + count; wire++) {
        const value = forced.get(wire);
        if (value !== undefined) values[wire] = value;
      }
    }
    return values;
  }
}
