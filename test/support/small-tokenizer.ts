/** Small byte-level BPE vocabularies as entries of a GGUF file. */
import { readGguf } from "../../inference/derive/gguf.ts";
import { derivedText } from "../../inference/derive/tokenizer.ts";
import { ModelText } from "../../inference/text/model-text.ts";
import type { TokenizerFiles } from "../../inference/text/tokenizer-file.ts";
import { type Entry, ggufFile } from "./gguf-file.ts";

/** Ids 0 to 2, in front of the 256 bytes. */
export const CONTROL = ["<|pad|>", "<|im_start|>", "<|im_end|>"] as const;
export const [BEGIN, END] = [1, 2];

/** GPT-2's characters, written down apart from the code: a byte that is no printable character of Latin-1 is U+0100 and
 *  what follows. */
const BYTES: readonly string[] = (() => {
  const others = [...Array(33).keys(), ...Array.from({ length: 34 }, (_, i) => 127 + i), 173];
  return Array.from({ length: 256 }, (_, byte) =>
    String.fromCharCode(others.includes(byte) ? 256 + others.indexOf(byte) : byte),
  );
})();

/** Ġ is a space, Ċ the end of a line. */
const MERGES = [
  ...["Ġ t", "h e", "Ġt he", "t h", "i n", "Ġ a", "Ġ Ġ", "ĠĠ ĠĠ", "a b", "ab ab"],
  ...["ð Ł", "Ã ©", "1 2", "Ċ Ċ", "i m", "< |", "| >", "e n", "en d"],
];

export const TEMPLATE =
  "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

export type Metadata = Readonly<Record<string, Entry>>;

/** @param vocabulary tokens, of which the last ones are unused; default: as many as there are */
export function tokenizerEntries(vocabulary?: number): Metadata {
  const used = [...CONTROL, ...BYTES, ...MERGES.map((merge) => merge.replace(" ", ""))];
  const unused = Math.max(0, (vocabulary ?? 0) - used.length);
  const tokens = [...used, ...Array.from({ length: unused }, (_, i) => `<unused${i}>`)];
  const types = tokens.map((_, id) => (id < CONTROL.length ? 3 : id < used.length ? 1 : 5));
  return {
    "tokenizer.ggml.model": ["string", "gpt2"],
    "tokenizer.ggml.pre": ["string", "smollm"],
    "tokenizer.ggml.tokens": ["array", "string", tokens],
    "tokenizer.ggml.token_type": ["array", "i32", types],
    "tokenizer.ggml.merges": ["array", "string", MERGES],
    "tokenizer.ggml.bos_token_id": ["u32", BEGIN as number],
    "tokenizer.ggml.eos_token_id": ["u32", END as number],
    "tokenizer.chat_template": ["string", TEMPLATE],
  };
}

/** What a file with these entries has of text. @param vocabulary default: as many ids as tokens */
export function derivedFrom(metadata: Metadata, vocabulary?: number) {
  const tokens = metadata["tokenizer.ggml.tokens"]?.[2]?.length ?? 0;
  return derivedText(readGguf(ggufFile({ metadata })), vocabulary ?? tokens);
}

/** @throws where the entries give no text */
export function tokenizerFilesOf(metadata: Metadata = tokenizerEntries()): TokenizerFiles {
  const text = derivedFrom(metadata);
  if ("files" in text) return text.files;
  throw new TypeError(text.without);
}

const ANSWER = 32;

export const smallText = (promptLength = 1_000, metadata?: Metadata): ModelText =>
  new ModelText(tokenizerFilesOf(metadata), { prompt: promptLength, answer: ANSWER });
