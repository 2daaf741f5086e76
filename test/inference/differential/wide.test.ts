import { describe, expect, it } from "vitest";
import { compareBoth, inputsOf } from "../../support/both-ways.ts";
import { onnxFile } from "../../support/onnx-file.ts";
import type { Generator } from "../../support/quantized-graphs.ts";
import { createRng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";
import { EXACT_WIDE, NEAR_WIDE } from "../../support/wide-graphs.ts";

const GRAPHS = scaled(3, 24);
const RUNS = scaled(2, 8);

async function compare(name: string, generator: Generator) {
  const total = { compared: 0, different: 0, largest: 0, emitted: 0, emittedDifferent: 0 };
  for (let seed = 0; seed < GRAPHS; seed++) {
    const rng = createRng(7000 + seed);
    const operator = generator(rng);
    const runs = Array.from({ length: RUNS }, () => inputsOf(rng, operator));
    const { original, emitted } = await compareBoth(name, onnxFile(operator.graph), runs);
    total.compared += original.compared;
    total.different += original.different;
    total.largest = Math.max(total.largest, original.largest);
    total.emitted += emitted.compared;
    total.emittedDifferent += emitted.different;
  }
  const { compared, different, largest } = total;
  process.stdout.write(`${name}: ${compared} compared, ${different} different, by at most ${largest}\n`);
  return total;
}

describe("16-bit activations and onnxruntime, on the emitted and on the original file", () => {
  it.each(Object.entries(EXACT_WIDE))("behavior: %s is exact", async (name, generator) => {
    expect(await compare(name, generator)).toMatchObject({ different: 0, emittedDifferent: 0 });
  });

  it.each(Object.entries(NEAR_WIDE))("behavior: %s is at most one unit off", async (name, generator) => {
    const { compared, different, largest, emittedDifferent } = await compare(name, generator);
    expect(emittedDifferent).toBe(0);
    expect(largest).toBeLessThanOrEqual(1);
    expect(different / compared).toBeLessThan(0.1);
  });
});
