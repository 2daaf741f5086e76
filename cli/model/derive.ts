/** `assay model derive MODEL`: a program from a file of weights, which mostly somebody else publishes, by a recipe of integers. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { BaseError } from "../../base/errors.ts";
import {
  checkedScales,
  type Family,
  familyOf,
  LENGTHS,
  liesBeside,
  openWeights,
  placeOf,
  type Recipe,
  type WeightsSource,
} from "../../inference/derive/recipe.ts";
import { deriveModel } from "../../inference/manifest/derive-model.ts";
import { saveModelFolder, sha256Bytes } from "../../inference/model-folder.ts";
import { TOKENIZER_FILES } from "../../inference/text/tokenizer-file.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { printResult, refuseArgument, withJson } from "../output.ts";
import { companionsIn, readBytes, readJson, readTool } from "./resolve.ts";

interface Flags {
  readonly from?: string;
  readonly out: string;
  readonly prompt?: string;
  readonly answer?: string;
  readonly text?: string;
  readonly only?: string;
}

const SCALES = "scales.json";

export function addDeriveCommand(parent: Command): void {
  const command = parent
    .command("derive <model>")
    .description(
      `make the program of a language model or a classifier from a file of weights, by the ${SCALES} of a folder`,
    )
    .option(
      "--from <file>",
      "the file of weights that it names (GGUF); default: where it lies in that folder",
    )
    .requiredOption("--out <dir>", "model folder to write")
    .option("--prompt <n>", "most ids of a prompt, of a language model; default 64")
    .option("--answer <n>", "most ids of an answer, of a language model; default 32")
    .option("--only <ids>", "ids that an answer may consist of, of a language model: 66,72; default: all")
    .option("--text <n>", "most ids of a text, of a classifier; default 48");
  withJson(command).action((name: string, flags: Flags, self: Command) => {
    const folder = recipeFolder(name);
    const scales = checkedScales(readJson(join(folder, SCALES)), join(folder, SCALES));
    const weights = readBytes(flags.from ?? fileBeside(folder, scales.source));
    const file = openWeights(scales.source, weights, sha256Bytes);
    const family = familyOf(file);
    const recipe = { ...lengthsOf(family, flags), ...onlyOf(family, flags), scales } as Recipe;
    const source = {
      recipe,
      file,
      tool: readTool(join(folder, "tool.json")),
      companions: companionsIn(folder),
    };
    const { derived, written } = deriveModel(source, sha256Bytes);
    const { model, text } = derived;
    const hasText = "files" in text;
    saveModelFolder(flags.out, written.manifest, written.files);
    const weightBytes = model.weights.reduce((sum, weights) => sum + weights.length, 0);
    const steps = model.program.steps.length;
    const { modelId } = written.manifest.assay;
    const lengths = Object.entries(recipe.lengths).map(([name, ids]) => `${name} of up to ${ids} ids`);
    printResult(self, { modelId, out: flags.out, steps, weightBytes, ...recipe.lengths, hasText }, [
      `model ${modelId}`,
      `${steps} steps, ${weightBytes} bytes of weights, ${lengths.join(", ")}`,
      "without" in text ? `ids alone, no text: ${text.without}` : `text by ${TOKENIZER_FILES.join(" and ")}`,
      `written to ${flags.out}`,
    ]);
  });
}

/** The file of weights in the folder of its recipe. @throws ARGUMENT_INVALID where it is in a package; FILE_NOT_READABLE */
function fileBeside(folder: string, source: WeightsSource): string {
  if (!liesBeside(source)) return refuseArgument("--from", undefined, placeOf(source));
  const path = join(folder, source.file);
  if (existsSync(path)) return path;
  throw new BaseError({
    code: "FILE_NOT_READABLE",
    shortMessage: `The file of weights ${path} does not exist; its SHA-256 is ${source.sha256}.`,
    nextStep:
      "Name it with --from. Of a model that the npm package has without it, the repository has it in the same folder.",
    details: { path },
  });
}

/** Most ids, where no option says it. */
const DEFAULTS = { prompt: 64, answer: 32, text: 48 } as const;

/** @throws ARGUMENT_INVALID for a length that a model of this family does not have */
function lengthsOf(family: Family, flags: Flags): Pick<Recipe, "family" | "lengths"> {
  const names: readonly string[] = LENGTHS[family];
  const found = (Object.keys(DEFAULTS) as (keyof typeof DEFAULTS)[]).flatMap((name) => {
    const given = flags[name];
    if (names.includes(name))
      return [[name, given === undefined ? DEFAULTS[name] : idsOf(`--${name}`, given)]];
    if (given !== undefined)
      refuseArgument(`--${name}`, given, `absent: a model of the family ${family} has none`);
    return [];
  });
  return { family, lengths: Object.fromEntries(found) } as Pick<Recipe, "family" | "lengths">;
}

/** @throws ARGUMENT_INVALID for a classifier, and for what are no ids */
function onlyOf(family: Family, { only }: Flags): { readonly only?: readonly number[] } {
  if (only === undefined) return {};
  if (family !== "llama") refuseArgument("--only", only, `absent: a model of the family ${family} has none`);
  if (!/^\d{1,5}(,\d{1,5})*$/.test(only)) refuseArgument("--only", only, "ids with commas between them");
  return {
    only: only
      .split(",")
      .map(Number)
      .sort((a, b) => a - b),
  };
}

/** @throws ARGUMENT_INVALID */
function idsOf(option: string, text: string): number {
  const count = Number(text);
  return Number.isInteger(count) && count >= 1
    ? count
    : refuseArgument(option, text, "a whole number from 1 on");
}

/** @throws MODEL_NOT_FOUND */
function recipeFolder(name: string): string {
  const candidates = [name, join("models", name), join(projectRoot, "models", name)];
  const found = candidates.find((folder) => existsSync(join(folder, SCALES)));
  if (found !== undefined) return found;
  throw new BaseError({
    code: "MODEL_NOT_FOUND",
    shortMessage: `There are no scales to derive ${JSON.stringify(name)} by: no ${SCALES} in ${candidates.join(", ")}.`,
    nextStep: "Name a folder of models/ that has them, or another folder.",
  });
}
