/** The measured lane is the lane that settles. Before it `assay proof ezkl install --data build/ezkl-data` ran
 *  (tools/named-suite.ts). */
import { expect, it } from "vitest";
import { measureEzkl } from "../../bench/lanes/ezkl.ts";

it("measureEzkl: the chain takes the proofs of a perceptron that it measures", async () => {
  const options = { dims: [16, 8, 4, 2], target: "resources", rounds: 2, compared: 4 } as const;
  const point = await measureEzkl(options);
  expect(point).toMatchObject({
    multiplications: 16 * 8 + 8 * 4 + 4 * 2,
    inputs: 16,
    instances: 16 + 16 + 2,
  });
  expect(point?.settleGas).toBeGreaterThan(300_000);
  expect(point?.largestError).toBeLessThan(0.1);
});
