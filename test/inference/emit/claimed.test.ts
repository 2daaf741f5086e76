/** The emitted file of a program that reads the claimed output: it takes that as an input, and so checks an output. */
import { expect, it } from "vitest";
import { emit } from "../../../inference/emit/emit.ts";
import { findOutput } from "../../../inference/executor/find-output.ts";
import { derivedLlama, promptInput, textOf, textsOf } from "../../support/derived-llama.ts";
import { canonicalExecutor, compareCase, Tally } from "../../support/differential.ts";
import { measuredScales } from "../../support/llama-reference.ts";
import { createRng } from "../../support/rng.ts";
import { smallLlama } from "../../support/small-llama.ts";

const MODELS = process.env.TEST_DEPTH === "nightly" ? 40 : 4;
const LENGTHS = { prompt: 5, answer: 4 };

it("args: claimed: every step of a language model is the executor's, on right outputs and on wrong ones", async () => {
  const tally = new Tally();
  for (let seed = 0; seed < MODELS; seed++) {
    const rng = createRng(seed);
    const llama = smallLlama(rng);
    const scales = measuredScales(llama, textsOf(rng, llama, 9));
    const held = derivedLlama(llama, scales, LENGTHS);
    const { model } = held.derived;
    expect(emit(model)).toMatchObject({
      refused: expect.stringContaining("one pass does not find the output"),
    });
    const input = promptInput(held, textOf(rng, llama, rng.int(1, LENGTHS.prompt)));
    const right = findOutput(held.prepared, input);
    const wrong = right.slice();
    wrong[64 + 31] = (wrong[64 + 31] as number) ^ 1;
    const runs = [right, wrong].map((output) => held.prepared.inputTensors(input, output));
    await compareCase(canonicalExecutor, { name: `seed ${seed}`, model, runs }, tally);
  }
  expect(tally.samples).toEqual([]);
  expect(tally.total.different).toBe(0);
  expect(tally.total.compared).toBeGreaterThan(10_000 * MODELS);
});
