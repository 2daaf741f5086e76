/** A small derived language model that answers every prompt with the same text: one token of its own, then the end. */
import { BYTE_CHARACTERS } from "../../inference/text/byte-level.ts";
import { type Entry, halfBits, halfValue, type RandomTensor } from "./gguf-file.ts";
import { createRng } from "./rng.ts";
import { type SmallLlama, smallLlama } from "./small-llama.ts";
import { END, tokenizerEntries } from "./small-tokenizer.ts";
import { writeTalking } from "./talking-model.ts";

const VOCABULARY = 512;
/** Of the answer's token, in the place of an unused one. */
const ANSWER = VOCABULARY - 1;
/** Beside which what the layers add is small. */
const LARGE = 30;

/** Its last product reads two channels of the residual: that of the token in front of the answer, and that of the answer. */
export function answeringLlama(answer: string): SmallLlama {
  const entries = tokenizerEntries(VOCABULARY);
  const tokens = [...(listOf(entries, "tokens") as string[])];
  const types = [...(listOf(entries, "token_type") as number[])];
  const line = tokens.indexOf(characters("\n"));
  [tokens[ANSWER], types[ANSWER]] = [characters(answer), 1];
  const metadata = {
    ...entries,
    "tokenizer.ggml.tokens": ["array", "string", tokens],
    "tokenizer.ggml.token_type": ["array", "i32", types],
  } as const;
  return smallLlama(createRng(11), {
    ...{ layers: 1, heads: 2, sharedHeads: 2, hidden: 64, vocabulary: VOCABULARY, ownOutput: true, end: END },
    changed: (parts) => {
      Object.assign(parts.metadata, metadata);
      const change = (name: string, large: readonly (readonly [row: number, column: number])[]) =>
        parts.tensors.set(name, withLarge(parts.tensors.get(name) as RandomTensor, large));
      change("token_embd.weight", [
        [line, 0],
        [ANSWER, 1],
      ]);
      change("output.weight", [
        [ANSWER, 0],
        [END as number, 1],
      ]);
      parts.tensors.set("output_norm.weight", ones(parts.tensors.get("output_norm.weight") as RandomTensor));
    },
  });
}

/** Writes the model's folder. @param parent as of `writeTalking` */
export const writeAnswering = (
  parent: string,
  answer: string,
  lengths: { readonly prompt: number; readonly answer: number },
): string => writeTalking(parent, lengths, answeringLlama(answer), { prompt: 40, answer: 2 });

/** Nothing in the first two columns but these. */
function withLarge(
  { dims, values }: RandomTensor,
  large: readonly (readonly [row: number, column: number])[],
): RandomTensor {
  const width = dims[1] as number;
  const changed = values.map((value, i) => (i % width < 2 ? 0 : value));
  for (const [row, column] of large) changed[row * width + column] = LARGE;
  const bits = Uint16Array.from(changed, halfBits);
  const bytes = new Uint8Array(bits.buffer);
  return { dims, format: "F16", bytes, values: Float64Array.from(bits, halfValue) };
}

function ones({ dims, values }: RandomTensor): RandomTensor {
  const numbers = new Float32Array(values.length).fill(1);
  return { dims, format: "F32", bytes: new Uint8Array(numbers.buffer), values: Float64Array.from(numbers) };
}

const characters = (text: string): string =>
  Array.from(new TextEncoder().encode(text), (byte) => BYTE_CHARACTERS[byte]).join("");

const listOf = (entries: Readonly<Record<string, Entry>>, name: string): unknown =>
  entries[`tokenizer.ggml.${name}`]?.[2];
