/** What no program can be derived from: one error each, that names what is wrong. */
import { describe, expect, it } from "vitest";
import { isBaseError } from "../../../base/errors.ts";
import { readGguf } from "../../../inference/derive/gguf.ts";
import type { Lengths } from "../../../inference/derive/llama/context.ts";
import { deriveLlama } from "../../../inference/derive/llama/derive.ts";
import { textsOf } from "../../support/derived-llama.ts";
import { type Entry, randomTensor } from "../../support/gguf-file.ts";
import { measuredScales } from "../../support/llama-reference.ts";
import { createRng } from "../../support/rng.ts";
import { type SmallOptions, smallLlama } from "../../support/small-llama.ts";

/** Two heads of 16 channels, one layer, 256 ids. */
const SIZES = { heads: 2, sharedHeads: 1, hidden: 64, layers: 1, vocabulary: 256, ownOutput: true } as const;
const SMALL = smallLlama(createRng(1), SIZES);
const SCALES = measuredScales(SMALL, textsOf(createRng(2), SMALL, 5));
const LENGTHS: Lengths = { prompt: 2, answer: 3 };

/** @returns code and what is wrong */
function refusal(
  changed: SmallOptions["changed"],
  scales: unknown = SCALES,
  lengths = LENGTHS,
  only?: readonly number[],
): string {
  const file = readGguf(smallLlama(createRng(1), { ...SIZES, ...(changed && { changed }) }).bytes);
  try {
    deriveLlama(file, scales, lengths, only);
  } catch (error) {
    if (isBaseError(error)) return `${error.code}: ${error.shortMessage}`;
    throw error;
  }
  return "derived";
}

type Changed = NonNullable<SmallOptions["changed"]>;
const entry =
  (key: string, value: Entry): Changed =>
  ({ metadata }) => {
    metadata[key] = value;
  };
const without =
  (key: string): Changed =>
  ({ metadata }) => {
    delete metadata[key];
  };
const tensor =
  (name: string, dims: readonly number[], format: "F16" | "F32" = "F16"): Changed =>
  ({ tensors }) => {
    tensors.set(name, randomTensor(createRng(3), format, dims, 1));
  };
const GGUF = "GGUF_INVALID: No model can be derived from the GGUF file: ";

describe("deriveLlama", () => {
  it("default: what the errors below are changes of", () => {
    expect(refusal(undefined)).toBe("derived");
    expect(refusal(entry("llama.rope.scaling.type", ["string", "none"]))).toBe("derived");
  });

  it.each<[string, Changed, string]>([
    [
      "another architecture",
      entry("general.architecture", ["string", "qwen2"]),
      "its architecture is qwen2, llama is derived.",
    ],
    ["no architecture", without("general.architecture"), "its architecture is undefined, llama is derived."],
    [
      "no layers",
      entry("llama.block_count", ["u32", 0]),
      "its entry llama.block_count is 0, must be above 0 and at most 12.",
    ],
    [
      "an entry that is absent",
      without("llama.rope.freq_base"),
      "its entry llama.rope.freq_base is undefined, ",
    ],
    [
      "a size that is a text",
      entry("llama.embedding_length", ["string", "32"]),
      "its entry llama.embedding_length is 32, ",
    ],
    [
      "rows too long for a product",
      entry("llama.embedding_length", ["u32", 1_024]),
      "its entry llama.embedding_length is 1024, must be above 0 and at most 992.",
    ],
    [
      "heads that do not divide the width",
      entry("llama.attention.head_count", ["u32", 3]),
      "3 heads of 10.666666666666666 channels and 1 heads of keys do not divide.",
    ],
    [
      "shared heads that do not divide the heads",
      entry("llama.attention.head_count_kv", ["u32", 3]),
      "2 heads of 16 channels and 3 heads of keys do not divide.",
    ],
    [
      "a part of each head turned",
      entry("llama.rope.dimension_count", ["u32", 8]),
      "places turn 8 of a head's 16 channels.",
    ],
    ["scaled places", entry("llama.rope.scaling.type", ["string", "yarn"]), "its places are scaled (yarn)."],
    [
      "a tensor that is absent",
      ({ tensors }) => tensors.delete("blk.0.ffn_up.weight"),
      "it has no tensor blk.0.ffn_up.weight.",
    ],
    [
      "no embedding",
      ({ tensors }) => tensors.delete("token_embd.weight"),
      "it has no tensor token_embd.weight.",
    ],
    [
      "no last gains",
      ({ tensors }) => tensors.delete("output_norm.weight"),
      "it has no tensor output_norm.weight.",
    ],
    ["one layer too few", entry("llama.block_count", ["u32", 2]), "it has no tensor blk.1.attn_norm.weight."],
    ["a bias", tensor("blk.0.attn_q.bias", [32], "F32"), "nothing is made of its tensor blk.0.attn_q.bias."],
    [
      "one layer too many",
      tensor("blk.1.attn_norm.weight", [32], "F32"),
      "nothing is made of its tensor blk.1.attn_norm.weight.",
    ],
    [
      "factors of places",
      tensor("rope_freqs.weight", [8], "F32"),
      "nothing is made of its tensor rope_freqs.weight.",
    ],
    [
      "rows of another length",
      tensor("blk.0.attn_k.weight", [16, 64]),
      "tensor blk.0.attn_k.weight is [16,64], must be [16,32].",
    ],
    [
      "more rows",
      tensor("blk.0.attn_v.weight", [32, 32]),
      "tensor blk.0.attn_v.weight is [32,32], must be [16,32].",
    ],
    [
      "the other order",
      tensor("blk.0.ffn_down.weight", [64, 32]),
      "tensor blk.0.ffn_down.weight is [64,32], must be [32,64].",
    ],
    [
      "another rank",
      tensor("blk.0.attn_output.weight", [1, 32, 32]),
      "tensor blk.0.attn_output.weight is [1,32,32], must be [32,32].",
    ],
    [
      "a last product of other ids",
      tensor("output.weight", [512, 32]),
      "tensor output.weight is [512,32], must be [256,32].",
    ],
    [
      "ids that are no multiple of 256",
      tensor("token_embd.weight", [288, 32]),
      "its vocabulary of 288 is no multiple of 256 of at most 65280.",
    ],
    [
      "more ids than numbers of 16 bits",
      tensor("token_embd.weight", [65_536, 32]),
      "its vocabulary of 65536 is no multiple of 256 of at most 65280.",
    ],
  ])("error: %s", (_, changed, expected) => {
    expect(refusal(changed)).toContain(GGUF + expected);
  });

  it.each<[string, Changed, string]>([
    [
      "gains of 16 bits",
      tensor("blk.0.attn_norm.weight", [32]),
      "tensor blk.0.attn_norm.weight is F16, F32 is needed there.",
    ],
    [
      "a matrix of float32",
      tensor("blk.0.attn_q.weight", [32, 32], "F32"),
      "tensor blk.0.attn_q.weight is F32, F16 or blocks are needed there.",
    ],
    [
      "an embedding of float32",
      tensor("token_embd.weight", [256, 32], "F32"),
      "tensor token_embd.weight is F32, F16 or blocks are needed there.",
    ],
  ])("error: %s", (_, changed, expected) => {
    expect(refusal(changed)).toBe(`GGUF_INVALID: The GGUF file cannot be read: ${expected}`);
  });

  it.each<[number, number]>([
    [0, 3],
    [2, 0],
    [-1, 3],
    [1.5, 2],
    [Number.NaN, 2],
    [2, Number.POSITIVE_INFINITY],
    [2 ** 53, 1],
    [300, 64],
    [1, 363],
    [363, 1],
  ])("error: a prompt of %s and an answer of %s ids", (prompt, answer) => {
    expect(refusal(undefined, SCALES, { prompt, answer })).toBe(
      `LENGTHS_INVALID: A prompt of ${prompt} and an answer of ${answer} ids: each has at least 1, both together at most 363.`,
    );
  });

  it.each<[readonly number[], string]>([
    [[], "An answer of 0 ids: "],
    [[3, 256], "An answer of 2 ids, of which number 1 is 256: "],
    [[-1], "An answer of 1 ids, of which number 0 is -1: "],
    [[1.5], "An answer of 1 ids, of which number 0 is 1.5: "],
    [[4, 4], "An answer of 2 ids, of which number 1 is 4: "],
    [[5, 4], "An answer of 2 ids, of which number 1 is 4: "],
  ])("error: answers held to the ids %j", (only, what) => {
    expect(refusal(undefined, SCALES, { prompt: 2, answer: 1 }, only)).toBe(
      `ANSWER_IDS_INVALID: ${what}1 to 1024 are chosen among, each below the vocabulary's 256 and above the one before it.`,
    );
  });

  it("default: the longest, and the shortest", () => {
    for (const [prompt, answer] of [
      [1, 1],
      [1, 2],
      [2, 1],
      [300, 63],
    ] as const)
      expect(refusal(undefined, SCALES, { prompt, answer })).toBe("derived");
  });
});
