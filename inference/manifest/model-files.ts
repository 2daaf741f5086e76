/** What a model's files say of each other, wherever they lie: on a disk (inference/model-folder.ts), in a browser. */
import { concatBytes, equalBytes, toHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import { INPUT_TYPES } from "../codecs/input.ts";
import { elementCount, isClaimed, type Model, type Program, readsClaimed } from "../program/form.ts";
import { lastStep, weightBytes } from "../program/shape.ts";
import { type AbiFunction, selectorOf, signatureOf } from "./abi.ts";
import { type AssaySection, type Lane, type Manifest, MODEL_FILES } from "./assay.ts";
import { cidOf, type Sha256 } from "./cid.ts";
import { isProofManifest, type ProofManifest } from "./proof-model.ts";
import { tar } from "./tar.ts";
import { validateManifest } from "./validate.ts";

/** Of one file, bytes. */
export const MAX_FILE_BYTES = 512 << 20;

/** @throws MANIFEST_INVALID, MODEL_WITHOUT_PROGRAM */
export const checkedManifest = (value: unknown, path: string): Manifest =>
  withProgram(checkedAny(value, path), path);

/** @throws MODEL_WITHOUT_PROGRAM */
export function withProgram(manifest: Manifest | ProofManifest, path: string): Manifest {
  if (!isProofManifest(manifest)) return manifest;
  throw new BaseError({
    code: "MODEL_WITHOUT_PROGRAM",
    shortMessage: `${path} describes a model without a program: nothing but a proof says what it computes.`,
    nextStep: "Run it with `assay proof prove`.",
  });
}

/** @throws MANIFEST_INVALID listing every problem with its JSON path */
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

/** weights.bin is the weight tensors in order, joined. */
export function splitWeights(program: Program, bytes: Uint8Array): Uint8Array[] {
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

/** A program that reads the claimed output is run by no interpreter and proven by no circuit.
 *  @throws LANE_UNAVAILABLE naming the lane and the step */
export function checkLanes(program: Program, lanes: readonly Lane[]): void {
  const step = program.steps.findIndex(isClaimed);
  const strange = lanes.find((lane) => lane !== "BOND");
  if (step === -1 || strange === undefined) return;
  throw new BaseError({
    code: "LANE_UNAVAILABLE",
    shortMessage: `Step ${step} reads the claimed output, which the lane ${strange} does not have: the model has BOND alone.`,
    nextStep: `Take "${strange}" out of the lanes: that makes another model.`,
    details: { step, lane: strange, limit: "BOND" },
  });
}

/** The manifest names an input of the graph as the claimed output where the program reads one, and only there.
 *  @throws MODEL_MISMATCH */
export function checkClaimed(program: Program, claimed: AssaySection["claimed"]): void {
  mustEqual(
    "the number of elements that are read from the claimed output",
    claimed === undefined ? 0 : elementCount(claimed.dims),
    readsClaimed(program) ? elementCount(lastStep(program).dims) : 0,
  );
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

export const imageOf = (files: ReadonlyMap<string, Uint8Array>, sha256: Sha256): string =>
  `ipfs://${cidOf(archiveOf(files), sha256)}`;

export const joinWeights = (model: Model): Uint8Array => concatBytes(...model.weights);

/** manifest.json as it is written. */
export const manifestBytes = (manifest: Manifest | ProofManifest): Uint8Array =>
  new TextEncoder().encode(`${JSON.stringify(manifest, undefined, 2)}\n`);
