import { describe, expect, it } from "vitest";
import { COSTS, ofSize } from "../../../../protocol/chain/plan/costs.ts";

describe("COSTS", () => {
  it("default: each formula grows with its size, and no figure lies below 0", () => {
    const { groth16, bond } = COSTS;
    const { proveSeconds, setupSeconds, keyBytes } = groth16;
    for (const formula of [proveSeconds, setupSeconds, keyBytes]) {
      const small = ofSize(formula, { domain: 2 ** 10, coefficients: 2_000 });
      expect(ofSize(formula, { domain: 2 ** 14, coefficients: 30_000 })).toBeGreaterThan(small);
    }
    expect(Math.min(...Object.values(bond))).toBeGreaterThan(21_000);
    const numbers = JSON.stringify(COSTS).match(/-?\d+(\.\d+)?(e-?\d+)?/g) ?? [];
    expect(numbers.length).toBeGreaterThan(30);
    expect(Math.min(...numbers.map(Number))).toBeGreaterThanOrEqual(0);
  });
});
