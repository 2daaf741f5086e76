/** A dispute over one token of SmolLM2-135M-Instruct on a chain, move by move: a claim of a wrong token, with a trace in
 *  which one number makes it the likeliest, falls by that number. `npm run test:sequences` plays such a dispute with
 *  processes that are killed in the middle. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openBenchChain, SELECTOR } from "../../bench/chain.ts";
import { measureDispute } from "../../bench/dispute.ts";
import { lastProduct } from "../../bench/sequences/dispute.ts";
import { encodeInput } from "../../inference/codecs/input.ts";
import { decodeOutput, encodeOutput } from "../../inference/codecs/output.ts";
import { readGguf } from "../../inference/derive/gguf.ts";
import { deriveLlama } from "../../inference/derive/llama/derive.ts";
import { checkOutput } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { ID_OFFSET, promptNumbers } from "../../inference/text/ids.ts";
import { smollm2Weights } from "../support/smollm2.ts";

const LENGTHS = { prompt: 16, answer: 2 };
/** "What is the capital of France?" by the chat template, without a system prompt. */
const PROMPT = [1, 4093, 198, 1780, 314, 260, 3575, 282, 4649, 47, 2, 198, 1, 520, 9531, 198];
/** "The capital" */
const ANSWER = [504, 3575];

const weights = smollm2Weights();

describe.skipIf(weights === undefined)("SmolLM2-135M-Instruct on a chain", () => {
  it("behavior: a claim of a wrong token falls by one number of its trace", async () => {
    const file = readGguf(new Uint8Array(readFileSync(weights as string)));
    const scales: unknown = JSON.parse(readFileSync("models/smollm2/scales.json", "utf8"));
    const { model } = deriveLlama(file, scales, LENGTHS);
    const { program } = model;
    const input = { codec: "int16s", int16s: promptNumbers(PROMPT, LENGTHS.prompt) } as const;
    const idsOf = (output: Uint8Array): number[] =>
      Array.from(decodeOutput(program, output).data, (number) => number + ID_OFFSET);
    const right = encodeOutput(program, {
      type: "s32",
      dims: [LENGTHS.answer, 1],
      data: Int32Array.from(ANSWER, (id) => id - ID_OFFSET),
    });
    const calldata = encodeInput(program, SELECTOR, input);
    const prepared = prepare(model, SELECTOR);
    expect(checkOutput(prepared, calldata, right).isRight).toBe(true);
    const bench = await openBenchChain();
    try {
      const step = lastProduct(model);
      const { claimed, moves } = await measureDispute(bench, model, { prepared, step, input });
      expect(idsOf(claimed)).not.toEqual(ANSWER);
      expect(moves.at(-1)?.name).toBe("convictElement");
      expect(moves.length).toBeLessThanOrEqual(11);
    } finally {
      await bench.close();
    }
  });
});
