import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { planCompilation } from "../../../../protocol/chain/execution/compiled.ts";
import { estimateFastGas, estimateInferenceGas } from "../../../../protocol/chain/execution/cost.ts";
import { projectRoot } from "../../../../tools/foundry.ts";
import { runnableModel } from "../../../support/model-inputs.ts";

/** Gas by name of model, as `npm run snapshot` measured it. @param suffix behind the names, none by default */
const snapshot = (file: string, suffix = ""): [string, number][] =>
  Object.entries(
    JSON.parse(readFileSync(join(projectRoot, `bench/gas-snapshots/${file}.json`), "utf8")) as Record<
      string,
      string
    >,
  )
    .filter(([key]) => key.replace(/^[^,]*/, "") === suffix)
    .map(([key, gas]) => [key.replace(/,.*/, ""), Number(gas)]);

// The estimate is for the longest text; the one that was measured has 100 characters.
const longest = (name: string): number => (name === "sentiment" ? 1.6 : 1.34);

function expectNear(name: string, ratio: number): void {
  expect(ratio).toBeGreaterThan(0.75);
  expect(ratio).toBeLessThan(longest(name));
}

describe("estimateInferenceGas", () => {
  test.each(snapshot("inference"))("behavior: %s near its %i gas", (name, gas) => {
    expectNear(name, estimateInferenceGas(runnableModel(name).prepared.program) / gas);
  });
});

describe("estimateFastGas", () => {
  test.each(snapshot("inference", ", planned"))("behavior: %s, planned, near its %i gas", (name, gas) => {
    expectNear(name, estimateFastGas(runnableModel(name).prepared.program) / gas);
  });

  test.each(snapshot("inference-compiled", ", compiled"))(
    "behavior: %s, compiled, near its %i gas",
    (name, gas) => {
      const { program } = runnableModel(name).prepared;
      expectNear(name, estimateFastGas(program, planCompilation(program).parts.length) / gas);
    },
  );
});
