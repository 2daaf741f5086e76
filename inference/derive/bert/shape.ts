/** Sizes of a text classifier of the BERT family, and its tensors by their names in a GGUF file. */
import { MAX_DOT_LENGTH } from "../../program/check.ts";
import { countEntry, numberEntry, requireArchitecture, requireTensors, tensorOf, wrong } from "../entries.ts";
import type { Gguf } from "../gguf.ts";
import { SCORE_ROW } from "../steps.ts";

export interface BertShape {
  readonly layers: number;
  readonly width: number;
  readonly hidden: number;
  readonly heads: number;
  /** channels of a head */
  readonly headWidth: number;
  readonly vocabulary: number;
  /** most ids of a text */
  readonly context: number;
  readonly classes: number;
  readonly epsilon: number;
}

/** An id less 32,768 is a number of 16 bits, and the largest such number is no id. */
const MOST_VOCABULARY = 2 ** 16 - SCORE_ROW;
/** Words of an output. */
const MOST_CLASSES = 256;

export const EMBEDDING = "token_embd";
export const POSITIONS = "position_embd";
/** Of the first token. */
export const HEAD = "cls.output";

type LayerPart =
  | "attn_q"
  | "attn_k"
  | "attn_v"
  | "attn_output"
  | "attn_output_norm"
  | "ffn_up"
  | "ffn_down"
  | "layer_output_norm";
export const layerPart = (layer: number, name: LayerPart): string => `blk.${layer}.${name}`;
export const weightOf = (part: string): string => `${part}.weight`;
export const biasOf = (part: string): string => `${part}.bias`;

/** @throws GGUF_INVALID naming the entry, or the tensor that is absent, of other dims, or of no use */
export function bertShape(file: Gguf): BertShape {
  requireArchitecture(file, "bert");
  const count = (key: string, most?: number) => countEntry(file, `bert.${key}`, most);
  const width = count("embedding_length", MAX_DOT_LENGTH);
  const heads = count("attention.head_count");
  const [vocabulary = 0] = tensorOf(file, weightOf(EMBEDDING)).dims;
  const [classes = 0] = tensorOf(file, weightOf(HEAD)).dims;
  const shape: BertShape = {
    layers: count("block_count", file.tensors.size),
    ...{ width, heads, headWidth: width / heads },
    hidden: count("feed_forward_length"),
    ...{ vocabulary, classes, context: count("context_length") },
    epsilon: numberEntry(file, "bert.attention.layer_norm_epsilon"),
  };
  if (!Number.isInteger(shape.headWidth)) throw wrong(`${heads} heads do not divide ${width} channels`);
  if (vocabulary < 1 || vocabulary > MOST_VOCABULARY)
    throw wrong(`its vocabulary has ${vocabulary} ids, at most ${MOST_VOCABULARY} are derived`);
  if (classes < 1 || classes > MOST_CLASSES)
    throw wrong(`it has ${classes} classes, at most ${MOST_CLASSES} are derived`);
  requireTensors(file, wantedTensors(shape));
  return shape;
}

function wantedTensors(shape: BertShape): ReadonlyMap<string, readonly number[]> {
  const { layers, width, hidden, vocabulary, context, classes } = shape;
  const wanted = new Map<string, readonly number[]>([
    [weightOf(EMBEDDING), [vocabulary, width]],
    [weightOf(POSITIONS), [context, width]],
  ]);
  const norm = (part: string) => wanted.set(weightOf(part), [width]).set(biasOf(part), [width]);
  const dense = (part: string, rows: number, columns: number) =>
    wanted.set(weightOf(part), [rows, columns]).set(biasOf(part), [rows]);
  norm(`${EMBEDDING}_norm`);
  for (let layer = 0; layer < layers; layer++) {
    const of = (name: LayerPart) => layerPart(layer, name);
    for (const name of ["attn_q", "attn_k", "attn_v", "attn_output"] as const) dense(of(name), width, width);
    norm(of("attn_output_norm"));
    dense(of("ffn_up"), hidden, width);
    dense(of("ffn_down"), width, hidden);
    norm(of("layer_output_norm"));
  }
  dense(HEAD, classes, width);
  return wanted;
}
