import { type LeafModel, leafBytes } from "../../protocol/rules/promises/leaf.ts";
import type { Rng } from "./rng.ts";

/** Any bytes that are a leaf of the model. */
export function randomLeaf(rng: Rng, model: LeafModel): Uint8Array {
  const text = model.inputCodec === "text" ? rng.int(0, model.inputSize) : 0;
  const leaf = rng.bytes(leafBytes(model) + text);
  if (model.inputCodec === "text") leaf.set([text >> 8, text & 255]);
  return leaf;
}
