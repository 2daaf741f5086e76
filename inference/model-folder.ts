/** A model's folder: manifest.json, program.bin, weights.bin, what these were made from (model.onnx, or recipe.json of a
 *  derived model), and what describes them. */

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { fromHex, type Hex, toHex } from "../base/bytes.ts";
import { BaseError } from "../base/errors.ts";
import { commitModel, type ModelCommitment, modelId } from "./commit/commitments.ts";
import { keccak256 } from "./commit/keccak.ts";
import {
  type FileEntry,
  KEY_FILE,
  laneBits,
  type Manifest,
  MODEL_FILES,
  REQUIRED_FILES,
  SOURCE_FILES,
  type SourceFile,
} from "./manifest/assay.ts";
import type { Sha256 } from "./manifest/cid.ts";
import {
  checkClaimed,
  checkedAny,
  checkFunction,
  checkLanes,
  MAX_FILE_BYTES,
  manifestBytes,
  mustEqual,
  splitWeights,
  withProgram,
} from "./manifest/model-files.ts";
import type { ProofManifest } from "./manifest/proof-model.ts";
import { type ProfileReport, proveProfile } from "./profile/prove.ts";
import type { Model } from "./program/form.ts";
import { readProgram } from "./program/validate.ts";
import { TOKENIZER_FILES, type TokenizerFiles } from "./text/tokenizer-file.ts";

export interface LoadedModel {
  readonly directory: string;
  readonly manifest: Manifest;
  readonly model: Model;
  readonly modelId: Hex;
  readonly commitment: ModelCommitment;
  /** 4 bytes. */
  readonly selector: Uint8Array;
  readonly laneBits: number;
  readonly profile: ProfileReport;
  /** What the program was made from. */
  readonly source: { readonly name: SourceFile; readonly content: Uint8Array };
  /** The key behind vkHash, of a model with the lane PROOF. */
  readonly verificationKey: Uint8Array | undefined;
  /** A language model's text, which the program does not hang on. */
  readonly tokenizer: TokenizerFiles | undefined;
}

const MAX_MANIFEST_BYTES = 1 << 20;

/** Loads a model and checks everything that its manifest claims about what is computed; `checkFiles` asks for the
 *  files that only describe it, too.
 *  @throws MODEL_FOLDER_INVALID, MANIFEST_INVALID, MODEL_MISMATCH naming what was expected and found,
 *  PROGRAM_INVALID, PROFILE_UNPROVEN, CAUSALITY_UNPROVEN, LANE_UNAVAILABLE */
export function loadModelFolder(directory: string): LoadedModel {
  const manifest = readManifest(join(directory, "manifest.json"));
  const { assay } = manifest;
  const source = SOURCE_FILES.find((name) => assay.files[name] !== undefined) as SourceFile;
  const [content, programBytes, weightsBytes] = [source, ...REQUIRED_FILES].map((name) =>
    readChecked(directory, name, assay.files[name] as FileEntry),
  ) as [Uint8Array, Uint8Array, Uint8Array];
  const program = readProgram(programBytes);
  const model = { program, weights: splitWeights(program, weightsBytes) };
  const commitment = commitModel(model);
  const selector = fromHex(assay.selector);
  checkFunction(program, manifest.abi, selector);
  const { lanes, vkHash } = assay;
  checkLanes(program, lanes);
  checkClaimed(program, assay.claimed);
  const identity = { ...commitment, selector, lanes: laneBits(lanes), vkHash: fromHex(vkHash) };
  const id = toHex(modelId(identity));
  mustEqual("programHash", assay.programHash, toHex(commitment.programHash));
  mustEqual("weightsRoot", assay.weightsRoot, toHex(commitment.weightsRoot));
  mustEqual("maxCalldata", assay.maxCalldata, commitment.maxCalldata);
  mustEqual("outputLength", assay.outputLength, commitment.outputLength);
  mustEqual("judgeVersion", assay.judgeVersion, commitment.judgeVersion);
  mustEqual("codec.input", assay.codec.input, program.inputCodec);
  mustEqual("codec.output", assay.codec.output, program.outputCodec);
  mustEqual("codec.inputSize", assay.codec.inputSize, program.inputSize);
  mustEqual("modelId", assay.modelId, id);
  const verificationKey = readKey(directory, manifest);
  const tokenizer = readTokenizer(directory, manifest);
  const profile = proveProfile(model);
  return {
    directory,
    manifest,
    model,
    modelId: id,
    commitment,
    selector,
    laneBits: identity.lanes,
    profile,
    source: { name: source, content },
    verificationKey,
    tokenizer,
  };
}

function readKey(directory: string, { assay }: Manifest): Uint8Array | undefined {
  const entry = assay.files[KEY_FILE];
  if (entry === undefined) return undefined;
  const key = readChecked(directory, KEY_FILE, entry);
  mustEqual("vkHash", assay.vkHash, toHex(keccak256(key)));
  return key;
}

/** Both files of it, or neither. @throws MODEL_FOLDER_INVALID, MODEL_MISMATCH */
export function readTokenizer(
  directory: string,
  { assay: { files } }: Manifest | ProofManifest,
): TokenizerFiles | undefined {
  const present = TOKENIZER_FILES.flatMap((name) => {
    const entry = files[name];
    return entry === undefined ? [] : [[name, readChecked(directory, name, entry)] as const];
  });
  if (present.length === 0) return undefined;
  mustEqual("the number of the tokenizer's files", present.length, TOKENIZER_FILES.length);
  return Object.fromEntries(present) as unknown as TokenizerFiles;
}

function folderError(shortMessage: string, cause?: unknown): BaseError {
  const nextStep =
    "Give a folder with manifest.json, program.bin, weights.bin, and model.onnx or recipe.json.";
  return new BaseError({
    code: "MODEL_FOLDER_INVALID",
    shortMessage,
    nextStep,
    ...(cause === undefined ? {} : { cause }),
  });
}

function read(path: string, limit: number): Uint8Array {
  let size: number;
  try {
    size = statSync(path).size;
  } catch (cause) {
    throw folderError(`${path} cannot be read.`, cause);
  }
  if (size > limit) throw folderError(`${path} has ${size} bytes, at most ${limit} are read.`);
  try {
    return new Uint8Array(readFileSync(path));
  } catch (cause) {
    throw folderError(`${path} cannot be read.`, cause);
  }
}

/** @throws MANIFEST_INVALID listing every problem with its JSON path; MODEL_WITHOUT_PROGRAM */
export function readManifest(path: string): Manifest {
  return withProgram(readAnyManifest(path), path);
}

/** The manifest of a model with or without a program. @throws MANIFEST_INVALID */
export function readAnyManifest(path: string): Manifest | ProofManifest {
  const text = new TextDecoder().decode(read(path, MAX_MANIFEST_BYTES));
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw folderError(
      `${path} is no JSON: ${cause instanceof Error ? cause.message : String(cause)}.`,
      cause,
    );
  }
  return checkedAny(value, path);
}

/** A file as the manifest describes it. @throws MODEL_FOLDER_INVALID, MODEL_MISMATCH */
export function readChecked(directory: string, name: string, entry: FileEntry): Uint8Array {
  const content = read(join(directory, name), MAX_FILE_BYTES);
  mustEqual(`the length of ${name}`, entry.bytes, content.length);
  mustEqual(`sha256 of ${name}`, entry.sha256, sha256(content));
  return content;
}

/** Every file that the manifest names. @throws MODEL_FOLDER_INVALID, MODEL_MISMATCH naming the file */
export function checkFiles(directory: string, manifest: Manifest | ProofManifest): void {
  for (const [name, entry] of Object.entries(manifest.assay.files)) readChecked(directory, name, entry);
}

export const sha256Bytes: Sha256 = (content) => createHash("sha256").update(content).digest();
export const sha256 = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex");

/** Files of a folder that belong to the archive. */
export function archiveFiles(directory: string): Map<string, Uint8Array> {
  const present = MODEL_FILES.filter((name) => existsSync(join(directory, name)));
  return new Map(present.map((name) => [name, read(join(directory, name), MAX_FILE_BYTES)]));
}

/** Writes files into a folder, manifest.json last: a folder with a manifest is complete. */
export function saveModelFolder(
  directory: string,
  manifest: Manifest | ProofManifest,
  files: ReadonlyMap<string, Uint8Array>,
): void {
  mkdirSync(directory, { recursive: true });
  for (const [name, content] of files) writeWhole(join(directory, name), content);
  writeWhole(join(directory, "manifest.json"), manifestBytes(manifest));
}

/** Another process sees the old file or the new one, never a part. */
function writeWhole(path: string, content: Uint8Array): void {
  writeFileSync(`${path}.part`, content);
  renameSync(`${path}.part`, path);
}
