/** What `assay model derive` needs of a small model, as files. */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Lengths } from "../../inference/derive/llama/context.ts";
import { textsOf } from "./derived-llama.ts";
import { type Measured, measuredScales } from "./llama-reference.ts";
import { createRng } from "./rng.ts";
import type { SmallLlama } from "./small-llama.ts";

export interface Derivation {
  /** with scales.json and tool.json */
  readonly folder: string;
  /** the GGUF file */
  readonly weights: string;
}

export const measuredOn = (model: SmallLlama, { prompt, answer }: Lengths): Measured =>
  measuredScales(model, textsOf(createRng(1), model, prompt + answer));

const TOOL = {
  name: "Small language model",
  description: "Made by a test.",
  version: "1.0.0",
  abi: [
    {
      type: "function",
      name: "answer",
      inputs: [{ name: "prompt", type: "uint256[]" }],
      outputs: [{ name: "ids", type: "uint256[]" }],
    },
  ],
};

export function writeDerivation(folder: string, { bytes }: SmallLlama, scales: Measured): Derivation {
  mkdirSync(folder, { recursive: true });
  const weights = join(folder, "small.gguf");
  writeFileSync(weights, bytes);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const source = { package: "small", version: "1.0.0", file: "small.gguf", sha256 };
  writeFileSync(join(folder, "scales.json"), JSON.stringify({ source, ...scales }));
  writeFileSync(join(folder, "tool.json"), JSON.stringify(TOOL));
  return { folder, weights };
}
