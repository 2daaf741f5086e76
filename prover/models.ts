/** The models that this node serves: folders that passed every check of their own files. */
import { basename } from "node:path";
import { fromHex } from "../base/bytes.ts";
import { BaseError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { prepare } from "../inference/executor/prepare.ts";
import type { PreparedModel } from "../inference/executor/prepared-model.ts";
import type { AbiFunction } from "../inference/manifest/abi.ts";
import type { Manifest } from "../inference/manifest/assay.ts";
import { checkFunction } from "../inference/manifest/model-files.ts";
import type { ProofManifest } from "../inference/manifest/proof-model.ts";
import type { LoadedModel } from "../inference/model-folder.ts";
import { demandDepth } from "../inference/program/shape.ts";
import { type FolderText, folderText } from "../inference/text/folder-text.ts";
import type { StateReader } from "../protocol/chain/reads.ts";
import { LANE, type ModelId } from "../protocol/rules/types.ts";
import type { ProofModel } from "./proof/ezkl/folder.ts";

/** What every model has that this node serves. */
interface Served {
  readonly id: ModelId;
  readonly name: string;
  readonly directory: string;
  /** the function that calldata calls */
  readonly function: AbiFunction;
  /** 4 bytes */
  readonly selector: Uint8Array;
  /** bits */
  readonly lanes: number;
  /** d, the most demands of one path; 0 without a program */
  readonly depth: number;
  readonly maxCalldata: number;
  /** bytes */
  readonly outputLength: number;
}

/** A model that the canonical executor runs. */
export interface ServedProgram extends Served, FolderText {
  readonly kind: "program";
  readonly manifest: Manifest;
  readonly prepared: PreparedModel;
}

/** A model without a program: only a proof says what it computes. */
export interface ServedProofModel extends Served {
  readonly kind: "proof-model";
  readonly manifest: ProofManifest;
  readonly proofModel: ProofModel;
}

export type ServedModel = ServedProgram | ServedProofModel;

export const hasProgram = (model: ServedModel): model is ServedProgram => model.kind === "program";

export type ServedModels = ReadonlyMap<ModelId, ServedModel>;

/** Prepares loaded folders.
 *  @throws BaseError MODEL_TWICE when two folders hold the same model; TOKENIZER_INVALID */
export function serveModels(folders: readonly LoadedModel[]): Map<ModelId, ServedProgram>;
export function serveModels(folders: readonly (LoadedModel | ProofModel)[]): Map<ModelId, ServedModel>;
export function serveModels(folders: readonly (LoadedModel | ProofModel)[]): Map<ModelId, ServedModel> {
  const served = new Map<ModelId, ServedModel>();
  for (const folder of folders) {
    const model = "model" in folder ? serveProgram(folder) : serveProofModel(folder);
    const other = served.get(model.id);
    if (other !== undefined) {
      throw new BaseError({
        code: "MODEL_TWICE",
        shortMessage: `${model.directory} and ${other.directory} hold the same model ${model.id}.`,
        nextStep: "Serve one of them.",
        details: { modelId: model.id },
      });
    }
    served.set(model.id, model);
  }
  return served;
}

function serveProgram(folder: LoadedModel): ServedProgram {
  const { directory, manifest, model, modelId, selector, laneBits, commitment, tokenizer } = folder;
  return {
    kind: "program",
    id: modelId as ModelId,
    name: manifest.name,
    directory,
    manifest,
    function: checkFunction(model.program, manifest.abi, selector),
    selector,
    prepared: prepare(model, selector),
    ...folderText(tokenizer, manifest.assay),
    lanes: laneBits,
    depth: demandDepth(model.program),
    maxCalldata: commitment.maxCalldata,
    outputLength: commitment.outputLength,
  };
}

function serveProofModel(proofModel: ProofModel): ServedProofModel {
  const { directory, manifest, modelId } = proofModel;
  const { selector, maxCalldata, outputLength } = manifest.assay;
  return {
    kind: "proof-model",
    id: modelId as ModelId,
    name: manifest.name,
    directory,
    manifest,
    function: proofModel.function,
    selector: fromHex(selector),
    proofModel,
    lanes: LANE.PROOF,
    depth: 0,
    maxCalldata,
    outputLength,
  };
}

/** Looks the models up in the registry: one that is not there may be another version of what people ask for. */
export async function checkRegistered(models: ServedModels, state: StateReader, log: Logger): Promise<void> {
  for (const { name, id } of models.values()) {
    if ((await state.model(id)) === undefined) {
      log.warn(
        { model: name, id },
        "a model here is not registered on this chain; requests for it cannot come",
      );
    } else log.info({ model: name, id }, "serving model");
  }
}

/** The model that its name, its folder's name or its id means.
 *  @throws BaseError MODEL_NOT_SERVED, MODEL_NAME_AMBIGUOUS */
export function findModel(models: ServedModels, nameOrId: string): ServedModel {
  const byId = models.get(nameOrId.toLowerCase() as ModelId);
  if (byId !== undefined) return byId;
  const named = [...models.values()].filter(
    ({ name, directory }) => name === nameOrId || basename(directory) === nameOrId,
  );
  if (named.length > 1) {
    throw new BaseError({
      code: "MODEL_NAME_AMBIGUOUS",
      shortMessage: `${named.length} models here are called ${JSON.stringify(nameOrId)}.`,
      nextStep: `Use an id: ${named.map(({ id }) => id).join(", ")}.`,
    });
  }
  const [model] = named;
  if (model !== undefined) return model;
  throw new BaseError({
    code: "MODEL_NOT_SERVED",
    shortMessage: `No model here is called ${JSON.stringify(nameOrId.slice(0, 80))}.`,
    nextStep: `Use one of ${[...models.values()].map(({ name }) => name).join(", ") || "none: no model is loaded"}.`,
  });
}
