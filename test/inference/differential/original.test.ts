import { describe, expect, it } from "vitest";
import { CHAINS } from "../../support/attention-graphs.ts";
import { inputsOf } from "../../support/both-ways.ts";
import { onnxFile } from "../../support/onnx-file.ts";
import { type Comparison, compareImport, nothingCompared } from "../../support/onnx-original.ts";
import { EXACT, NEAR } from "../../support/operator-graphs.ts";
import type { Generator } from "../../support/quantized-graphs.ts";
import { createRng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";

const GRAPHS = scaled(3, 24);
const RUNS = scaled(4, 8);

async function compare(name: string, generator: Generator): Promise<Comparison> {
  const comparison = nothingCompared();
  for (let seed = 0; seed < GRAPHS; seed++) {
    const rng = createRng(1000 + seed);
    const operator = generator(rng);
    const runs = Array.from({ length: RUNS }, () => inputsOf(rng, operator));
    await compareImport(onnxFile(operator.graph), runs, comparison);
  }
  const { compared, different, largest } = comparison;
  process.stdout.write(`${name}: ${compared} compared, ${different} different, by at most ${largest}\n`);
  expect(compared).toBeGreaterThan(scaled(150, 3000));
  return comparison;
}

describe("import and onnxruntime on the original file", () => {
  it.each(Object.entries(EXACT))("behavior: %s is exact", async (name, generator) => {
    expect(await compare(name, generator)).toMatchObject({ different: 0, largest: 0 });
  });

  it.each(Object.entries(NEAR))("behavior: %s is at most one unit off", async (name, generator) => {
    const { compared, different, largest } = await compare(name, generator);
    expect(largest).toBeLessThanOrEqual(1);
    // Now and then, not as a rule.
    expect(different / compared).toBeLessThan(0.1);
  });
  it.each(Object.entries(CHAINS))(
    "behavior: %s of several such nodes is at most three units off",
    async (name, generator) => {
      expect((await compare(name, generator)).largest).toBeLessThanOrEqual(3);
    },
  );
});
