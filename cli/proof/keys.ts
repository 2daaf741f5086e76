/** Options by which commands find a model's proving key. */
import type { Command } from "commander";
import { BaseError } from "../../base/errors.ts";
import type { LoadedModel } from "../../inference/model-folder.ts";
import {
  assertKeysOf,
  DEFAULT_SEED,
  developmentKeys,
  type ModelKeys,
  openKeys,
} from "../../prover/proof/groth16/keys.ts";
import { KEY_FOLDER } from "./setup.ts";

export interface KeyOptions {
  readonly seed: string;
  readonly key?: string;
  readonly keys: string;
  readonly groth16Prover?: string;
}

export const withKeys = (command: Command): Command =>
  command
    .option("--key <file>", ".zkey file of the model's ceremony")
    .option("--seed <text>", "of the model's development key, which is made on first use", DEFAULT_SEED)
    .option("--keys <dir>", "where development keys are kept", KEY_FOLDER)
    .option("--groth16-prover <path>", "assay-prove, which makes the proofs (default snarkjs)");

/** The keys of a model with the PROOF lane.
 *  @throws BaseError LANE_UNAVAILABLE, KEY_MISMATCH, PROVING_KEY_MISSING */
export async function provingKeysOf(
  { model, manifest, verificationKey, directory }: LoadedModel,
  { seed, key, keys: folder }: KeyOptions,
): Promise<ModelKeys> {
  if (verificationKey === undefined) {
    throw new BaseError({
      code: "LANE_UNAVAILABLE",
      shortMessage: `${directory} has no PROOF lane.`,
      nextStep:
        'Make keys with `assay proof setup --out`, add "PROOF" to the lanes in tool.json and import it again: that makes another model.',
    });
  }
  const keys = key === undefined ? await developmentKeys(model, folder, seed) : await openKeys(key);
  assertKeysOf(manifest.assay.vkHash, keys);
  return keys;
}
