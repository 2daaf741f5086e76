/** The models that a challenger covers: folders whose files match what is registered. */

import type { Logger } from "../base/log.ts";
import { commitWeights } from "../inference/commit/commitments.ts";
import { prepare } from "../inference/executor/prepare.ts";
import { isForExecutorAlone } from "../inference/executor/quick.ts";
import type { LoadedModel } from "../inference/model-folder.ts";
import { readsClaimed } from "../inference/program/form.ts";
import type { StateReader } from "../protocol/chain/reads.ts";
import type { ModelId } from "../protocol/rules/types.ts";
import type { CoveredModel } from "./reexecute.ts";

/** Prepares the models. One that is not registered yet is covered from the moment that it is: ids are hashes of the
 *  content, so an equal id is the same model.
 *  @param asksFastPath for which models the fast path is asked although the canonical executor is sooner done
 *  @returns by id */
export async function coverModels(
  folders: readonly LoadedModel[],
  state: StateReader,
  log: Logger,
  asksFastPath: (model: string) => boolean = () => false,
): Promise<Map<ModelId, CoveredModel>> {
  const covered = new Map<ModelId, CoveredModel>();
  for (const { manifest, model, modelId, selector } of folders) {
    const id = modelId as ModelId;
    const { name } = manifest;
    const registered = await state.model(id);
    if (registered === undefined) {
      log.warn(
        { model: name, id },
        "a model here is not registered on this chain; its files may be another version",
      );
    } else log.info({ model: name, id }, "covering model");
    covered.set(id, {
      ...{ id, name, prepared: prepare(model, selector), weights: commitWeights(model) },
      // What reads the claimed output is checked in one pass by the executor; all others would find the output.
      isQuick: readsClaimed(model.program) || (isForExecutorAlone(model.program) && !asksFastPath(modelId)),
    });
  }
  return covered;
}
