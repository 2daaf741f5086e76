import { describe, expect, test } from "vitest";
import { isBaseError } from "../../../../base/errors.ts";
import { seededProgram } from "../../../../conformance/generate/random-program.ts";
import { type Model, OPCODES } from "../../../../inference/program/form.ts";
import { type CircuitSize, circuitSize } from "../../../../prover/proof/groth16/compile.ts";
import { determinism, givenWires } from "../../../../prover/proof/groth16/determinism.ts";
import { satisfies } from "../../../../prover/proof/groth16/satisfies.ts";
import { CircuitPair } from "../../../support/circuit-run.ts";
import { createRng } from "../../../support/rng.ts";

/** Programs that are small enough, and inputs of each. */
const PROGRAMS = 40;
const INPUTS = 4;
const MOST_CONSTRAINTS = 3000;

/** What has no circuit says so. */
function sizeOf(model: Model): CircuitSize | undefined {
  try {
    return circuitSize(model);
  } catch (error) {
    if (isBaseError(error, "NO_CIRCUIT") || isBaseError(error, "NO_PUBLIC_SIGNALS")) return undefined;
    throw error;
  }
}

describe("compileCircuit", () => {
  test("behavior: circuits of random programs equal the executor, and their inputs fix every wire", () => {
    const opcodes = new Set<string>();
    for (let seed = 1, done = 0; done < PROGRAMS; seed++) {
      const rng = createRng(seed);
      const opcode = rng.pick(OPCODES.filter((o) => o !== "float"));
      const { model } = seededProgram(seed, { hostile: false, opcode, steps: rng.int(0, 5) });
      const size = sizeOf(model);
      if (size === undefined || size.constraints > MOST_CONSTRAINTS) continue;
      const pair = new CircuitPair(model);
      const { r1cs, signals, bindingWires } = pair.circuit;
      expect(r1cs.constraints.length, `constraints of program ${seed}`).toBe(size.constraints);
      for (let i = 0; i < INPUTS; i++) {
        const { witness, expected } = pair.random(rng);
        expect(satisfies(r1cs, witness), `program ${seed}`).toEqual({ satisfied: true });
        expect(witness.slice(1, 1 + expected.length), `program ${seed}`).toEqual(expected);
      }
      const given = givenWires(signals.output.first, bindingWires);
      expect(determinism(r1cs, given), `program ${seed}`).toEqual({ free: [], idle: [] });
      for (const step of model.program.steps) opcodes.add(step.opcode);
      done++;
    }
    expect(OPCODES.filter((opcode) => !opcodes.has(opcode))).toEqual([]);
  });
});
