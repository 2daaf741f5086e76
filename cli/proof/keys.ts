/** Options by which commands find a model's proving key. */
import type { Command } from "commander";
import { BaseError } from "../../inference/errors.ts";
import { type LoadedModel, loadModelFolder } from "../../inference/model-folder.ts";
import {
  assertKeysOf,
  DEFAULT_SEED,
  developmentKeys,
  type ModelKeys,
  openKeys,
} from "../../prover/proof/groth16/keys.ts";
import { modelFolder } from "../model-source.ts";
import { KEY_FOLDER } from "./setup.ts";

export interface KeyOptions {
  readonly seed: string;
  readonly key?: string;
  readonly keys: string;
}

export const withKeys = (command: Command): Command =>
  command
    .option("--key <file>", ".zkey file of the model's ceremony")
    .option("--seed <text>", "of the model's development key, which is made on first use", DEFAULT_SEED)
    .option("--keys <dir>", "where development keys are kept", KEY_FOLDER);

/** A model with the PROOF lane and the keys that it names.
 *  @throws BaseError LANE_UNAVAILABLE, KEY_MISMATCH, PROVING_KEY_MISSING */
export async function provableModel(
  name: string,
  { seed, key, keys: folder }: KeyOptions,
): Promise<{ readonly loaded: LoadedModel; readonly keys: ModelKeys }> {
  const loaded = loadModelFolder(modelFolder(name));
  if (loaded.verificationKey === undefined) {
    throw new BaseError({
      code: "LANE_UNAVAILABLE",
      shortMessage: `${name} has no PROOF lane.`,
      nextStep:
        'Make keys with `assay proof setup --out`, add "PROOF" to the lanes in tool.json and import it again: that makes another model.',
    });
  }
  const keys = key === undefined ? await developmentKeys(loaded.model, folder, seed) : await openKeys(key);
  assertKeysOf(loaded.manifest.assay.vkHash, keys);
  return { loaded, keys };
}
