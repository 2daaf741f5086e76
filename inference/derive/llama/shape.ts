/** Sizes of a model of the Llama family, and its tensors by their names in a GGUF file. */
import { MAX_DOT_LENGTH } from "../../program/check.ts";
import { countEntry, numberEntry, requireArchitecture, requireTensors, tensorOf, wrong } from "../entries.ts";
import type { Gguf } from "../gguf.ts";
import { SCORE_ROW } from "../steps.ts";

export interface LlamaShape {
  readonly layers: number;
  readonly width: number;
  readonly hidden: number;
  readonly heads: number;
  /** heads of keys and values; each serves as many neighbouring heads of queries */
  readonly sharedHeads: number;
  /** channels of a head, even */
  readonly headWidth: number;
  readonly vocabulary: number;
  readonly epsilon: number;
  /** of the angles by which places turn queries and keys */
  readonly base: number;
  /** id that ends an answer */
  readonly end: number;
  /** tensor of the last product */
  readonly head: string;
}

/** An id less 32,768 is a number of 16 bits, and the largest such number is no id. */
const MOST_VOCABULARY = 2 ** 16 - SCORE_ROW;
const EMBEDDING = "token_embd.weight";
const OUTPUT = "output.weight";

const LAYER_TENSORS = [
  "attn_norm",
  "attn_q",
  "attn_k",
  "attn_v",
  "attn_output",
  "ffn_norm",
  "ffn_gate",
  "ffn_up",
  "ffn_down",
] as const;
export type LayerTensor = (typeof LAYER_TENSORS)[number];
export const layerTensor = (layer: number, name: LayerTensor): string => `blk.${layer}.${name}.weight`;

/** @throws GGUF_INVALID naming the entry, or the tensor that is absent, of other dims, or of no use */
export function llamaShape(file: Gguf): LlamaShape {
  const { metadata, tensors } = file;
  requireArchitecture(file, "llama");
  const count = (key: string, most?: number) => countEntry(file, key, most);
  const width = count("llama.embedding_length", MAX_DOT_LENGTH);
  const heads = count("llama.attention.head_count");
  const [vocabulary = 0] = tensorOf(file, EMBEDDING).dims;
  const end = metadata.get("tokenizer.ggml.eos_token_id");
  if (typeof end !== "number" || !Number.isInteger(end) || end < 0 || end >= vocabulary)
    throw wrong(`its entry tokenizer.ggml.eos_token_id is ${end}, must be an id below ${vocabulary}`);
  const shape: LlamaShape = {
    layers: count("llama.block_count", tensors.size),
    width,
    hidden: count("llama.feed_forward_length"),
    heads,
    sharedHeads: count("llama.attention.head_count_kv"),
    headWidth: width / heads,
    vocabulary,
    epsilon: numberEntry(file, "llama.attention.layer_norm_rms_epsilon"),
    base: numberEntry(file, "llama.rope.freq_base", 2 ** 40),
    end,
    head: tensors.has(OUTPUT) ? OUTPUT : EMBEDDING,
  };
  checkSizes(shape, count("llama.rope.dimension_count"));
  const scaling = metadata.get("llama.rope.scaling.type");
  if (scaling !== undefined && scaling !== "none") throw wrong(`its places are scaled (${scaling})`);
  checkTensors(file, shape);
  return shape;
}

function checkSizes({ heads, sharedHeads, headWidth, vocabulary }: LlamaShape, turned: number): void {
  if (!Number.isInteger(heads / sharedHeads) || !Number.isInteger(headWidth / 2))
    throw wrong(`${heads} heads of ${headWidth} channels and ${sharedHeads} heads of keys do not divide`);
  if (turned !== headWidth) throw wrong(`places turn ${turned} of a head's ${headWidth} channels`);
  if (vocabulary < 1 || vocabulary % SCORE_ROW !== 0 || vocabulary > MOST_VOCABULARY)
    throw wrong(
      `its vocabulary of ${vocabulary} is no multiple of ${SCORE_ROW} of at most ${MOST_VOCABULARY}`,
    );
}

function checkTensors(file: Gguf, shape: LlamaShape): void {
  const { layers, width, hidden, sharedHeads, headWidth, vocabulary, head } = shape;
  const shared = sharedHeads * headWidth;
  const ofLayer: Readonly<Record<LayerTensor, readonly number[]>> = {
    attn_norm: [width],
    attn_q: [width, width],
    attn_k: [shared, width],
    attn_v: [shared, width],
    attn_output: [width, width],
    ffn_norm: [width],
    ffn_gate: [hidden, width],
    ffn_up: [hidden, width],
    ffn_down: [width, hidden],
  };
  const wanted = new Map<string, readonly number[]>([
    [EMBEDDING, [vocabulary, width]],
    [head, [vocabulary, width]],
    ["output_norm.weight", [width]],
  ]);
  for (let layer = 0; layer < layers; layer++)
    for (const name of LAYER_TENSORS) wanted.set(layerTensor(layer, name), ofLayer[name]);
  requireTensors(file, wanted);
}
