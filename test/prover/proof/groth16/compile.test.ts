import { describe, expect, test } from "vitest";
import { MLP_DIMS, mlpInput, mlpModel } from "../../../../bench/tasks/mlp.ts";
import { randomInput } from "../../../../conformance/generate/random-program.ts";
import { loadModelFolder } from "../../../../inference/model-folder.ts";
import type { Model } from "../../../../inference/program/form.ts";
import { MAX_COUNTED } from "../../../../prover/proof/groth16/circuit.ts";
import { circuitSize, compileCircuit } from "../../../../prover/proof/groth16/compile.ts";
import { determinism, givenWires } from "../../../../prover/proof/groth16/determinism.ts";
import type { Constraint } from "../../../../prover/proof/groth16/r1cs.ts";
import { satisfies } from "../../../../prover/proof/groth16/satisfies.ts";
import { freeWires } from "../../../support/circuit-mutations.ts";
import { BINDING, CircuitPair, type CircuitRun } from "../../../support/circuit-run.ts";
import { CircuitSteps } from "../../../support/circuit-steps.ts";
import { booleanOf } from "../../../support/forge.ts";
import { createRng, type Rng } from "../../../support/rng.ts";
import { scaled } from "../../../support/scale.ts";

const INPUTS = scaled(50, 1000);
/** Runs whose whole witness is checked, not only its output. */
const CHECKED = scaled(6, 50);
/** Constraints that are dropped one at a time, and wires that are forged. */
const ATTEMPTS = scaled(10, 25);

const shipped = (name: string): Model => loadModelFolder(`models/${name}`).model;

const MODELS: readonly (readonly [
  name: string,
  model: Model,
  random: (pair: CircuitPair, rng: Rng) => CircuitRun,
])[] = [
  [
    "the MLP",
    mlpModel().model,
    (pair, rng) =>
      pair.run({ codec: "raw", bytes: rng.chance(0.5) ? mlpInput(rng) : rng.bytes(MLP_DIMS[0]) }),
  ],
  ...["forecast-vix", "forecast-btc", "forecast-eth", "sentiment-words", "credit-trees"].map((name) => {
    const model = shipped(name);
    const random = (pair: CircuitPair, rng: Rng): CircuitRun =>
      rng.chance(0.1) ? pair.random(rng) : pair.run(randomInput(rng, model.program, rng.chance(0.3)));
    return [name, model, random] as const;
  }),
];

describe("compileCircuit", () => {
  test.each(MODELS)("behavior: %s, within its domain, gives the executor's output", (name, model, random) => {
    const rng = createRng(1);
    const pair = new CircuitPair(model, (name === "credit-trees" ? 2 ** 14 : 2 ** 13) - 32);
    for (let i = 0; i < INPUTS; i++) {
      const { witness, expected } = random(pair, rng);
      expect(witness.slice(1, 1 + expected.length)).toEqual(expected);
      if (i < CHECKED) expect(satisfies(pair.circuit.r1cs, witness)).toEqual({ satisfied: true });
    }
  });

  test.each(MODELS)("behavior: the inputs of %s fix every wire", (_name, model, random) => {
    const rng = createRng(2);
    const pair = new CircuitPair(model);
    const { r1cs, signals, witness, bindingWires } = pair.circuit;
    const given = givenWires(signals.output.first, bindingWires);
    expect(determinism(r1cs, given)).toEqual({ free: [], idle: [] });
    const honest = random(pair, rng).witness;
    expect([...freeWires(r1cs, honest, rng)], "wires that may change alone").toEqual(
      bindingWires.filter((wire) => wire <= r1cs.publicWires),
    );
    // The binding's bits are given: soundness.test.ts drops their constraints.
    const droppable = [...r1cs.constraints.keys()].filter((i) => {
      const bit = booleanOf(r1cs.constraints[i] as Constraint);
      return bit === undefined || !bindingWires.includes(bit);
    });
    const inside = bindingWires.filter((wire) => wire > r1cs.publicWires);
    for (let i = 0; i < ATTEMPTS; i++) {
      const dropped = rng.pick(droppable);
      const constraints = r1cs.constraints.filter((_, j) => j !== dropped);
      expect(determinism({ ...r1cs, constraints }, given).free).not.toEqual([]);
      const wire = rng.int(r1cs.publicWires + 1, Math.min(...inside, r1cs.wires) - 1);
      const forced = new Map([[wire, (honest[wire] as bigint) === 0n ? 1n : 0n]]);
      const forged = witness(honest.slice(1, 1 + signals.output.first), BINDING, forced);
      expect(satisfies(r1cs, forged).satisfied).toBe(false);
    }
  });

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

  test.each(["sentiment", "forecast-hourly"])("error: %s is too large, and says where", (name) => {
    const found = expect.stringMatching(
      /^The circuit has 1[0-9]{5} constraints, at most 16384 are allowed:\nstep /,
    );
    expect(() => compileCircuit(shipped(name))).toThrowError(
      expect.objectContaining({ code: "CIRCUIT_TOO_LARGE", shortMessage: found }),
    );
  });
});

describe("circuitSize", () => {
  test("behavior: counting ends where nobody proves any more", () => {
    const options = { inputCodec: "raw", inputSize: 0, hostile: false, floatSane: true } as const;
    const b = new CircuitSteps(createRng(1), options);
    b.table("u8", b.input("u8", [256, 256]), (byte) => 255 - byte);
    const program = {
      inputCodec: "raw",
      outputCodec: "raw",
      inputSize: b.used,
      weights: b.weights,
      steps: b.steps,
    } as const;
    const model = { program, weights: b.weightBytes };
    const { constraints, costs } = circuitSize(model);
    expect(constraints).toBe(MAX_COUNTED + 1);
    expect(costs.map(({ operation }) => operation)).toEqual([
      "codec raw u8 [256, 256]",
      "table u8 [256, 256]",
    ]);
    expect(() => compileCircuit(model)).toThrowError(
      expect.objectContaining({
        code: "CIRCUIT_TOO_LARGE",
        shortMessage: expect.stringContaining(`has more than ${MAX_COUNTED} constraints`),
      }),
    );
  });

  test("default: the MLP, step by step", () => {
    const { costs, ...size } = circuitSize(mlpModel().model);
    expect(size).toMatchInlineSnapshot(`
      {
        "coefficients": 10300,
        "constraints": 4746,
        "domain": 8192,
        "publicSignals": 10,
      }
    `);
    expect(costs.map((cost) => `${cost.operation}: ${cost.constraints}`)).toMatchInlineSnapshot(`
      [
        "codec raw u8 [1, 256]: 2057",
        "dot integer u8 [1, 64]: 1728",
        "dot integer u8 [1, 32]: 768",
        "dot s32 s32 [1, 2]: 0",
        "output: 193",
      ]
    `);
  });
});
