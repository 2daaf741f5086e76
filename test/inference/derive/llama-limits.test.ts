/** The longest lengths, and weights and scales that nobody measured together: proven, or refused by an error of ours. */
import { describe, expect, it } from "vitest";
import { isBaseError } from "../../../base/errors.ts";
import { readGguf } from "../../../inference/derive/gguf.ts";
import { deriveLlama } from "../../../inference/derive/llama/derive.ts";
import { proveProfile } from "../../../inference/profile/prove.ts";
import { textOf, textsOf } from "../../support/derived-llama.ts";
import { type Entry, type RandomTensor, randomTensor } from "../../support/gguf-file.ts";
import { compared, made } from "../../support/llama-choices.ts";
import { measuredScales } from "../../support/llama-reference.ts";
import { createRng } from "../../support/rng.ts";
import { type SmallOptions, smallLlama } from "../../support/small-llama.ts";

/** Two heads of 16 channels, one layer, 256 ids. */
const SIZES = { heads: 2, sharedHeads: 1, hidden: 64, layers: 1, vocabulary: 256, ownOutput: true } as const;
const SMALL = smallLlama(createRng(1), SIZES);
const SCALES = measuredScales(SMALL, textsOf(createRng(2), SMALL, 20));
const SHORT = { prompt: 2, answer: 3 };
type Changed = NonNullable<SmallOptions["changed"]>;

const derived = (changed?: Changed, scales: unknown = SCALES, lengths = SHORT) =>
  deriveLlama(
    readGguf(smallLlama(createRng(1), { ...SIZES, ...(changed && { changed }) }).bytes),
    scales,
    lengths,
  );

/** "derived", or an error's code. */
function codeOf(changed?: Changed, scales: unknown = SCALES): string {
  try {
    derived(changed, scales);
    return "derived";
  } catch (error) {
    if (isBaseError(error)) return error.code;
    throw error;
  }
}

const zeros =
  (...names: string[]): Changed =>
  ({ tensors }) => {
    for (const name of names) {
      const tensor = tensors.get(name) as RandomTensor;
      tensors.set(name, { ...tensor, bytes: new Uint8Array(tensor.bytes.length) });
    }
  };
const gains = (name: string, gain: number): Changed => {
  const bytes = new Uint8Array(Float32Array.from({ length: 32 }, () => gain).buffer);
  return ({ tensors }) =>
    tensors.set(name, { dims: [32], format: "F32", values: new Float64Array(32).fill(gain), bytes });
};
const entry =
  (key: string, value: Entry): Changed =>
  ({ metadata }) => {
    metadata[key] = value;
  };

describe("deriveLlama at its limits", () => {
  it("behavior: the longest lengths are proven", () => {
    for (const lengths of [
      { prompt: 200, answer: 57 },
      { prompt: 1, answer: 256 },
    ]) {
      const { model, nodes } = derived(undefined, SCALES, lengths);
      expect(() => proveProfile(model, nodes)).not.toThrow();
    }
  });

  it.each<[string, Changed, string]>([
    ["an embedding of zeros", zeros("token_embd.weight"), "GGUF_INVALID"],
    ["queries and keys of zeros", zeros("blk.0.attn_q.weight", "blk.0.attn_k.weight"), "GGUF_INVALID"],
    ["gains of 0", gains("blk.0.attn_norm.weight", 0), "derived"],
    ["huge gains", gains("output_norm.weight", 1e30), "DERIVATION_REFUSED"],
    ["a vocabulary of none", emptied, "GGUF_INVALID"],
    ["half a head", entry("llama.attention.head_count_kv", ["f32", 0.5]), "GGUF_INVALID"],
    ["an end between ids", entry("tokenizer.ggml.eos_token_id", ["f32", 1.5]), "GGUF_INVALID"],
    ["an end that is no id", entry("tokenizer.ggml.eos_token_id", ["u32", 256]), "GGUF_INVALID"],
    ["more layers than tensors", entry("llama.block_count", ["u32", 2 ** 20]), "GGUF_INVALID"],
    ["the first id as the end", entry("tokenizer.ggml.eos_token_id", ["u32", 0]), "derived"],
  ])("behavior: %s", (_, changed, code) => {
    expect(codeOf(changed)).toBe(code);
  });

  it("behavior: scales that are far from what was measured give a program or an error of ours", () => {
    const [layer] = SCALES.layers;
    for (const name of ["attention", "q", "k", "mixed", "mlp", "gate", "up", "hidden"]) {
      for (const most of [1, 2 ** 31 - 1]) {
        const code = codeOf(undefined, { ...SCALES, layers: [{ ...layer, [name]: most }] });
        expect(["derived", "DERIVATION_REFUSED"], `${name} ${most}`).toContain(code);
      }
    }
  });

  it("behavior: a row of zeros costs the others nothing, however small they are", () => {
    const [whole, withZeros] = [false, true].map((isZero) => {
      const errors = [0, 1, 2, 3].flatMap((seed) => {
        const rng = createRng(seed);
        const changed: Changed = ({ tensors }) => smaller(tensors, seed, isZero);
        const model = made(rng, { ...SIZES, end: 255, changed }, 3, 5);
        return [1, 2, 3].flatMap(() =>
          [...compared(model, textOf(rng, model.model, 3))].map(({ error }) => error),
        );
      });
      return errors.reduce((sum, error) => sum + error, 0) / errors.length;
    }) as [number, number];
    expect(withZeros).toBeLessThan(1.5 * whole);
  });
});

function emptied({ tensors }: Parameters<Changed>[0]): void {
  tensors.delete("output.weight");
  const none = { format: "F16", bytes: new Uint8Array(0), values: new Float64Array(0) } as const;
  tensors.set("token_embd.weight", { ...none, dims: [0, 32] });
}

/** Weights in front of attention that are 16 times as small, with gains that make up for it; one row of zeros, or none. */
function smaller(tensors: Map<string, RandomTensor>, seed: number, isZero: boolean): void {
  const norm = tensors.get("blk.0.attn_norm.weight") as RandomTensor;
  const values = norm.values.map((x) => Math.fround(16 * x));
  const bytes = new Uint8Array(Float32Array.from(values).buffer);
  tensors.set("blk.0.attn_norm.weight", { ...norm, values, bytes });
  for (const part of ["q", "k", "v"]) {
    const { dims } = tensors.get(`blk.0.attn_${part}.weight`) as RandomTensor;
    const tensor = randomTensor(createRng(seed + 9), "Q8_0", dims, 0.3 / 16);
    if (isZero && part === "q") {
      tensor.bytes.fill(0, 0, 34);
      tensor.values.fill(0, 0, 32);
    }
    tensors.set(`blk.0.attn_${part}.weight`, tensor);
  }
}
