import { describe, expect, it } from "vitest";
import { canonicalExecutor, executorWithoutVectors, keyOf } from "../../support/differential.ts";
import { compareAll, compareTargets, LEAST_ELEMENTS } from "../../support/differential-suite.ts";
import { TARGETS } from "../../support/directed-program.ts";

describe("executor and onnxruntime on the emitted file", () => {
  it("behavior: 0 differences in a million elements of every opcode, variant and type", async () => {
    const tally = await compareAll(canonicalExecutor);
    process.stdout.write(`${tally.table()}\n`);
    expect(tally.samples).toEqual([]);
    const { total } = tally;
    expect(total.different).toBe(0);
    expect(total.compared).toBeGreaterThanOrEqual(1_000_000);
    for (const key of TARGETS.map(keyOf)) {
      const { compared, clamped } = tally.of(key);
      expect(compared, key).toBeGreaterThanOrEqual(LEAST_ELEMENTS);
      expect(clamped / compared, `${key} at a clamp`).toBeLessThanOrEqual(0.5);
    }
  });

  it("behavior: 0 differences in products without vectors", async () => {
    const products = TARGETS.filter(({ opcode }) => opcode === "dot");
    const tally = await compareTargets(executorWithoutVectors, products);
    expect(tally.samples).toEqual([]);
    for (const key of products.map(keyOf)) {
      expect(tally.of(key), key).toMatchObject({ different: 0 });
      expect(tally.of(key).compared, key).toBeGreaterThanOrEqual(LEAST_ELEMENTS);
    }
  });
});
