/** A small derived language model with text, as a folder: 512 ids, random weights. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readGguf } from "../../inference/derive/gguf.ts";
import { checkedScales } from "../../inference/derive/recipe.ts";
import { deriveModel } from "../../inference/manifest/derive-model.ts";
import { checkedTool } from "../../inference/manifest/tool.ts";
import { saveModelFolder, sha256Bytes } from "../../inference/model-folder.ts";
import { measuredOn, writeDerivation } from "./derivation.ts";
import { createRng } from "./rng.ts";
import { type SmallLlama, smallLlama } from "./small-llama.ts";
import { END, type Metadata, tokenizerEntries } from "./small-tokenizer.ts";

const VOCABULARY = 512;

/** @param metadata that the GGUF file has besides */
export const talkingLlama = (metadata: Metadata = tokenizerEntries(VOCABULARY)): SmallLlama =>
  smallLlama(createRng(5), {
    ...{ layers: 1, vocabulary: VOCABULARY, end: END },
    changed: (parts) => void Object.assign(parts.metadata, metadata),
  });

/** Writes the model's folder. @param parent of it and of what it is derived from
 *  @param measured lengths of the texts that scales are measured on */
export function writeTalking(
  parent: string,
  lengths: { readonly prompt: number; readonly answer: number },
  llama = talkingLlama(),
  measured = lengths,
): string {
  const { folder, weights } = writeDerivation(join(parent, "source"), llama, measuredOn(llama, measured));
  const json = (name: string): unknown => JSON.parse(readFileSync(join(folder, name), "utf8"));
  const source = {
    recipe: { family: "llama", lengths, scales: checkedScales(json("scales.json"), "scales.json") } as const,
    file: readGguf(new Uint8Array(readFileSync(weights))),
    tool: checkedTool(json("tool.json"), "tool.json"),
    companions: new Map(),
  };
  const { written } = deriveModel(source, sha256Bytes);
  const made = join(parent, "model");
  saveModelFolder(made, written.manifest, written.files);
  return made;
}
