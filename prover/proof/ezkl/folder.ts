/** Folder of a model without a program: manifest.json, model.onnx, settings.json, verifier.json and what describes
 *  them. Heavy keys are not part of it: they are made from it (keys.ts). */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Hex, keccak256 } from "viem";
import { z } from "zod";
import { fromHex, toHex } from "../../../base/bytes.ts";
import { BaseError } from "../../../base/errors.ts";
import { modelId } from "../../../inference/commit/commitments.ts";
import { type AbiFunction, selectorOf, signatureOf } from "../../../inference/manifest/abi.ts";
import type { FileEntry } from "../../../inference/manifest/assay.ts";
import { cidOf } from "../../../inference/manifest/cid.ts";
import { mustEqual } from "../../../inference/manifest/model-files.ts";
import {
  identityFields,
  isProofManifest,
  PROOF_MODEL_FILES,
  type ProofManifest,
  proofModelIdentity,
} from "../../../inference/manifest/proof-model.ts";
import { tar } from "../../../inference/manifest/tar.ts";
import { readAnyManifest, readChecked, sha256Bytes } from "../../../inference/model-folder.ts";
import { decodeKey, type EzklKey, elementsOf } from "./key.ts";
import { assertPure } from "./pure-code.ts";

const hex = z.string().regex(/^0x([0-9a-f]{2})*$/);
const verifierSchema = z.object({
  /** what compiled it, and how */
  compiler: z.string(),
  soliditySha256: z.string(),
  key: hex,
  initCode: hex,
  code: hex,
});

/** verifier.json: the contract that ezkl generated for this key, compiled. */
export type VerifierFile = z.infer<typeof verifierSchema>;

export interface ProofModel {
  readonly directory: string;
  readonly manifest: ProofManifest;
  readonly modelId: Hex;
  readonly key: EzklKey;
  readonly keyBytes: Uint8Array;
  /** the one that calldata calls */
  readonly function: AbiFunction;
  readonly verifier: VerifierFile;
  /** elements */
  readonly inputs: number;
  readonly outputs: number;
  readonly onnx: Uint8Array;
  /** ezkl's settings.json */
  readonly settings: Uint8Array;
}

/** Loads a folder and checks that manifest, files and identity agree.
 *  @throws BaseError MODEL_FOLDER_INVALID, MANIFEST_INVALID, MODEL_MISMATCH, MODEL_HAS_PROGRAM, EZKL_KEY_INVALID,
 *  EZKL_VERIFIER_IMPURE */
export function loadProofModel(directory: string): ProofModel {
  const manifest = readAnyManifest(join(directory, "manifest.json"));
  if (!isProofManifest(manifest)) {
    throw new BaseError({
      code: "MODEL_HAS_PROGRAM",
      shortMessage: `${directory} holds a model with a program, which ezkl does not prove.`,
      nextStep: "Name a model that `assay proof ezkl add` made.",
    });
  }
  const { assay } = manifest;
  const read = (name: string): Uint8Array => readChecked(directory, name, assay.files[name] as FileEntry);
  const verifier = readVerifier(read("verifier.json"), directory);
  const keyBytes = fromHex(verifier.key);
  const key = decodeKey(keyBytes);
  const code = fromHex(verifier.code);
  assertPure(code);
  mustEqual("the hash of the verifier's code", key.codeHash, keccak256(code));
  const [inputs, outputs] = [elementsOf(key.inputs), elementsOf(key.outputs)];
  const identity = proofModelIdentity(fromHex(assay.selector), inputs, outputs, keccak256(keyBytes, "bytes"));
  const { codec, lanes: _, ...fields } = identityFields(identity, inputs);
  for (const [name, value] of Object.entries(fields)) {
    mustEqual(name, assay[name as keyof typeof fields], value);
  }
  mustEqual("codec.inputSize", assay.codec.inputSize, codec.inputSize);
  mustEqual("the scales", JSON.stringify(scalesOf(assay)), JSON.stringify([key.inputs, key.outputs]));
  return {
    directory,
    manifest,
    function: checkFunction(manifest, outputs),
    modelId: toHex(modelId(identity)),
    key,
    keyBytes,
    verifier,
    inputs,
    outputs,
    onnx: read("model.onnx"),
    settings: read("settings.json"),
  };
}

function scalesOf({ inputs, outputs }: ProofManifest["assay"]) {
  return [inputs, outputs].map((entries) =>
    entries.map(({ dims, scaleBits }) => ({ elements: dims.reduce((a, b) => a * b, 1), scaleBits })),
  );
}

function readVerifier(bytes: Uint8Array, directory: string): VerifierFile {
  try {
    return verifierSchema.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch (cause) {
    throw new BaseError({
      code: "MODEL_FOLDER_INVALID",
      shortMessage: `${join(directory, "verifier.json")} is not a verifier's file.`,
      nextStep: "Add the model again with `assay proof ezkl add`.",
      cause,
    });
  }
}

/** The function that calldata calls takes lanes and returns words. @throws BaseError MODEL_MISMATCH */
export function checkFunction(manifest: ProofManifest, outputs: number): AbiFunction {
  const { selector } = manifest.assay;
  const called = manifest.abi.find((f) => toHex(selectorOf(f)) === selector);
  if (called === undefined) {
    mustEqual("the selector's function", selector, manifest.abi.map(signatureOf).join(", "));
    throw new TypeError("unreachable");
  }
  mustEqual("the arguments", "uint256[]", called.inputs.map(({ type }) => type).join());
  const words = called.outputs.map(({ type }) => /^int256(?:\[(\d+)\])?$/.exec(type));
  const count = words.reduce((sum, match) => sum + (match === null ? Number.NaN : Number(match[1] ?? 1)), 0);
  mustEqual("the number of output words", outputs, count);
  return called;
}

/** `ipfs://` and the CID of the archive of a folder's files. */
export function proofImageOf(files: ReadonlyMap<string, Uint8Array>): string {
  const entries = PROOF_MODEL_FILES.flatMap((name) => {
    const content = files.get(name);
    return content === undefined ? [] : [{ name, content }];
  });
  return `ipfs://${cidOf(tar(entries), sha256Bytes)}`;
}

/** Files of a folder that belong to the archive. */
export const proofArchive = (directory: string): Map<string, Uint8Array> =>
  new Map(
    PROOF_MODEL_FILES.filter((name) => existsSync(join(directory, name))).map((name) => [
      name,
      new Uint8Array(readFileSync(join(directory, name))),
    ]),
  );

/** Whether a folder holds a model without a program. */
export const isProofModelFolder = (directory: string): boolean =>
  existsSync(join(directory, "manifest.json")) &&
  isProofManifest(readAnyManifest(join(directory, "manifest.json")));
