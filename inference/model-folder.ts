/** A model's folder: manifest.json, model.onnx, program.bin, weights.bin and what describes them. */

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { concatBytes, equalBytes, fromHex, type Hex, toHex } from "../base/bytes.ts";
import { BaseError } from "../base/errors.ts";
import { INPUT_TYPES } from "./codecs/input.ts";
import { commitModel, JUDGE_VERSION, type ModelCommitment, modelId } from "./commit/commitments.ts";
import { keccak256 } from "./commit/keccak.ts";
import { type AbiFunction, selectorOf, signatureOf } from "./manifest/abi.ts";
import {
  type FileEntry,
  KEY_FILE,
  laneBits,
  type Manifest,
  MODEL_FILES,
  REQUIRED_FILES,
} from "./manifest/assay.ts";
import { cidOf } from "./manifest/cid.ts";
import { isProofManifest, type ProofManifest } from "./manifest/proof-model.ts";
import { tar } from "./manifest/tar.ts";
import { validateManifest } from "./manifest/validate.ts";
import { type ProfileReport, proveProfile } from "./profile/prove.ts";
import { elementCount, type Model, type Program } from "./program/form.ts";
import { lastStep, weightBytes } from "./program/shape.ts";
import { readProgram } from "./program/validate.ts";

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
  /** Content of model.onnx. */
  readonly onnx: Uint8Array;
  /** The key behind vkHash, of a model with the lane PROOF. */
  readonly verificationKey: Uint8Array | undefined;
}

const MAX_MANIFEST_BYTES = 1 << 20;
const MAX_FILE_BYTES = 512 << 20;

/** Loads a model and checks everything that its manifest claims about what is computed; `checkFiles` asks for the
 *  files that only describe it, too.
 *  @throws MODEL_FOLDER_INVALID, MANIFEST_INVALID, MODEL_MISMATCH naming what was expected and found,
 *  PROGRAM_INVALID, PROFILE_UNPROVEN */
export function loadModelFolder(directory: string): LoadedModel {
  const manifest = readManifest(join(directory, "manifest.json"));
  const { assay } = manifest;
  const [onnx, programBytes, weightsBytes] = REQUIRED_FILES.map((name) =>
    readChecked(directory, name, assay.files[name] as FileEntry),
  ) as [Uint8Array, Uint8Array, Uint8Array];
  const program = readProgram(programBytes);
  const model = { program, weights: splitWeights(program, weightsBytes) };
  const commitment = commitModel(model);
  const selector = fromHex(assay.selector);
  checkFunction(program, manifest.abi, selector);
  const { lanes, vkHash } = assay;
  const identity = { ...commitment, selector, lanes: laneBits(lanes), vkHash: fromHex(vkHash) };
  const id = toHex(modelId(identity));
  mustEqual("programHash", assay.programHash, toHex(commitment.programHash));
  mustEqual("weightsRoot", assay.weightsRoot, toHex(commitment.weightsRoot));
  mustEqual("maxCalldata", assay.maxCalldata, commitment.maxCalldata);
  mustEqual("outputLength", assay.outputLength, commitment.outputLength);
  mustEqual("judgeVersion", assay.judgeVersion, JUDGE_VERSION);
  mustEqual("codec.input", assay.codec.input, program.inputCodec);
  mustEqual("codec.output", assay.codec.output, program.outputCodec);
  mustEqual("codec.inputSize", assay.codec.inputSize, program.inputSize);
  mustEqual("modelId", assay.modelId, id);
  const verificationKey = readKey(directory, manifest);
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
    onnx,
    verificationKey,
  };
}

function readKey(directory: string, { assay }: Manifest): Uint8Array | undefined {
  const entry = assay.files[KEY_FILE];
  if (entry === undefined) return undefined;
  const key = readChecked(directory, KEY_FILE, entry);
  mustEqual("vkHash", assay.vkHash, toHex(keccak256(key)));
  return key;
}

/** @throws MODEL_MISMATCH */
export function mustEqual(what: string, expected: string | number, found: string | number): void {
  if (expected === found) return;
  throw new BaseError({
    code: "MODEL_MISMATCH",
    shortMessage: `${what} is ${found}, the manifest says ${expected}.`,
    nextStep: "Take the files and the manifest from one release, or import the model again.",
    details: { what, expected, found },
  });
}

function folderError(shortMessage: string, cause?: unknown): BaseError {
  const nextStep = "Give a folder with manifest.json, model.onnx, program.bin and weights.bin.";
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

/** @throws MANIFEST_INVALID, MODEL_WITHOUT_PROGRAM */
export const checkedManifest = (value: unknown, path: string): Manifest =>
  withProgram(checkedAny(value, path), path);

function withProgram(manifest: Manifest | ProofManifest, path: string): Manifest {
  if (!isProofManifest(manifest)) return manifest;
  throw new BaseError({
    code: "MODEL_WITHOUT_PROGRAM",
    shortMessage: `${path} describes a model without a program: nothing but a proof says what it computes.`,
    nextStep: "Run it with `assay proof prove`.",
  });
}

export function checkedAny(value: unknown, path: string): Manifest | ProofManifest {
  const { errors } = validateManifest(value);
  const lines = errors.map((e) => `${e.path}: ${e.message}`);
  const manifest = value as Manifest | ProofManifest;
  if (lines.length === 0 && manifest.assay === undefined) lines.push("$.assay: is missing");
  if (lines.length > 0) {
    throw new BaseError({
      code: "MANIFEST_INVALID",
      shortMessage: `${path} breaks ${lines.length} rule(s):\n${lines.join("\n")}`,
      nextStep: "Correct the manifest, or write it again with assay model import.",
      details: { problems: lines },
    });
  }
  return manifest;
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

export const sha256 = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex");

/** weights.bin is the weight tensors in order, joined. */
function splitWeights(program: Program, bytes: Uint8Array): Uint8Array[] {
  const lengths = program.weights.map(weightBytes);
  mustEqual(
    "the length of weights.bin",
    lengths.reduce((sum, n) => sum + n, 0),
    bytes.length,
  );
  let end = 0;
  return lengths.map((length) => {
    end += length;
    return bytes.slice(end - length, end);
  });
}

/** The function that calldata calls fits the codecs. */
export function checkFunction(
  program: Program,
  abi: readonly AbiFunction[],
  selector: Uint8Array,
): AbiFunction {
  const called = abi.find((f) => equalBytes(selectorOf(f), selector));
  if (called === undefined) {
    mustEqual(
      "the selector",
      abi.map((f) => `${toHex(selectorOf(f))} (${signatureOf(f)})`).join(", "),
      toHex(selector),
    );
    throw new TypeError("unreachable");
  }
  const inputs = called.inputs.map((p) => p.type).join();
  mustEqual(`the arguments of codec ${program.inputCodec}`, inputs, INPUT_TYPES[program.inputCodec].join());
  const count = elementCount(lastStep(program).dims);
  const outputs = called.outputs.map((p) => p.type);
  if (program.outputCodec === "words") {
    const words = outputs.reduce((sum, type) => sum + wordsOf(type), 0);
    mustEqual("the number of output words", words, count);
  } else
    mustEqual(
      `the outputs of codec ${program.outputCodec}`,
      outputs.join(),
      program.outputCodec === "raw" ? "bytes" : "uint256[]",
    );
  return called;
}

/** Words of `int256` or `int256[N]`; NaN for a type that the words codec does not write. */
function wordsOf(type: string): number {
  const match = /^int256(?:\[([0-9]+)\])?$/.exec(type);
  return match === null ? Number.NaN : Number(match[1] ?? 1);
}

/** The tool's archive: the model's files in a tar that depends on nothing else. */
function archiveOf(files: ReadonlyMap<string, Uint8Array>): Uint8Array {
  return tar(
    MODEL_FILES.flatMap((name) =>
      files.has(name) ? [{ name, content: files.get(name) as Uint8Array }] : [],
    ),
  );
}

export const imageOf = (files: ReadonlyMap<string, Uint8Array>): string =>
  `ipfs://${cidOf(archiveOf(files))}`;

/** Files of a folder that belong to the archive. */
export function archiveFiles(directory: string): Map<string, Uint8Array> {
  const present = MODEL_FILES.filter((name) => existsSync(join(directory, name)));
  return new Map(present.map((name) => [name, read(join(directory, name), MAX_FILE_BYTES)]));
}

export const joinWeights = (model: Model): Uint8Array => concatBytes(...model.weights);

/** Writes files into a folder, manifest.json last: a folder with a manifest is complete. */
export function saveModelFolder(
  directory: string,
  manifest: Manifest | ProofManifest,
  files: ReadonlyMap<string, Uint8Array>,
): void {
  mkdirSync(directory, { recursive: true });
  for (const [name, content] of files) writeWhole(join(directory, name), content);
  writeWhole(
    join(directory, "manifest.json"),
    new TextEncoder().encode(`${JSON.stringify(manifest, undefined, 2)}\n`),
  );
}

/** Another process sees the old file or the new one, never a part. */
function writeWhole(path: string, content: Uint8Array): void {
  writeFileSync(`${path}.part`, content);
  renameSync(`${path}.part`, path);
}
