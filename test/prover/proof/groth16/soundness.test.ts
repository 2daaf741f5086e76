import { describe, expect, test } from "vitest";
import type { CompiledCircuit } from "../../../../prover/proof/groth16/compile.ts";
import { determinism, givenWires } from "../../../../prover/proof/groth16/determinism.ts";
import type { Constraint, R1cs, Witness } from "../../../../prover/proof/groth16/r1cs.ts";
import { satisfies } from "../../../../prover/proof/groth16/satisfies.ts";
import { freeWires, mutations } from "../../../support/circuit-mutations.ts";
import { CIRCUIT_PROGRAMS } from "../../../support/circuit-programs.ts";
import { BINDING, CircuitPair } from "../../../support/circuit-run.ts";
import { booleanOf, Forger } from "../../../support/forge.ts";
import { createRng } from "../../../support/rng.ts";
import { scaled } from "../../../support/scale.ts";

const given = ({ signals, bindingWires }: CompiledCircuit): number[] =>
  givenWires(signals.output.first, bindingWires);

function without(r1cs: R1cs, i: number): R1cs {
  return { ...r1cs, constraints: r1cs.constraints.filter((_, j) => j !== i) };
}

/** Wrong outputs found without a constraint, by kind, in all programs. */
const forged = new Map<string, number>();

/** Forgeries of one kind in one program after which the search goes on with the next kind. */
const ENOUGH = 2;
/** Constraints of one kind in one program that the search tries. */
const MOST_TRIES = 40;

/** Of the constraints by which the search forges no more, every so many-th is dropped: in `npm run test:deep` each. */
const EVERY = scaled(8, 1);

/** What a constraint says, whatever its step, element and numbers. */
const kindOf = (note: string): string => note.slice(note.indexOf(": ") + 2).replaceAll(/\d+/g, "#");

/** Kinds that the function does not need, and why the circuit has them. */
const HARMLESS: readonly (readonly [kind: string, reason: string])[] = [
  "the inverse of the difference = # is #",
  "the inverse of the bits above the byte = # is #",
  "the inverse of division: remainder = # is #",
].map((kind) => [kind, "pins the inverse of 0, which nothing else reads, so that no wire is free"] as const);

describe.each(CIRCUIT_PROGRAMS)("$name", ({ model }) => {
  const pair = new CircuitPair(model);
  const { circuit } = pair;
  const { r1cs } = circuit;
  const binding = new Set(circuit.bindingWires);

  test("behavior: every single wire that is changed breaks a constraint, but for a signal of the binding alone", () => {
    const rng = createRng(11);
    const accepted = new Set<number>();
    for (let run = 0; run < 3; run++) {
      for (const wire of freeWires(r1cs, pair.random(rng).witness, rng)) accepted.add(wire);
    }
    expect([...accepted]).toEqual([...binding].filter((wire) => wire <= r1cs.publicWires));
  });

  test("behavior: no wire can be forged so that the others follow", () => {
    const rng = createRng(12);
    const { witness } = pair.random(rng);
    const inputs = witness.slice(1, 1 + circuit.signals.output.first);
    for (let wire = r1cs.publicWires + 1; wire < r1cs.wires; wire++) {
      // Another bit of the binding is another binding.
      const wrong = mutations(rng, witness[wire] as bigint).filter((x) => x > 1n || !binding.has(wire));
      const value = rng.pick(wrong);
      const forged = circuit.witness(inputs, BINDING, new Map([[wire, value]]));
      expect(satisfies(r1cs, forged).satisfied, `wire ${wire} as ${value}`).toBe(false);
    }
  });

  test("behavior: the inputs fix every wire, and every constraint takes part in that", () => {
    expect(determinism(r1cs, given(circuit))).toEqual({ free: [], idle: [] });
  });

  test("behavior: dropping any one constraint leaves a wire that the inputs do not fix", () => {
    const rng = createRng(13);
    const forgers = Array.from(
      { length: 4 },
      () => new Forger(circuit, pair.random(rng).witness, BINDING, rng),
    );
    const here = new Map<string, number>();
    const tried = new Map<string, number>();
    const missed = r1cs.constraints.filter(({ note }, i) => {
      const kind = kindOf(note);
      const found = here.get(kind) ?? 0;
      tried.set(kind, (tried.get(kind) ?? 0) + 1);
      const isWorthIt = found < ENOUGH && (tried.get(kind) as number) <= MOST_TRIES;
      if (isWorthIt && forgers.some((forger) => forger.forge(i)?.changesOutput === true)) {
        here.set(kind, found + 1);
      }
      if (!isWorthIt && i % EVERY !== 0) return false;
      const { free } = determinism(without(r1cs, i), given(circuit));
      return free.length === 0 && !letsBitLeaveItsRange(circuit, i, pair.random(rng).witness);
    });
    for (const { note } of r1cs.constraints) {
      const kind = kindOf(note);
      forged.set(kind, (forged.get(kind) ?? 0) + (here.get(kind) ?? 0));
    }
    expect(missed.map(({ note }) => note)).toEqual([]);
  });
});

describe("every kind of constraint", () => {
  test("behavior: without it a wrong output is accepted", () => {
    const kinds = [...forged].filter(([, found]) => found === 0).map(([kind]) => kind);
    expect(kinds.sort()).toEqual(HARMLESS.map(([kind]) => kind).sort());
  });
});

/** Whether without constraint i a signal of one bit, or a bit of the binding, can be 2. */
function letsBitLeaveItsRange(
  { r1cs, signals, witness, bindingWires }: CompiledCircuit,
  i: number,
  honest: Witness,
): boolean {
  const wire = booleanOf(r1cs.constraints[i] as Constraint);
  if (wire === undefined) return false;
  const inputs = honest.slice(1, 1 + signals.output.first);
  const isForged = (given: readonly bigint[]): boolean => {
    const forgery = witness(given, BINDING, new Map([[wire, 2n]]));
    return satisfies(r1cs, forgery, i).satisfied && !satisfies(r1cs, forgery).satisfied;
  };
  if (bindingWires.includes(wire)) return isForged(inputs);
  return inputs.some((_, signal) => isForged(inputs.with(signal, 2n)));
}
