/** The engine of one model for a command that compares by hand as the daemon does. */
import { BaseError } from "../../base/errors.ts";
import { coverModels } from "../../challenger/models.ts";
import type { CoveredModel, Engines } from "../../challenger/reexecute.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { openEngine } from "../engine.ts";
import type { Setup } from "./machine.ts";
import { PROGRESS } from "./progress.ts";

/** @throws BaseError MODEL_NOT_HERE; what `work` throws */
export async function withCovered<T>(
  { chain, models, settings }: Pick<Setup, "chain" | "models" | "settings">,
  modelId: ModelId,
  work: (parts: { readonly covered: CoveredModel; readonly engines: Engines }) => Promise<T>,
): Promise<T> {
  const folders = models.filter((model) => model.modelId === modelId);
  const covered = (await coverModels(folders, new StateReader(chain), PROGRESS)).get(modelId);
  if (covered === undefined) throw modelNotHere(modelId, settings.models);
  const fast = await openEngine(folders, 1, PROGRESS);
  try {
    return await work({ covered, engines: { fast, canonical: fast.canonical, log: PROGRESS } });
  } finally {
    fast.close();
  }
}

const modelNotHere = (model: ModelId, folder: string) =>
  new BaseError({
    code: "MODEL_NOT_HERE",
    shortMessage: `No folder in ${folder} holds the model ${model}.`,
    nextStep: "Fetch it with `assay model pull`, or name its folder's parent with --models.",
  });

/** @param what could not be checked, with its id */
export const couldNotCheck = (what: string, reason: string) =>
  new BaseError({
    code: "COULD_NOT_CHECK",
    shortMessage: `${what} could not be checked: ${reason}.`,
    nextStep: "Try again; this says nothing about the claim.",
    retryable: true,
  });
