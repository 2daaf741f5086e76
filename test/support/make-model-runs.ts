/** `tsx test/support/make-model-runs.ts` writes test/vectors/model-runs.json: runs of the shipped models and of the
 *  bench's task by the executor, as `abi.decode(blob, (ModelRun))` reads them:
 *
 *      struct ModelRun { string name; bytes program; bytes weights; bytes32 weightsRoot; bytes4 selector;
 *                        bytes[] inputs; bytes[] outputs; }
 *
 *  Program and weights of a shipped model are empty: they are in models/<name>/. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { encodeAbiParameters, parseAbiParameters } from "viem";
import { toHex } from "../../base/bytes.ts";
import { encodeInput } from "../../inference/codecs/input.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { MLP, type RunnableModel, realInput, runnableModel } from "./model-inputs.ts";
import { createRng } from "./rng.ts";

const ABI = parseAbiParameters([
  "ModelRun run",
  "struct ModelRun { string name; bytes program; bytes weights; bytes32 weightsRoot; bytes4 selector; bytes[] inputs; bytes[] outputs; }",
]);

/** 100 characters: the first input of models/sentiment, whose gas is a target. */
const HEADLINE =
  "Goldman Sachs lifts Apple price target to $250 from $220, citing iPhone demand and services margins.";

function inputs({ prepared }: RunnableModel): Uint8Array[] {
  const { program, selector } = prepared;
  const rng = createRng(11);
  const made = Array.from({ length: 3 }, () => realInput(rng, program, selector));
  if (program.inputCodec !== "text") return made;
  const bytes = new TextEncoder().encode(HEADLINE);
  if (bytes.length !== 100) throw new Error(`the headline has ${bytes.length} bytes, must have 100`);
  return [encodeInput(program, selector, { codec: "text", text: bytes }), ...made];
}

function blob(name: string): string {
  const model = runnableModel(name);
  const given = inputs(model);
  const own = name === MLP;
  return encodeAbiParameters(ABI, [
    {
      name,
      program: own ? toHex(model.program) : "0x",
      weights: own ? toHex(model.weights) : "0x",
      weightsRoot: toHex(model.weightsRoot),
      selector: toHex(model.prepared.selector),
      inputs: given.map(toHex),
      outputs: given.map((input) => toHex(model.run(input))),
    },
  ]);
}

const lines = [MLP, "forecast-btc", "sentiment", "forecast-hourly", "sentiment-words"].map(
  (name) => `  ${JSON.stringify(blob(name))}`,
);
writeFileSync(
  join(projectRoot, "test/vectors/model-runs.json"),
  `{"source": "test/support/make-model-runs.ts", "vectors": [\n${lines.join(",\n")}\n]}\n`,
);
