/** The real vocabulary of SmolLM2 beside another implementation's ids. Source of the vectors:
 *  models/smollm2/tokenizer_vectors.py. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readGguf } from "../../inference/derive/gguf.ts";
import { derivedText } from "../../inference/derive/tokenizer.ts";
import type { Message } from "../../inference/text/chat.ts";
import { ModelText } from "../../inference/text/model-text.ts";
import { smollm2Weights } from "../support/smollm2.ts";

interface Vectors {
  readonly texts: readonly { readonly text: string; readonly ids: readonly number[] }[];
  readonly controlLike: Vectors["texts"];
  readonly chats: readonly { readonly messages: readonly Message[]; readonly ids: readonly number[] }[];
}

const VOCABULARY = 49_152;
const path = smollm2Weights();

function modelOf(file: string): ModelText {
  const text = derivedText(readGguf(new Uint8Array(readFileSync(file))), VOCABULARY);
  if ("files" in text) return new ModelText(text.files, { prompt: 1_024, answer: 32 });
  throw new TypeError(text.without);
}

describe.skipIf(path === undefined)("SmolLM2's tokenizer, where ASSAY_WEIGHTS names the weights", () => {
  const vectors = JSON.parse(readFileSync("test/vectors/smollm2-tokenizer.json", "utf8")) as Vectors;

  it("default: the ids of texts, of texts that look like control tokens, and of conversations", () => {
    const model = modelOf(path as string);
    expect(vectors.texts.length).toBeGreaterThanOrEqual(200);
    for (const { text, ids } of [...vectors.texts, ...vectors.controlLike]) {
      expect(model.tokenizer.ids(text), JSON.stringify(text)).toEqual(ids);
      expect(model.tokenizer.text(ids)).toBe(text);
    }
    for (const { messages, ids } of vectors.chats)
      expect(model.ids(messages), JSON.stringify(messages)).toEqual(ids);
  }, 60_000);
});
