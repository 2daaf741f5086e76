import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ofSize, readCosts } from "../../../prover/plan/costs.ts";

describe("readCosts", () => {
  it("default: the shipped file has every formula, and each grows with its size", () => {
    const { groth16, bond } = readCosts();
    const { proveSeconds, setupSeconds, keyBytes } = groth16;
    for (const formula of [proveSeconds, setupSeconds, keyBytes]) {
      const small = ofSize(formula, { domain: 2 ** 10, coefficients: 2_000 });
      expect(ofSize(formula, { domain: 2 ** 14, coefficients: 30_000 })).toBeGreaterThan(small);
    }
    expect(Math.min(...Object.values(bond))).toBeGreaterThan(21_000);
  });

  it("error: a file that is no JSON, or lacks a formula", () => {
    const folder = mkdtempSync(join(tmpdir(), "assay-"));
    try {
      const path = join(folder, "costs.json");
      for (const text of ["{", "{}"]) {
        writeFileSync(path, text);
        expect(() => readCosts(path)).toThrow(
          expect.objectContaining({
            code: "COSTS_INVALID",
            shortMessage: `The measured costs in ${path} cannot be read.`,
          }),
        );
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
