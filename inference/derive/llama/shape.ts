/** Sizes of a model of the Llama family, and its tensors by their names in a GGUF file. */
import { fail } from "../../onnx/fail.ts";
import { MAX_DOT_LENGTH } from "../../program/check.ts";
import { type Gguf, type GgufTensor, told } from "../gguf.ts";

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

/** Elements of s32 of a row that REDUCE takes. */
export const REDUCED = 256;
/** An id less 32,768 is a number of 16 bits, and the largest such number is no id. */
const MOST_VOCABULARY = 2 ** 16 - REDUCED;
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
  const architecture = metadata.get("general.architecture");
  if (architecture !== "llama") throw wrong(`its architecture is ${architecture}, llama is derived`);
  const number = (key: string, most = 2 ** 20): number => {
    const value = metadata.get(key);
    if (typeof value === "number" && value > 0 && value <= most) return value;
    throw wrong(`its entry ${key} is ${value}, must be above 0 and at most ${most}`);
  };
  const count = (key: string, most = 2 ** 20): number => {
    const value = number(key, most);
    if (Number.isInteger(value)) return value;
    throw wrong(`its entry ${key} is ${value}, must be a whole number`);
  };
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
    epsilon: number("llama.attention.layer_norm_rms_epsilon"),
    base: number("llama.rope.freq_base", 2 ** 40),
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
  if (vocabulary < 1 || vocabulary % REDUCED !== 0 || vocabulary > MOST_VOCABULARY)
    throw wrong(`its vocabulary of ${vocabulary} is no multiple of ${REDUCED} of at most ${MOST_VOCABULARY}`);
}

/** Every tensor has the dims that the sizes say, and there is none that would be left out. */
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
  for (const [name, dims] of wanted) {
    const found = tensorOf(file, name).dims;
    if (found.join() !== dims.join()) throw wrong(`tensor ${name} is [${found}], must be [${dims}]`);
  }
  const unused = [...file.tensors.keys()].find((name) => !wanted.has(name));
  if (unused !== undefined) throw wrong(`nothing is made of its tensor ${unused}`);
}

/** @throws GGUF_INVALID */
export function tensorOf({ tensors }: Gguf, name: string): GgufTensor {
  const tensor = tensors.get(name);
  if (tensor === undefined) throw wrong(`it has no tensor ${name}`);
  return tensor;
}

const wrong = (what: string) =>
  fail(
    "GGUF_INVALID",
    `No model can be derived from the GGUF file: ${told(what)}.`,
    "Take the file that the scales were measured on.",
  );
