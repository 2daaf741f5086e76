import { describe, expect, test } from "vitest";
import { mlpModel } from "../../../../bench/tasks/mlp.ts";
import { modelFolder } from "../../../../cli/model-source.ts";
import { loadModelFolder } from "../../../../inference/model-folder.ts";
import { importOnnx } from "../../../../inference/onnx/import.ts";
import { COSTS } from "../../../../protocol/chain/plan/costs.ts";
import {
  type ModelFacts,
  offersOf,
  offersOfProofModel,
  type ProofModelFacts,
} from "../../../../protocol/chain/plan/estimates.ts";
import type { Estimate, Method } from "../../../../protocol/chain/plan/plan.ts";
import { circuitSize } from "../../../../prover/proof/groth16/compile.ts";
import { COMPUTED_PRODUCTS } from "../../../support/attention-graphs.ts";
import { running } from "../../../support/claimed-models.ts";
import { onnxFile, type TestGraph } from "../../../support/onnx-file.ts";
import { createRng } from "../../../support/rng.ts";

const NOT_THERE = { keyStored: false, published: false, compiled: false };
const { model } = mlpModel();
const facts: ModelFacts = {
  model,
  circuit: circuitSize(model),
  isForgeable: false,
  onChain: NOT_THERE,
  keyHere: false,
};
const costs = COSTS;

function estimateOf(method: Method, changes: Partial<ModelFacts> = {}): Estimate {
  const offer = offersOf({ ...facts, ...changes }, costs)[method];
  if ("unavailable" in offer) throw new Error(offer.unavailable);
  return offer;
}

describe("offersOf", () => {
  test("default: the task that all lanes are measured on, near what was measured", () => {
    // Whole transactions: measured 201k and 80k gas of execution with 21k of a transaction and its calldata.
    expect(Number(estimateOf("execution").gasPerResult)).toBeGreaterThan(150_000);
    expect(Number(estimateOf("execution").gasPerResult)).toBeLessThan(320_000);
    expect(estimateOf("execution-compiled").gasPerResult).toBeLessThan(estimateOf("execution").gasPerResult);
    expect(estimateOf("groth16").gasOfLargest).toBeLessThan(estimateOf("groth16").gasPerResult);
    expect(estimateOf("groth16").keyBytes).toBeGreaterThan(1e6);
    expect(estimateOf("bond").gasSetup).toBe(0n);
  });

  test("behavior: what is there already costs nothing again", () => {
    const onChain = { keyStored: true, published: true, compiled: true };
    for (const method of ["execution", "execution-compiled", "groth16"] as const) {
      expect(estimateOf(method).gasSetup).toBeGreaterThan(0n);
      expect(estimateOf(method, { onChain }).gasSetup).toBe(0n);
    }
    expect(estimateOf("groth16", { keyHere: true }).setupSeconds).toBe(0);
  });

  test("behavior: a refused circuit gives its reason, a forgeable key its caution", () => {
    const refused = { refused: "the circuit has 197,851 constraints" };
    expect(offersOf({ ...facts, circuit: refused }, costs).groth16).toEqual({ unavailable: refused.refused });
    expect(estimateOf("groth16", { isForgeable: true }).caution).toMatch(/forge/);
  });

  test("behavior: runs that take more gas than the lane settles by are no offer", () => {
    const { program } = model;
    const long = { ...model, program: { ...program, steps: Array(60).fill(program.steps).flat() } };
    expect(offersOf({ ...facts, model: long }, costs).execution).toEqual({
      unavailable: expect.stringMatching(/^a run takes about \d{8} gas, .* runs of at most 10500000$/),
    });
  });

  test("behavior: a program that reads the claimed output has the bond alone", () => {
    const claimed = running(4);
    expect(() => circuitSize(claimed)).toThrow(
      expect.objectContaining({
        code: "NO_PUBLIC_SIGNALS",
        shortMessage: "Step 1 reads the claimed output, which no circuit does.",
      }),
    );
    const offers = offersOf({ ...facts, model: claimed, circuit: { refused: "no circuit" } }, costs);
    const unavailable = "step 1 is CODEC claimed, which no interpreter runs";
    expect(offers.execution).toEqual({ unavailable });
    expect(offers["execution-compiled"]).toEqual({ unavailable });
    expect("unavailable" in offers.bond).toBe(false);
  });

  test("behavior: DOT activations have the bond alone; the same products as pairs have execution too", () => {
    const { graph } = COMPUTED_PRODUCTS["QLinearMatMul, both computed"]?.(createRng(3)) ?? {};
    const onnx = onnxFile(graph as TestGraph);
    const [dot, pairs] = (["dot", "pairs"] as const).map((products) => importOnnx(onnx, { products }).model);
    const offers = offersOf({ ...facts, model: dot as typeof model }, costs);
    const unavailable = expect.stringMatching(/^step \d+ is DOT activations, which no interpreter runs$/);
    expect(offers.execution).toEqual({ unavailable });
    expect(offers["execution-compiled"]).toEqual({ unavailable });
    expect(offers.bond).toHaveProperty("gasPerResult");
    expect(estimateOf("execution", { model: pairs as typeof model }).gasPerResult).toBeGreaterThan(0n);
    expect(() => circuitSize(dot as typeof model)).toThrow(
      expect.objectContaining({ code: "NO_CIRCUIT", shortMessage: expect.stringContaining("activations") }),
    );
  });

  test("behavior: every shipped model has an estimate for execution", () => {
    for (const name of ["sentiment", "sentiment-words", "forecast-vix", "forecast-hourly"]) {
      const { model: shipped } = loadModelFolder(modelFolder(name));
      const { gasPerResult } = estimateOf("execution", { model: shipped });
      expect(Number(gasPerResult)).toBeGreaterThan(50_000);
    }
  });
});

describe("offersOfProofModel", () => {
  const facts: ProofModelFacts = {
    rows: 2 ** 15,
    inputs: 256,
    instances: 274,
    initCodeBytes: 13_700,
    isForgeable: false,
    isRegistered: false,
    keysHere: false,
    srsHere: false,
  };
  const ezklOf = (changes: Partial<ProofModelFacts> = {}): Estimate => {
    const offer = offersOfProofModel({ ...facts, ...changes }, costs).ezkl;
    if ("unavailable" in offer) throw new Error(offer.unavailable);
    return offer;
  };

  test("default: ezkl alone, and each of the others says why not", () => {
    const { ezkl, ...others } = offersOfProofModel(facts, costs);
    expect(ezkl).toHaveProperty("gasPerResult");
    for (const offer of Object.values(others)) expect(offer).toHaveProperty("unavailable");
  });

  test("behavior: what is there costs nothing again; more rows and values cost more", () => {
    const all = ezklOf();
    expect(ezklOf({ isRegistered: true }).gasSetup).toBe(0n);
    expect(ezklOf({ keysHere: true, srsHere: true }).setupSeconds).toBe(0);
    expect(ezklOf({ srsHere: true }).setupSeconds).toBeLessThan(all.setupSeconds);
    expect(ezklOf({ rows: 2 ** 17 }).seconds).toBeGreaterThan(all.seconds);
    expect(ezklOf({ instances: 624 }).gasOfLargest).toBeGreaterThan(all.gasOfLargest);
    expect(ezklOf({ isForgeable: true }).caution).toMatch(/forge/);
  });
});
