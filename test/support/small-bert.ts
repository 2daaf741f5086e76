/** Random small classifiers of the BERT family: the bytes of a GGUF file, and the numbers that it stands for. */
import { type Entry, type FormatName, ggufFile, type RandomTensor, randomTensor } from "./gguf-file.ts";
import type { Rng } from "./rng.ts";

export interface SmallBert {
  readonly layers: number;
  readonly width: number;
  readonly hidden: number;
  readonly heads: number;
  readonly vocabulary: number;
  readonly classes: number;
  readonly context: number;
  readonly epsilon: number;
  readonly metadata: Readonly<Record<string, Entry>>;
  readonly tensors: ReadonlyMap<string, RandomTensor>;
  readonly bytes: Uint8Array;
}

export interface SmallBertOptions {
  readonly layers?: number;
  readonly heads?: number;
  readonly headWidth?: number;
  readonly hidden?: number;
  readonly vocabulary?: number;
  readonly classes?: number;
  readonly context?: number;
  readonly changed?: (parts: { metadata: Record<string, Entry>; tensors: Map<string, RandomTensor> }) => void;
}

const MATRICES = ["F16", "Q4_0", "Q4_1", "Q8_0"] as const satisfies readonly FormatName[];
/** As models have it, and one that shows. */
const EPSILONS = [1e-12, 0.25] as const;
/** `[CLS]`, `[SEP]`, `[UNK]` and `[PAD]`, then letters that begin a word, and letters that do not. */
const CONTROL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"] as const;

const tokenOf = (id: number): string => {
  const letter = String.fromCodePoint(0x61 + (id % 26));
  const length = 1 + Math.floor(id / 52);
  return `${id % 52 < 26 ? "\u2581" : ""}${letter.repeat(length)}`;
};

/** The same random numbers give the same weights, whatever `changed` is. */
export function smallBert(rng: Rng, options: SmallBertOptions = {}): SmallBert {
  const random = {
    heads: rng.pick([2, 3, 4]),
    headWidth: 32,
    hidden: rng.pick([64, 96]),
    layers: rng.int(1, 3),
    vocabulary: rng.pick([60, 300]),
    classes: rng.int(1, 4),
    context: rng.pick([16, 24]),
    epsilon: rng.pick(EPSILONS),
  };
  const { headWidth, ...sizes } = { ...random, ...options };
  const { heads, hidden, layers, vocabulary, classes, context } = sizes;
  const width = heads * headWidth;
  const tensors = new Map<string, RandomTensor>();
  /** Rows whose products with numbers around 1 are numbers around `gain`. */
  const matrix = (name: string, rows: number, columns: number, gain: number) =>
    tensors.set(
      `${name}.weight`,
      randomTensor(rng, rng.pick(MATRICES), [rows, columns], (1.15 * gain) / Math.sqrt(columns)),
    );
  const vector = (name: string, length: number, of: () => number) => {
    const values = Float64Array.from({ length }, () => Math.fround(of()));
    const bytes = new Uint8Array(Float32Array.from(values).buffer);
    tensors.set(name, { dims: [length], format: "F32", bytes, values });
  };
  const around = (middle: number, far: number) => middle + far * (rng.int(-1000, 1000) / 1000);
  const dense = (name: string, rows: number, columns: number, gain: number) => {
    matrix(name, rows, columns, gain);
    vector(`${name}.bias`, rows, () => around(0, 0.3));
  };
  const norm = (name: string) => {
    vector(`${name}.weight`, width, () => (rng.chance(0.1) ? -1 : 1) * around(1, 0.5));
    vector(`${name}.bias`, width, () => around(0, 0.3));
  };
  matrix("token_embd", vocabulary, width, Math.sqrt(width));
  matrix("position_embd", context, width, 0.3 * Math.sqrt(width));
  norm("token_embd_norm");
  for (let layer = 0; layer < layers; layer++) {
    const of = (name: string) => `blk.${layer}.${name}`;
    dense(of("attn_q"), width, width, 1.5);
    dense(of("attn_k"), width, width, 1.5);
    dense(of("attn_v"), width, width, 1);
    dense(of("attn_output"), width, width, 1.5);
    norm(of("attn_output_norm"));
    dense(of("ffn_up"), hidden, width, 1.5);
    dense(of("ffn_down"), width, hidden, 1.5);
    norm(of("layer_output_norm"));
  }
  dense("cls.output", classes, width, 2);
  const tokens = [...CONTROL, ...Array.from({ length: vocabulary - CONTROL.length }, (_, id) => tokenOf(id))];
  const metadata: Record<string, Entry> = {
    "general.architecture": ["string", "bert"],
    "bert.block_count": ["u32", layers],
    "bert.context_length": ["u32", context],
    "bert.embedding_length": ["u32", width],
    "bert.feed_forward_length": ["u32", hidden],
    "bert.attention.head_count": ["u32", heads],
    "bert.attention.layer_norm_epsilon": ["f32", sizes.epsilon],
    "tokenizer.ggml.model": ["string", "bert"],
    "tokenizer.ggml.tokens": ["array", "string", tokens],
    "tokenizer.ggml.token_type": ["array", "i32", tokens.map((_, id) => (id < CONTROL.length ? 3 : 1))],
    "tokenizer.ggml.unknown_token_id": ["u32", 1],
    "tokenizer.ggml.cls_token_id": ["u32", 2],
    "tokenizer.ggml.seperator_token_id": ["u32", 3],
    "tokenizer.ggml.padding_token_id": ["u32", 0],
  };
  options.changed?.({ metadata, tensors });
  const bytes = ggufFile({ metadata, tensors: [...tensors] });
  return {
    ...{ layers, width, hidden, heads, vocabulary, classes, context, metadata, tensors, bytes },
    epsilon: Math.fround(sizes.epsilon),
  };
}
