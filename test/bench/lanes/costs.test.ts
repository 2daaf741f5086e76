import { describe, expect, it } from "vitest";
import { compare, compareExecutions, fitCosts, type Measurements } from "../../../bench/lanes/costs.ts";
import { median } from "../../../bench/lanes/median.ts";
import type { CircuitPoint } from "../../../bench/lanes/sizes.ts";
import { COSTS } from "../../../protocol/chain/plan/costs.ts";

const before = COSTS;
/** What formulas say of two circuits, executions and ezkl circuits each: the fit must find them again. */
const circuit = (domain: number): CircuitPoint => ({
  dims: [48, 12, 8, 2],
  multiplications: 688,
  constraints: domain - 100,
  domain,
  coefficients: 7 * domain,
  publicSignals: domain / 256,
  setupSeconds: 1e-4 * domain,
  proveSeconds: 2e-5 * domain,
  keyBytes: 400 * domain,
  memoryBytes: 3e8 + 3_000 * domain,
  requestGas: 58_000,
  settleGas: 300_000 + 28 * domain,
  storeKeyGas: 200_000 + 55 * domain,
});
const ezkl = (rows: number, instances: number): Measurements["ezkl"][number] => ({
  target: "resources",
  multiplications: rows,
  rows,
  instances,
  inputs: instances - 18,
  scaleBits: 10,
  setupSeconds: 1,
  keySeconds: 1e-4 * rows,
  srsSeconds: 0,
  coldSeconds: 1 + 2e-4 * rows,
  warmSeconds: 1e-4 * rows,
  memoryBytes: 1e7 + 1e4 * rows,
  keyBytes: 4_200 * rows,
  proofBytes: 3_072,
  initCodeBytes: 13_000 + instances,
  setupGas: 230 * (13_000 + instances),
  requestGas: 44_000 + 170 * (instances - 18),
  settleGas: 550_000 + 1_000 * instances,
  accuracyLoss: 0,
  largestError: 0,
});
const measured: Measurements = {
  lanes: {
    innerGas: { execution: 1, compiled: 1 },
    proofRequestGas: 58_000,
    settleGas: 1,
    coldProofSeconds: 1,
    batchGasEach: 145_000,
    batches: [
      { proofs: 2, gas: 500_000 },
      { proofs: 8, gas: 1_160_000 },
    ],
    bondGas: { request: 58_000, claim: 63_000, finalize: 49_000 },
  },
  circuits: [circuit(1_024), circuit(8_192), circuit(16_384)],
  ezkl: [ezkl(2 ** 15, 82), ezkl(2 ** 15, 274), ezkl(2 ** 17, 274)],
  srs: [
    { rows: 4_096, seconds: 1.2 },
    { rows: 8_192, seconds: 2.4 },
  ],
};

const executions = [
  {
    dims: [64, 14, 8, 2],
    multiplications: 1_024,
    interpreted: 70_000,
    compiled: 59_000,
    publishGas: 1e6,
    compileGas: 2e6,
  },
  {
    dims: [256, 36, 24, 2],
    multiplications: 10_128,
    interpreted: 150_000,
    compiled: 84_000,
    publishGas: 3e6,
    compileGas: 1e7,
  },
];

describe("fitCosts", () => {
  it("default: finds the formulas of ezkl's figures", () => {
    const { ezkl: found } = fitCosts(measured, before);
    expect(found.settleGas.base / 550_000).toBeCloseTo(1, 3);
    expect(found.settleGas.perInstance / 1_000).toBeCloseTo(1, 3);
    expect(found.proveSeconds.perRow / 2e-4).toBeCloseTo(1, 3);
    expect(found.srsSeconds.perRow / 2.4).toBeCloseTo(1 / 8_192, 6);
  });

  it("behavior: keeps ezkl's figures where it was not measured", () => {
    expect(fitCosts({ ...measured, ezkl: [], srs: [] }, before).ezkl).toEqual(before.ezkl);
  });
});

describe("compare", () => {
  it("default: every lane beside what was measured, ezkl and bond exactly where the formulas are", () => {
    const found = compare(fitCosts(measured, before), measured);
    const lanes = ["bond", "eight Groth16", "groth16", "ezkl, development SRS", "ezkl, resources"];
    for (const lane of lanes)
      expect(
        found.some(({ name }) => name.startsWith(lane)),
        lane,
      ).toBe(true);
    const exact = found.filter(({ name }) => /^(bond|ezkl|groth16)/.test(name));
    expect(exact.length).toBeGreaterThan(30);
    for (const { name, estimate, actual } of exact) expect(estimate / actual, name).toBeCloseTo(1, 2);
  });
});

describe("compareExecutions", () => {
  it("default: set-up and a result of both forms, estimated as near as they are measured here", () => {
    const found = compareExecutions(before, executions as never);
    expect(found.map(({ name, label }) => `${name}: ${label}`)).toEqual(
      executions.flatMap(({ multiplications }) =>
        ["execution", "execution-compiled"].flatMap((method) =>
          ["gas to set up", "gas of a result"].map(
            (label) => `${method}, ${multiplications} multiply-accumulates: ${label}`,
          ),
        ),
      ),
    );
    for (const { estimate, actual } of found) expect(estimate / actual).toBeGreaterThan(0.5);
  });
});

describe("median", () => {
  it("default: the middle, or the mean of the two in the middle", () => {
    expect([median([3, 1, 2]), median([4, 1, 3, 2]), median([7])]).toEqual([2, 2.5, 7]);
  });
});
