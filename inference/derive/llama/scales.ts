/** How large a language model's activations become. */
import { type LayerScales as Layer, readLayers, readNumber } from "../scales.ts";
import type { LlamaShape } from "./shape.ts";

/** Of one layer: what is normalized, times its gain, in front of attention; queries and keys, turned by their places; what
 *  attention mixes, in front of its last product; what is normalized, times its gain, in front of the gated part; its two
 *  products; SiLU of the gate times `up`. */
const NAMES = ["attention", "q", "k", "mixed", "mlp", "gate", "up", "hidden"] as const;
/** What attention and the gated part add to the residual. Without them it is clamped behind each. */
const OPTIONAL = ["out", "down"] as const;

/** Largest values of one layer. */
export type LayerScales = Layer<(typeof NAMES)[number], (typeof OPTIONAL)[number]>;

export interface Scales {
  readonly layers: readonly LayerScales[];
  /** what is normalized, times its gain, in front of the last product */
  readonly final: number;
}

/** @param value as `readLayers` takes it @throws SCALES_INVALID naming the entry */
export function readScales(value: unknown, { layers, sharedHeads, headWidth }: LlamaShape): Scales {
  const found = readLayers(value, NAMES, { layers, channels: sharedHeads * headWidth }, OPTIONAL);
  return { layers: found, final: readNumber(value, "final") };
}
