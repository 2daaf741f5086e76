/** Searches witnesses that satisfy a circuit without one of its constraints, for the same public input. */
import { PIECE_BYTES } from "../../protocol/rules/proof/public-signals.ts";
import type { CompiledCircuit } from "../../prover/proof/groth16/compile.ts";
import { invert, reduce, signed } from "../../prover/proof/groth16/linear.ts";
import type { Constraint, LinearCombination, Witness } from "../../prover/proof/groth16/r1cs.ts";
import { satisfies } from "../../prover/proof/groth16/satisfies.ts";
import type { Rng } from "./rng.ts";

type Forced = Map<number, bigint>;

export interface Forgery {
  readonly witness: Witness;
  /** The output's signals differ: a wrong output would be accepted. Else only a wire inside is free. */
  readonly changesOutput: boolean;
}

/** Forges with one circuit and one honest witness. */
export class Forger {
  readonly #circuit: CompiledCircuit;
  readonly #honest: Witness;
  readonly #binding: bigint;
  readonly #rng: Rng;
  readonly #constraintsOf: number[][];
  readonly #boolean = new Set<number>();

  constructor(circuit: CompiledCircuit, honest: Witness, binding: bigint, rng: Rng) {
    this.#circuit = circuit;
    this.#honest = honest;
    this.#binding = binding;
    this.#rng = rng;
    this.#constraintsOf = Array.from({ length: circuit.r1cs.wires }, () => []);
    circuit.r1cs.constraints.forEach((constraint, i) => {
      for (const wire of wiresOf(constraint)) this.#constraintsOf[wire]?.push(i);
      const wire = booleanOf(constraint);
      if (wire !== undefined) this.#boolean.add(wire);
    });
  }

  /** The best forgery that dropping constraint i allows, if the search finds one. */
  forge(i: number): Forgery | undefined {
    let found: Forgery | undefined;
    for (const forced of this.#candidates(i)) {
      const forgery = this.#attempt(i, forced);
      if (forgery?.changesOutput) return forgery;
      found ??= forgery;
    }
    return found;
  }

  #attempt(i: number, forced: Forced): Forgery | undefined {
    const witness = this.#run(forced);
    if (!satisfies(this.#circuit.r1cs, witness, i).satisfied) return undefined;
    if (witness.every((value, wire) => value === this.#honest[wire])) return undefined;
    return {
      witness,
      changesOutput: this.#output(witness).some((x, k) => x !== this.#output(this.#honest)[k]),
    };
  }

  /** The signals of the output without the binding's bits. */
  #output(witness: Witness): bigint[] {
    const { first, elements, fieldBytes } = this.#circuit.signals.output;
    const signals = Math.ceil((elements * fieldBytes) / PIECE_BYTES);
    return Array.from(
      { length: signals },
      (_, k) => (witness[1 + first + k] as bigint) >> this.#bindingBits(1 + first + k),
    );
  }

  /** Bits of the binding at the end of a signal of the output. */
  #bindingBits(wire: number): bigint {
    const { first, elements, fieldBytes, bytes } = this.#circuit.signals.output;
    const end = Math.min(PIECE_BYTES * (wire - first), bytes);
    return BigInt(8 * Math.max(0, end - elements * fieldBytes));
  }

  #run(forced: Forced): Witness {
    const inputs = this.#honest.slice(1, 1 + this.#circuit.signals.output.first);
    return this.#circuit.witness(inputs, this.#binding, forced);
  }

  *#candidates(i: number): Generator<Forced> {
    const constraint = this.#circuit.r1cs.constraints[i] as Constraint;
    const boolean = booleanOf(constraint);
    if (boolean !== undefined) {
      yield* this.#notBoolean(i, boolean);
      return;
    }
    const wires = this.#private(constraint);
    for (const wire of wires) yield new Map([[wire, this.#other(wire)]]);
    yield* this.#otherAnswer(wires);
    for (const wire of wires) {
      for (const other of this.#some(wires, 3)) {
        yield new Map([
          [wire, this.#other(wire)],
          [other, this.#other(other)],
        ]);
      }
    }
    yield* this.#otherQuotient(wires);
  }

  /** The wire takes whatever value makes up for another wire of one of its equations. */
  *#notBoolean(dropped: number, wire: number): Generator<Forced> {
    for (const j of this.#constraintsOf[wire] as number[]) {
      if (j === dropped) continue;
      const equation = this.#circuit.r1cs.constraints[j] as Constraint;
      for (const other of this.#some(this.#private(equation), 12)) {
        if (other === wire) continue;
        const forced: Forced = new Map([[other, this.#other(other)]]);
        const value = solve(equation, wire, this.#run(forced));
        if (value !== undefined) yield forced.set(wire, value);
      }
    }
    for (const j of this.#constraintsOf[wire] as number[]) {
      const near = this.#private(this.#circuit.r1cs.constraints[j] as Constraint);
      for (const forced of this.#otherQuotient(near)) {
        if (forced.has(wire)) continue;
        for (const k of this.#constraintsOf[wire] as number[]) {
          const equation = this.#circuit.r1cs.constraints[k] as Constraint;
          const value = k === dropped ? undefined : solve(equation, wire, this.#run(forced));
          if (value !== undefined) yield new Map(forced).set(wire, value);
        }
      }
    }
  }

  /** A zero test near these wires with no inverse and either answer. */
  *#otherAnswer(wires: readonly number[]): Generator<Forced> {
    for (const zero of wires) {
      for (const j of this.#constraintsOf[zero] as number[]) {
        const { a, b, c } = this.#circuit.r1cs.constraints[j] as Constraint;
        const inverse = a[0]?.[0];
        if (c.length > 0 || a.length !== 1 || b[0]?.[0] !== zero || inverse === undefined) continue;
        for (const answer of [0n, 1n]) {
          yield new Map([
            [inverse, 0n],
            [zero, answer],
          ]);
        }
      }
    }
  }

  /** `q · d = n − r` with the quotient one off and the remainder to match, near these wires. */
  *#otherQuotient(wires: readonly number[]): Generator<Forced> {
    const near = new Set(wires.flatMap((wire) => this.#constraintsOf[wire] as number[]));
    for (const j of near) {
      const { a, b, c } = this.#circuit.r1cs.constraints[j] as Constraint;
      if (a.length < 2 || c.length === 0 || !a.every(([wire]) => wire === 0 || this.#boolean.has(wire)))
        continue;
      const divisor = evaluateAt(b, this.#honest);
      const remainder = c.filter(([wire, x]) => this.#boolean.has(wire) && signed(x) < 0n);
      for (const step of [1n, -1n]) {
        const quotient = evaluateAt(
          a.filter(([wire]) => wire !== 0),
          this.#honest,
        );
        const rest = -signed(evaluateAt(remainder, this.#honest));
        const forced: Forced = new Map();
        if (quotient + step < 0n) continue;
        writeBits(forced, a, quotient + step);
        writeBits(forced, remainder, rest - step * signed(divisor));
        yield forced;
      }
    }
  }

  /** Wires that a prover chooses: those inside and the output. */
  #private(constraint: Constraint): number[] {
    return wiresOf(constraint).filter((wire) => wire > this.#circuit.signals.output.first);
  }

  #other(wire: number): bigint {
    const value = this.#honest[wire] as bigint;
    if (wire <= this.#circuit.r1cs.publicWires) return value + (1n << this.#bindingBits(wire));
    return this.#boolean.has(wire) || value <= 1n ? 1n - value + (value > 1n ? value : 0n) : value + 1n;
  }

  #some(wires: readonly number[], most: number): readonly number[] {
    if (wires.length <= most) return wires;
    return Array.from({ length: most }, () => this.#rng.pick(wires));
  }
}

export const wiresOf = ({ a, b, c }: Constraint): number[] => [
  ...new Set([...a, ...b, ...c].map(([wire]) => wire)),
];

/** The wire that a constraint makes a boolean. */
export function booleanOf({ a, b, c }: Constraint): number | undefined {
  const wire = a[0]?.[0];
  const all = [a, b, c].every((x) => x.length === 1 && x[0]?.[0] === wire && x[0]?.[1] === 1n);
  return all ? wire : undefined;
}

export function evaluateAt(combination: LinearCombination, witness: Witness): bigint {
  return reduce(combination.reduce((sum, [wire, x]) => sum + x * (witness[wire] as bigint), 0n));
}

/** The value of a wire that satisfies a constraint, all others staying; undefined where it stands in two factors or
 *  nothing can be solved for. */
function solve({ a, b, c }: Constraint, wire: number, witness: Witness): bigint | undefined {
  const coefficient = (x: LinearCombination): bigint => x.find(([w]) => w === wire)?.[1] ?? 0n;
  const rest = (x: LinearCombination): bigint =>
    evaluateAt(
      x.filter(([w]) => w !== wire),
      witness,
    );
  if (coefficient(a) !== 0n && coefficient(b) !== 0n) return undefined;
  const slope = reduce(coefficient(a) * rest(b) + coefficient(b) * rest(a) - coefficient(c));
  if (slope === 0n) return undefined;
  return reduce((rest(c) - rest(a) * rest(b)) * invert(slope));
}

/** Bits of a number into the wires whose coefficients are powers of two, or their negatives. */
function writeBits(forced: Forced, bits: LinearCombination, value: bigint): void {
  for (const [wire, x] of bits) {
    const size = signed(x) < 0n ? -signed(x) : signed(x);
    if (wire !== 0) forced.set(wire, (BigInt.asUintN(256, value) / size) & 1n);
  }
}
