/** Which model a command means: a name below models/, a folder, or an id. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { toHex } from "../base/bytes.ts";
import { BaseError, isBaseError } from "../base/errors.ts";
import { selectorOf } from "../inference/manifest/abi.ts";
import type { Readable } from "../inference/meaning/form.ts";
import { readAnyManifest, readTokenizer } from "../inference/model-folder.ts";
import type { AskedModel } from "../inference/text/data-text.ts";
import { type FolderText, folderText } from "../inference/text/folder-text.ts";
import type { Chain } from "../protocol/chain/connect.ts";
import { StateReader } from "../protocol/chain/reads.ts";
import { functionOfWord, type ModelFunction } from "../protocol/rules/abi.ts";
import { isModelId, type ModelId } from "../protocol/rules/types.ts";
import type { ModelWord } from "../protocol/rules/words.ts";
import { projectRoot } from "../tools/foundry.ts";
import { refuseArgument } from "./output.ts";

/** With the text of the folder that is here. */
export interface RegisteredModel extends FolderText {
  readonly modelId: ModelId;
  readonly function: ModelFunction;
  readonly word: ModelWord;
  /** how its output is read; absent without a folder */
  readonly readable?: Readable;
}

/** Folder of a model: the argument itself, or its name below models/ here or in the project.
 *  @throws BaseError MODEL_NOT_FOUND */
export function modelFolder(name: string): string {
  const candidates = [name, join("models", name), join(projectRoot, "models", name)];
  const found = candidates.find((folder) => existsSync(join(folder, "manifest.json")));
  if (found !== undefined) return found;
  throw new BaseError({
    code: "MODEL_NOT_FOUND",
    shortMessage: `There is no model ${JSON.stringify(name)}: no manifest.json in ${candidates.join(", ")}.`,
    nextStep: "Name a folder of models/, another folder, or a model id; `assay model import` makes a folder.",
  });
}

/** The id that a folder's manifest names. @throws BaseError MODEL_FOLDER_INVALID, MANIFEST_INVALID */
export const modelIdIn = (folder: string): ModelId =>
  readAnyManifest(join(folder, "manifest.json")).assay.modelId as ModelId;

/** The folder of a model below models/, here or in the project.
 *  @throws BaseError MODEL_NOT_FOUND */
export function findFolder(modelId: ModelId): string {
  const parents = [...new Set(["models", join(projectRoot, "models")])].filter((path) => existsSync(path));
  const folders = parents.flatMap((path) => readdirSync(path).map((name) => join(path, name)));
  const found = folders.find(
    (folder) => existsSync(join(folder, "manifest.json")) && modelIdIn(folder) === modelId,
  );
  if (found !== undefined) return found;
  throw new BaseError({
    code: "MODEL_NOT_FOUND",
    shortMessage: `No folder of ${parents.join(", ")} holds model ${modelId}.`,
    nextStep: "Name the model's folder with --model; `assay model pull` makes one.",
  });
}

/** The function of a registered model, with the names of the folder that holds it, if one does.
 *  @param name of its folder; absent: the one below models/ with its id
 *  @throws BaseError MODEL_UNKNOWN */
export async function functionOf(
  chain: Chain,
  modelId: ModelId,
  name?: string,
): Promise<Omit<RegisteredModel, "modelId" | "word"> & { readonly isNamed: boolean }> {
  const folder = name ?? findFolderIfAny(modelId);
  return { ...(await findModel(chain, folder ?? modelId)), isNamed: folder !== undefined };
}

/** How data of a model are read. */
export type ReadModel = Pick<RegisteredModel, "readable"> & AskedModel;

/** How outputs of a model are read. @param named as of `readModelOf` @throws as it, tokenizers apart */
export function readableOf(modelId: ModelId, named?: string): Readable | undefined {
  const folder = folderFor(modelId, named);
  return folder === undefined ? undefined : readAnyManifest(join(folder, "manifest.json")).assay;
}

/** How data of a model are read: by the folder that --model names, else by the one below models/ with its id, if there is
 *  one, whose tokenizer files may be broken.
 *  @throws BaseError MODEL_NOT_FOUND, MANIFEST_INVALID; of a named folder ARGUMENT_INVALID for another model's,
 *  TOKENIZER_INVALID, MODEL_FOLDER_INVALID */
export function readModelOf(modelId: ModelId, named?: string): ReadModel {
  const folder = folderFor(modelId, named);
  if (folder === undefined) return {};
  const manifest = readAnyManifest(join(folder, "manifest.json"));
  try {
    return { ...readModelIn(folder, manifest), selector: manifest.assay.selector };
  } catch (error) {
    if (named !== undefined || !isBaseError(error)) throw error;
    return { readable: manifest.assay };
  }
}

const folderFor = (modelId: ModelId, named: string | undefined): string | undefined =>
  named === undefined ? findFolderIfAny(modelId) : namedFolder(modelId, named);

const readModelIn = (folder: string, manifest: ReturnType<typeof readAnyManifest>): ReadModel => ({
  readable: manifest.assay,
  ...folderText(readTokenizer(folder, manifest), manifest.assay),
});

/** The folder of a model that --model names. @throws BaseError MODEL_NOT_FOUND; ARGUMENT_INVALID for another model's */
export function namedFolder(modelId: ModelId, model: string): string {
  const folder = modelFolder(model);
  if (modelIdIn(folder) !== modelId) refuseArgument("--model", model, `a folder of model ${modelId}`);
  return folder;
}

function findFolderIfAny(modelId: ModelId): string | undefined {
  try {
    return findFolder(modelId);
  } catch (error) {
    if (isBaseError(error)) return undefined;
    throw error;
  }
}

const unregistered = ({ game }: Chain, modelId: ModelId): BaseError =>
  new BaseError({
    code: "MODEL_UNKNOWN",
    shortMessage: `Model ${modelId} is not registered on chain ${game.chainId}.`,
    nextStep: "Register it with `assay model register`.",
  });

/** A model that is registered on the chain, with its function from the manifest if there is one here.
 *  @throws BaseError MODEL_NOT_FOUND, MANIFEST_INVALID, MODEL_UNKNOWN */
export async function findModel(chain: Chain, name: string): Promise<RegisteredModel> {
  const folder = isModelId(name) ? undefined : modelFolder(name);
  const manifest = folder === undefined ? undefined : readAnyManifest(join(folder, "manifest.json"));
  const modelId = (manifest?.assay.modelId ?? name) as ModelId;
  const word = await new StateReader(chain).model(modelId);
  if (word === undefined) throw unregistered(chain, modelId);
  const declared = manifest?.abi.find((entry) => toHex(selectorOf(entry)) === manifest.assay.selector);
  const read = folder === undefined || manifest === undefined ? {} : readModelIn(folder, manifest);
  if (declared === undefined) return { modelId, word, function: functionOfWord(word), ...read };
  return { modelId, word, function: { ...declared, selector: toHex(selectorOf(declared)) }, ...read };
}
