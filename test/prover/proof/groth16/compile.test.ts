import { describe, expect, test } from "vitest";
import { MLP_DIMS, mlpInput, mlpModel } from "../../../../bench/tasks/mlp.ts";
import { loadModelFolder } from "../../../../inference/model-folder.ts";
import { circuitSize, compileCircuit } from "../../../../prover/proof/groth16/compile.ts";
import { satisfies } from "../../../../prover/proof/groth16/satisfies.ts";
import { CircuitPair } from "../../../support/circuit-run.ts";
import { randomInput } from "../../../support/random-program.ts";
import { createRng } from "../../../support/rng.ts";

const INPUTS = 40;

describe("compileCircuit", () => {
  test("default: the MLP's circuit gives the executor's output", () => {
    const rng = createRng(1);
    const { model } = mlpModel();
    const pair = new CircuitPair(model);
    for (let i = 0; i < INPUTS; i++) {
      const bytes = i % 2 === 0 ? mlpInput(rng) : rng.bytes(MLP_DIMS[0]);
      const { witness, expected } = pair.run({ codec: "raw", bytes });
      expect(satisfies(pair.circuit.r1cs, witness)).toEqual({ satisfied: true });
      expect(witness.slice(1, expected.length + 1)).toEqual(expected);
    }
  });

  test.each(["forecast-vix", "forecast-btc", "forecast-eth", "sentiment-words"])(
    "behavior: %s within 2^13",
    (name) => {
      const rng = createRng(2);
      const { model } = loadModelFolder(`models/${name}`);
      const pair = new CircuitPair(model, 2 ** 13 - 16);
      for (let i = 0; i < INPUTS; i++) {
        const { witness, expected } = pair.run(randomInput(rng, model.program, i % 2 === 1));
        expect(satisfies(pair.circuit.r1cs, witness)).toEqual({ satisfied: true });
        expect(witness.slice(1, expected.length + 1)).toEqual(expected);
      }
    },
  );

  test("args: limit", () => {
    const { model } = mlpModel();
    const { constraints } = circuitSize(model);
    expect(compileCircuit(model, constraints).r1cs.constraints).toHaveLength(constraints);
    expect(() => compileCircuit(model, constraints - 1)).toThrowError(
      expect.objectContaining({
        code: "CIRCUIT_TOO_LARGE",
        shortMessage: expect.stringContaining(
          `The circuit has ${constraints} constraints, at most ${constraints - 1} are allowed:\nstep 0 (codec raw u8 [1, 256]): 2057`,
        ),
      }),
    );
  });
});
