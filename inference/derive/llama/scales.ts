/** How large a model's activations become, as somebody measured them: what its integers are scaled by. */
import { fail } from "../../onnx/fail.ts";
import type { LlamaShape } from "./shape.ts";

/** Largest values of one layer. */
export interface LayerScales {
  /** what is normalized, times its gain, in front of attention */
  readonly attention: number;
  /** queries and keys, turned by their places */
  readonly q: number;
  readonly k: number;
  /** values, one number for each of their channels */
  readonly v: readonly number[];
  /** what attention mixes, in front of its last product */
  readonly mixed: number;
  /** what is normalized, times its gain, in front of the gated part */
  readonly mlp: number;
  readonly gate: number;
  readonly up: number;
  /** SiLU of the gate times `up` */
  readonly hidden: number;
}

export interface Scales {
  readonly layers: readonly LayerScales[];
  /** what is normalized, times its gain, in front of the last product */
  readonly final: number;
}

const UNIT = "2^-8";
const UNITS_PER_ONE = 2 ** 8;
const NAMES = ["attention", "q", "k", "mixed", "mlp", "gate", "up", "hidden"] as const;
/** Of a number in the file. */
const MOST = 2 ** 31;

/** @param value scales as models/smollm2/scales.json has them: whole numbers of 2^-8
 *  @throws SCALES_INVALID naming the entry */
export function readScales(value: unknown, { layers, sharedHeads, headWidth }: LlamaShape): Scales {
  const file = objectOf(value, "$");
  if (file.unit !== UNIT) throw invalid(`$.unit is ${JSON.stringify(file.unit)}, must be ${UNIT}`);
  const found = listOf(file.layers, "$.layers", layers);
  return {
    layers: found.map((entry, i): LayerScales => {
      const at = `$.layers[${i}]`;
      const layer = objectOf(entry, at);
      const numbers = Object.fromEntries(
        NAMES.map((name) => [name, numberOf(layer[name], `${at}.${name}`)]),
      ) as Record<(typeof NAMES)[number], number>;
      const v = listOf(layer.v, `${at}.v`, sharedHeads * headWidth);
      return { ...numbers, v: v.map((number, j) => numberOf(number, `${at}.v[${j}]`)) };
    }),
    final: numberOf(file.final, "$.final"),
  };
}

function objectOf(value: unknown, at: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw invalid(`${at} must be an object`);
}

function listOf(value: unknown, at: string, length: number): readonly unknown[] {
  if (Array.isArray(value) && value.length === length) return value;
  throw invalid(`${at} must be a list of ${length}`);
}

function numberOf(value: unknown, at: string): number {
  if (Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) < MOST)
    return (value as number) / UNITS_PER_ONE;
  throw invalid(`${at} is ${JSON.stringify(value)}, must be a whole number from 1 to ${MOST - 1}`);
}

const invalid = (what: string) =>
  fail(
    "SCALES_INVALID",
    `The scales do not fit the model: ${what}.`,
    "Take the scales that were measured on this file.",
  );
