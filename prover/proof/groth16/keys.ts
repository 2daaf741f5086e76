/** Proving keys of models, made on first use and kept in a folder: they are megabytes, and a seed gives them again. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Hex, toHex } from "../../../base/bytes.ts";
import { BaseError } from "../../../base/errors.ts";
import { commitModel } from "../../../inference/commit/commitments.ts";
import { keccak256 } from "../../../inference/commit/keccak.ts";
import type { Model } from "../../../inference/program/form.ts";
import { vkHashOf } from "../../../protocol/rules/proof/groth16.ts";
import { CIRCUIT_FORM, type CompiledCircuit, compileCircuit } from "./compile.ts";
import { developmentSetup } from "./snark/setup.ts";
import { verificationKeyOf } from "./snark/zkey.ts";

/** Seed of development keys that name none. */
export const DEFAULT_SEED = "assay";

export interface ModelKeys {
  /** Path of the .zkey file. */
  readonly provingKey: string;
  /** What ProofLane stores. */
  readonly verificationKey: Uint8Array;
  readonly vkHash: Hex;
}

/** Where the proving key of a ceremony lies, or would: it is found by the key that the model names. */
export const ceremonyKeyPath = (vkHash: string, folder: string): string =>
  join(folder, `${vkHash.slice(2, 34)}.zkey`);

/** Where the development key of a model lies, or would. */
export function developmentKeyPath(model: Model, folder: string, seed = DEFAULT_SEED): string {
  const { programHash, weightsRoot } = commitModel(model);
  const name = JSON.stringify(["groth16", CIRCUIT_FORM, toHex(programHash), toHex(weightsRoot), seed]);
  return join(folder, `${toHex(keccak256(new TextEncoder().encode(name))).slice(2, 34)}.zkey`);
}

/** Development keys of a model, from the folder or made now.
 *  @throws BaseError as `compileCircuit` and `developmentSetup` */
export async function developmentKeys(
  model: Model,
  folder: string,
  seed = DEFAULT_SEED,
  circuit: CompiledCircuit = compileCircuit(model),
): Promise<ModelKeys> {
  const path = developmentKeyPath(model, folder, seed);
  if (!existsSync(path)) {
    const { provingKey } = await developmentSetup(circuit.r1cs, seed);
    saveKey(path, provingKey);
  }
  return openKeys(path);
}

/** Keys of a model: those that a ceremony left in the folder, else what `development` gives.
 *  @throws BaseError KEY_MISMATCH; as `openKeys` and `development` */
export async function keysInFolder(
  vkHash: string,
  folder: string,
  development: () => Promise<ModelKeys>,
): Promise<ModelKeys> {
  const path = ceremonyKeyPath(vkHash, folder);
  const keys = existsSync(path) ? await openKeys(path) : await development();
  assertKeysOf(vkHash, keys);
  return keys;
}

/** Keys of a .zkey file. @throws BaseError BINFILE_INVALID, PROVING_KEY_MISSING */
export async function openKeys(path: string): Promise<ModelKeys> {
  let content: Uint8Array;
  try {
    content = new Uint8Array(readFileSync(path));
  } catch (cause) {
    throw new BaseError({
      code: "PROVING_KEY_MISSING",
      shortMessage: `The proving key ${path} cannot be read.`,
      nextStep: "Make it with `assay proof setup`, or name another file.",
      cause,
    });
  }
  const verificationKey = await verificationKeyOf(content);
  return { provingKey: path, verificationKey, vkHash: vkHashOf(verificationKey) };
}

/** Another process sees no key or a whole one. */
export function saveKey(path: string, provingKey: Uint8Array): void {
  mkdirSync(join(path, ".."), { recursive: true });
  const part = `${path}.${process.pid}.part`;
  writeFileSync(part, provingKey);
  renameSync(part, path);
}

/** @throws BaseError KEY_MISMATCH unless the keys are those that the model names */
export function assertKeysOf(vkHash: string, keys: ModelKeys): void {
  if (keys.vkHash === vkHash) return;
  throw new BaseError({
    code: "KEY_MISMATCH",
    shortMessage: `The proving key ${keys.provingKey} belongs to vkHash ${keys.vkHash}, the model names ${vkHash}.`,
    nextStep: "Give the .zkey file of the model's ceremony with --key, or the seed of its development key.",
    details: { vkHash: keys.vkHash, limit: vkHash },
  });
}
