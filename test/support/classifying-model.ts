/** A small derived classifier with word pieces, as a folder: random weights. */
import { createHash } from "node:crypto";
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

/** Writes the model's folder. @param text most ids */
export function writeClassifying(folder: string, text = 12, bert = classifyingBert()): string {
  const sha256 = createHash("sha256").update(bert.bytes).digest("hex");
  const scales = { source: { file: "small.gguf", sha256 }, ...measuredBertScales(bert, [[2, 5, 9, 20, 3]]) };
  const source = {
    recipe: { family: "bert", lengths: { text }, scales: checkedScales(scales, "scales.json") } as const,
    weights: bert.bytes,
    tool: checkedTool(TOOL, "tool.json"),
    companions: new Map(),
  };
  const { written } = deriveModel(source, sha256Bytes);
  saveModelFolder(folder, written.manifest, written.files);
  return folder;
}
