import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { planCompilation } from "../../../protocol/execution/compiled.ts";
import { estimateInferenceGas } from "../../../protocol/execution/cost.ts";
import { projectRoot } from "../../../tools/foundry.ts";
import { runnableModel } from "../../support/model-inputs.ts";

/** Gas by name of model, as `npm run snapshot` measured it. */
const snapshot = (name: string): [string, number][] =>
  Object.entries(
    JSON.parse(readFileSync(join(projectRoot, `bench/gas-snapshots/${name}.json`), "utf8")) as Record<
      string,
      string
    >,
  ).map(([key, gas]) => [key.replace(", compiled", ""), Number(gas)]);

// The estimate is for the longest text; the one that was measured has 100 characters.
const longest = (name: string): number => (name === "sentiment" ? 1.6 : 1.34);

describe("estimateInferenceGas", () => {
  test.each(snapshot("inference"))("behavior: %s, interpreted, near its %i gas", (name, gas) => {
    const ratio = estimateInferenceGas(runnableModel(name).prepared.program) / gas;
    expect(ratio).toBeGreaterThan(0.75);
    expect(ratio).toBeLessThan(longest(name));
  });

  test.each(snapshot("inference-compiled"))("behavior: %s, compiled, near its %i gas", (name, gas) => {
    const { program } = runnableModel(name).prepared;
    const ratio = estimateInferenceGas(program, planCompilation(program).parts.length) / gas;
    expect(ratio).toBeGreaterThan(0.75);
    expect(ratio).toBeLessThan(longest(name));
  });
});
