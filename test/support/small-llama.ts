/** Random small language models of the Llama family: the bytes of a GGUF file, and the numbers that it stands for. */
import { type Entry, type FormatName, ggufFile, type RandomTensor, randomTensor } from "./gguf-file.ts";
import type { Rng } from "./rng.ts";

export interface SmallLlama {
  readonly layers: number;
  readonly width: number;
  readonly hidden: number;
  readonly heads: number;
  readonly sharedHeads: number;
  readonly vocabulary: number;
  readonly epsilon: number;
  readonly base: number;
  readonly end: number;
  readonly metadata: Readonly<Record<string, Entry>>;
  readonly tensors: ReadonlyMap<string, RandomTensor>;
  readonly bytes: Uint8Array;
}

export interface SmallOptions {
  readonly end?: number;
  readonly layers?: number;
  readonly heads?: number;
  readonly sharedHeads?: number;
  readonly hidden?: number;
  readonly vocabulary?: number;
  /** of the last product: of its own, or the embedding */
  readonly ownOutput?: boolean;
  readonly changed?: (parts: { metadata: Record<string, Entry>; tensors: Map<string, RandomTensor> }) => void;
}

export const HEAD_WIDTH = 16;
/** As models have it, and one that shows. */
const EPSILONS = [1e-5, 0.25] as const;
const BASE = 10_000;
const MATRICES = ["F16", "Q4_0", "Q4_1", "Q8_0"] as const satisfies readonly FormatName[];

/** The same random numbers give the same weights, whatever `end` and `changed` are. */
export function smallLlama(rng: Rng, options: SmallOptions = {}): SmallLlama {
  const random = {
    heads: rng.pick([2, 4]),
    sharedHeads: rng.pick([1, 2]),
    hidden: rng.pick([64, 96]),
    layers: rng.int(1, 2),
    vocabulary: rng.pick([256, 512]),
    ownOutput: rng.chance(0.5),
    epsilon: rng.pick(EPSILONS),
  };
  const sizes = { ...random, end: 1, ...options };
  const { heads, sharedHeads, hidden } = sizes;
  const width = heads * HEAD_WIDTH;
  const tensors = new Map<string, RandomTensor>();
  /** Rows whose products with numbers around 1 are numbers around `gain`. */
  const matrix = (name: string, rows: number, columns: number, gain: number) =>
    tensors.set(
      `${name}.weight`,
      randomTensor(rng, rng.pick(MATRICES), [rows, columns], (1.15 * gain) / Math.sqrt(columns)),
    );
  const gains = (name: string) => tensors.set(`${name}.weight`, gainTensor(rng, width));
  // Small beside what layers add: so that choices depend on the layers where the last product is of the embedding, too.
  matrix("token_embd", sizes.vocabulary, width, 0.4 * Math.sqrt(width));
  for (let layer = 0; layer < sizes.layers; layer++) {
    const of = (name: string) => `blk.${layer}.${name}`;
    gains(of("attn_norm"));
    // Scores around 2 make shares of which some are large: what attention reads shows in the choices.
    matrix(of("attn_q"), width, width, 1.5);
    matrix(of("attn_k"), sharedHeads * HEAD_WIDTH, width, 1.5);
    matrix(of("attn_v"), sharedHeads * HEAD_WIDTH, width, 1);
    matrix(of("attn_output"), width, width, 1.5);
    gains(of("ffn_norm"));
    matrix(of("ffn_gate"), hidden, width, 1.5);
    matrix(of("ffn_up"), hidden, width, 1);
    matrix(of("ffn_down"), width, hidden, 1);
  }
  gains("output_norm");
  if (sizes.ownOutput) matrix("output", sizes.vocabulary, width, 2);
  const metadata: Record<string, Entry> = {
    "general.architecture": ["string", "llama"],
    "llama.block_count": ["u32", sizes.layers],
    "llama.embedding_length": ["u32", width],
    "llama.feed_forward_length": ["u32", hidden],
    "llama.attention.head_count": ["u32", heads],
    "llama.attention.head_count_kv": ["u32", sharedHeads],
    "llama.attention.layer_norm_rms_epsilon": ["f32", sizes.epsilon],
    "llama.rope.dimension_count": ["u32", HEAD_WIDTH],
    "llama.rope.freq_base": ["f32", BASE],
    "tokenizer.ggml.eos_token_id": ["u32", sizes.end],
    "tokenizer.ggml.tokens": ["array", "string", ["a", "b"]],
    "tokenizer.ggml.add_bos_token": ["bool", false],
  };
  options.changed?.({ metadata, tensors });
  const bytes = ggufFile({ metadata, tensors: [...tensors] });
  return {
    ...{ width, hidden, heads, sharedHeads, base: BASE, epsilon: Math.fround(sizes.epsilon) },
    ...{ layers: sizes.layers, vocabulary: sizes.vocabulary, end: sizes.end, metadata, tensors, bytes },
  };
}

/** Around 1, some negative. */
function gainTensor(rng: Rng, width: number): RandomTensor {
  const values = Float64Array.from({ length: width }, () =>
    Math.fround((rng.chance(0.2) ? -1 : 1) * (0.5 + rng.int(0, 1000) / 1000)),
  );
  const bytes = new Uint8Array(Float32Array.from(values).buffer);
  return { dims: [width], format: "F32", bytes, values };
}
