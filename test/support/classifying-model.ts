/** A small derived classifier with word pieces, as a folder: random weights. */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readGguf } from "../../inference/derive/gguf.ts";
import { checkedScales } from "../../inference/derive/recipe.ts";
import { deriveModel } from "../../inference/manifest/derive-model.ts";
import { checkedTool } from "../../inference/manifest/tool.ts";
import { saveModelFolder, sha256Bytes } from "../../inference/model-folder.ts";
import { measuredBertScales } from "./bert-reference.ts";
import { createRng } from "./rng.ts";
import { type SmallBert, smallBert } from "./small-bert.ts";

const TOOL = {
  name: "Small classifier",
  description: "Made by a test.",
  version: "1.0.0",
  abi: [
    {
      type: "function",
      name: "classify",
      inputs: [{ name: "ids", type: "uint256[]" }],
      outputs: [
        { name: "down", type: "int256" },
        { name: "up", type: "int256" },
      ],
    },
  ],
};

export const classifyingBert = (): SmallBert =>
  smallBert(createRng(3), { layers: 1, classes: 2, context: 16 });

function scalesOf({ bytes, ...bert }: SmallBert) {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const source = { file: "small.gguf", sha256 };
  return { source, ...measuredBertScales({ bytes, ...bert }, [[2, 5, 9, 20, 3]]) };
}

/** Writes what the model is derived from: its weights, scales.json and tool.json. */
export function writeClassifier(folder: string, bert = classifyingBert()): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "small.gguf"), bert.bytes);
  writeFileSync(join(folder, "scales.json"), JSON.stringify(scalesOf(bert)));
  writeFileSync(join(folder, "tool.json"), JSON.stringify(TOOL));
  return folder;
}

/** Writes the model's folder. @param text most ids */
export function writeClassifying(folder: string, text = 12, bert = classifyingBert()): string {
  const scales = checkedScales(scalesOf(bert), "scales.json");
  const source = {
    recipe: { family: "bert", lengths: { text }, scales } as const,
    file: readGguf(bert.bytes),
    tool: checkedTool(TOOL, "tool.json"),
    companions: new Map(),
  };
  const { written } = deriveModel(source, sha256Bytes);
  saveModelFolder(folder, written.manifest, written.files);
  return folder;
}
