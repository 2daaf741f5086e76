/** What the planner has to know of a model: its folder, its keys here, and what of it is on the chain. */
import { existsSync } from "node:fs";
import type { Hex } from "viem";
import { BaseError } from "../base/errors.ts";
import { type LoadedModel, loadModelFolder } from "../inference/model-folder.ts";
import { demandDepth } from "../inference/program/shape.ts";
import type { Chain } from "../protocol/chain/connect.ts";
import { compileProgress } from "../protocol/chain/execution/compiled.ts";
import { isPublished } from "../protocol/chain/execution/infer.ts";
import { COSTS } from "../protocol/chain/plan/costs.ts";
import { type ModelFacts, offersOf, offersOfProofModel } from "../protocol/chain/plan/estimates.ts";
import type { PlanTerms } from "../protocol/chain/plan/plan.ts";
import { isLocalChain } from "../protocol/chain/presets.ts";
import { isKeyStored } from "../protocol/chain/proof/store-key.ts";
import { StateReader } from "../protocol/chain/reads.ts";
import { LANE, type ModelId } from "../protocol/rules/types.ts";
import { isProofModelFolder, loadProofModel, type ProofModel } from "../prover/proof/ezkl/folder.ts";
import { pythonOf } from "../prover/proof/ezkl/install.ts";
import { instanceCount } from "../prover/proof/ezkl/instances.ts";
import { developmentSrsPath, keyFolderOf } from "../prover/proof/ezkl/keys.ts";
import { ezklMissing } from "../prover/proof/ezkl/worker.ts";
import { assertWithin, circuitSize, MAX_CONSTRAINTS } from "../prover/proof/groth16/compile.ts";
import { ceremonyKeyPath, developmentKeyPath } from "../prover/proof/groth16/keys.ts";

export interface PlanSubject extends Pick<PlanTerms, "modelLanes" | "depth" | "offers"> {
  readonly modelId: Hex;
  /** sentences for the reader */
  readonly notes: readonly string[];
}

/** Where keys lie. */
export interface KeyFolders {
  /** of Groth16 */
  readonly keys: string;
  /** that `assay proof ezkl install` filled */
  readonly ezkl: string;
}

/** @param chain absent: none is asked, and nothing is there
 *  @throws BaseError as the loaders of model folders do; faults of the node */
export async function planSubject(
  folder: string,
  chain: Chain | undefined,
  folders: KeyFolders,
): Promise<PlanSubject> {
  return isProofModelFolder(folder)
    ? proofModelSubject(loadProofModel(folder), chain, folders)
    : programSubject(loadModelFolder(folder), chain, folders);
}

async function programSubject(
  loaded: LoadedModel,
  chain: Chain | undefined,
  { keys }: KeyFolders,
): Promise<PlanSubject> {
  const { model, manifest, modelId, laneBits } = loaded;
  const { vkHash, keyOrigin } = manifest.assay;
  const offers = offersOf(
    {
      model,
      circuit: circuitOf(loaded),
      isForgeable: !isLocal(chain) && keyOrigin === "development",
      onChain: chain === undefined ? NOT_THERE : await stateOf(chain, loaded),
      keyHere: existsSync(developmentKeyPath(model, keys)) || existsSync(ceremonyKeyPath(vkHash, keys)),
    },
    COSTS,
  );
  return { modelId, modelLanes: laneBits, depth: demandDepth(model.program), offers, notes: [] };
}

const NOT_THERE = { keyStored: false, published: false, compiled: false };

const isLocal = (chain: Chain | undefined): boolean =>
  chain === undefined || isLocalChain(chain.game.chainId);

function circuitOf({ model }: LoadedModel): ModelFacts["circuit"] {
  try {
    const size = circuitSize(model);
    assertWithin(size, MAX_CONSTRAINTS);
    return size;
  } catch (error) {
    if (!(error instanceof BaseError)) throw error;
    return { refused: error.shortMessage };
  }
}

async function stateOf(chain: Chain, { model, modelId }: LoadedModel): Promise<ModelFacts["onChain"]> {
  const { weightStore, proofAdapter } = chain.deployment.contracts;
  const { directory } = await compileProgress(chain, modelId as ModelId, model.program);
  return {
    published: weightStore !== undefined && (await isPublished(chain, modelId as ModelId)),
    keyStored: proofAdapter !== undefined && (await isKeyStored(chain, modelId as ModelId)),
    compiled: directory !== undefined,
  };
}

async function proofModelSubject(
  model: ProofModel,
  chain: Chain | undefined,
  { ezkl: folder }: KeyFolders,
): Promise<PlanSubject> {
  const { ezkl, evaluation } = model.manifest.assay;
  const word = chain && (await new StateReader(chain).model(model.modelId as ModelId));
  const keysHere = existsSync(keyFolderOf(folder, model));
  const offers = offersOfProofModel(
    {
      rows: 2 ** ezkl.logrows,
      inputs: model.inputs,
      instances: instanceCount(model),
      initCodeBytes: model.verifier.initCode.length / 2 - 1,
      isForgeable: !isLocal(chain) && ezkl.srs === "development",
      isRegistered: word !== undefined,
      keysHere,
      // A ceremony's file is not made here.
      srsHere: keysHere || ezkl.srs === "ceremony" || existsSync(developmentSrsPath(folder, ezkl.logrows)),
    },
    COSTS,
  );
  const python = pythonOf(folder);
  const figures = Object.entries(evaluation ?? {}).map(([name, value]) => `${name} ${value}`);
  const accuracy = figures.length === 0 ? "none in its manifest" : figures.join(", ");
  const notes = [
    `its accuracy is its own, not that of an int8 file: ${accuracy}`,
    ...(existsSync(python) ? [] : [ezklMissing(python).message]),
  ];
  return { modelId: model.modelId, modelLanes: LANE.PROOF, depth: 0, offers, notes };
}
