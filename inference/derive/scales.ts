/** How large a model's activations become, as somebody measured them: what its integers are scaled by. */
import { fail } from "../onnx/fail.ts";

/** Largest values of one layer: one number of each name, and one a channel of the values that attention mixes. */
export type LayerScales<Name extends string, Optional extends string = never> = Readonly<
  Record<Name, number>
> &
  Readonly<Partial<Record<Optional, number>>> & { readonly v: readonly number[] };

const UNIT = "2^-8";
const UNITS_PER_ONE = 2 ** 8;
/** Of a number in the file. */
const MOST = 2 ** 31;

/** @param value scales as models/smollm2/scales.json has them: whole numbers of 2^-8
 *  @throws SCALES_INVALID naming the entry */
export function readLayers<Name extends string, Optional extends string = never>(
  value: unknown,
  names: readonly Name[],
  { layers, channels }: { readonly layers: number; readonly channels: number },
  optional: readonly Optional[] = [],
): readonly LayerScales<Name, Optional>[] {
  const file = objectOf(value, "$");
  if (file.unit !== UNIT) throw invalid(`$.unit is ${JSON.stringify(file.unit)}, must be ${UNIT}`);
  return listOf(file.layers, "$.layers", layers).map((entry, i) => {
    const at = `$.layers[${i}]`;
    const layer = objectOf(entry, at);
    const given = [...names, ...optional.filter((name) => layer[name] !== undefined)];
    const numbers = Object.fromEntries(
      given.map((name) => [name, numberOf(layer[name], `${at}.${name}`)]),
    ) as Record<Name, number> & Partial<Record<Optional, number>>;
    const v = listOf(layer.v, `${at}.v`, channels);
    return { ...numbers, v: v.map((number, j) => numberOf(number, `${at}.v[${j}]`)) };
  });
}

/** @throws SCALES_INVALID */
export const readNumber = (value: unknown, name: string): number =>
  numberOf(objectOf(value, "$")[name], `$.${name}`);

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
