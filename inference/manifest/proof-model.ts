/** Models without a program: only proofs make their outputs final (docs/PROTOCOL.md, section 1). The `assay` section of
 *  their manifests has format 2. */

import { toHex } from "../../base/bytes.ts";
import { type ModelIdentity, modelId } from "../commit/commitments.ts";
import { keccak256 } from "../commit/keccak.ts";
import { checkMeaning } from "../meaning/check.ts";
import type { Meaning } from "../meaning/form.ts";
import { INPUT_CODEC_CODES, OUTPUT_CODEC_CODES } from "../program/codes.ts";
import type { FileEntry, Manifest } from "./assay.ts";
import { type Checker, quoted } from "./problems.ts";

/** Files that such a model's folder holds besides manifest.json. */
export const PROOF_MODEL_FILES = [
  "README.md",
  "eval.json",
  "model.onnx",
  "settings.json",
  "verifier.json",
] as const;
/** Files without which nothing can be proven. */
const REQUIRED = ["model.onnx", "settings.json", "verifier.json"] as const;

/** A tensor of fixed-point numbers: value = number · 2^-scaleBits. */
export interface FixedPointEntry {
  readonly name: string;
  readonly dims: readonly number[];
  /** first element among all inputs, or all outputs */
  readonly offset: number;
  readonly scaleBits: number;
}

export interface ProofModelSection {
  readonly format: 2;
  readonly modelId: string;
  readonly programHash: string;
  readonly selector: string;
  readonly lanes: readonly ["PROOF"];
  readonly vkHash: string;
  readonly judgeVersion: number;
  readonly codec: { readonly input: "int16s"; readonly output: "words"; readonly inputSize: number };
  readonly maxCalldata: number;
  readonly outputLength: number;
  /** Windows that requests should name, in seconds. */
  readonly windowSeconds: { readonly default: number; readonly local: number };
  readonly files: Readonly<Record<string, FileEntry>>;
  readonly inputs: readonly FixedPointEntry[];
  readonly outputs: readonly FixedPointEntry[];
  /** How people read the output; no id depends on it. */
  readonly meaning?: Meaning;
  readonly ezkl: {
    readonly version: string;
    /** log2 of the circuit's rows */
    readonly logrows: number;
    /** "development": anybody can forge proofs */
    readonly srs: "development" | "ceremony";
    readonly srsSha256: string;
    readonly vkSha256: string;
  };
  readonly evaluation?: Readonly<Record<string, unknown>>;
}

export interface ProofManifest extends Omit<Manifest, "assay"> {
  readonly assay: ProofModelSection;
}

export const isProofManifest = (manifest: Manifest | ProofManifest): manifest is ProofManifest =>
  (manifest.assay.format as number) === 2;

/** What the registry hashes of a model without a program.
 *  @param inputs elements of codec int16s @param outputs elements of codec words */
export function proofModelIdentity(
  selector: Uint8Array,
  inputs: number,
  outputs: number,
  vkHash: Uint8Array,
): ModelIdentity {
  const words = new Uint8Array(4 * 32);
  const view = new DataView(words.buffer);
  words.set(keccak256(new TextEncoder().encode("assay model without a program")));
  view.setUint32(2 * 32 - 4, INPUT_CODEC_CODES.int16s);
  view.setUint32(3 * 32 - 4, OUTPUT_CODEC_CODES.words);
  view.setUint32(4 * 32 - 4, inputs);
  return {
    programHash: keccak256(words),
    weightsRoot: new Uint8Array(32),
    maxCalldata: 68 + 32 * Math.ceil(inputs / 16),
    outputLength: 32 * outputs,
    selector,
    lanes: 2,
    judgeVersion: 1,
    vkHash,
  };
}

/** The fields of the section that follow from the identity. */
export function identityFields(identity: ModelIdentity, inputs: number) {
  return {
    format: 2,
    modelId: toHex(modelId(identity)),
    programHash: toHex(identity.programHash),
    selector: toHex(identity.selector),
    lanes: ["PROOF"],
    vkHash: toHex(identity.vkHash),
    judgeVersion: identity.judgeVersion,
    codec: { input: "int16s", output: "words", inputSize: inputs },
    maxCalldata: identity.maxCalldata,
    outputLength: identity.outputLength,
  } as const;
}

/** Whether the section has the form of a ProofModelSection. */
export function checkProofModel(check: Checker, section: Record<string, unknown>, path: string): void {
  const hex = (key: string, bytes: number): void => {
    const text = check.text(section[key], `${path}.${key}`);
    if (text !== undefined && !new RegExp(`^0x[0-9a-f]{${2 * bytes}}$`).test(text))
      check.error(`${path}.${key}`, `must be 0x and ${2 * bytes} digits 0-9a-f`);
  };
  for (const key of ["modelId", "programHash", "vkHash"]) hex(key, 32);
  hex("selector", 4);
  const whole = (object: Record<string, unknown> | undefined, key: string, at: string): void => {
    const value = object?.[key];
    if (object !== undefined && (!Number.isSafeInteger(value) || (value as number) < 0))
      check.error(`${at}.${key}`, "must be a whole number");
  };
  for (const key of ["judgeVersion", "maxCalldata", "outputLength"]) whole(section, key, path);
  const { lanes } = section;
  if (!Array.isArray(lanes) || lanes.length !== 1 || lanes[0] !== "PROOF")
    check.error(`${path}.lanes`, 'must be ["PROOF"]: only proofs make a model without a program final');
  const codec = check.object(section.codec, `${path}.codec`);
  whole(codec, "inputSize", `${path}.codec`);
  if (codec !== undefined && codec.input !== "int16s") check.error(`${path}.codec.input`, "must be int16s");
  if (codec !== undefined && codec.output !== "words") check.error(`${path}.codec.output`, "must be words");
  const windows = check.object(section.windowSeconds, `${path}.windowSeconds`);
  for (const key of ["default", "local"]) whole(windows, key, `${path}.windowSeconds`);
  for (const key of ["inputs", "outputs"]) checkTensors(check, section[key], `${path}.${key}`, whole);
  checkMeaning(check, section, path);
  checkFileEntries(check, section.files, `${path}.files`);
  const ezkl = check.object(section.ezkl, `${path}.ezkl`);
  check.text(ezkl?.version, `${path}.ezkl.version`);
  whole(ezkl, "logrows", `${path}.ezkl`);
  if (ezkl !== undefined && ezkl.srs !== "development" && ezkl.srs !== "ceremony")
    check.error(`${path}.ezkl.srs`, "must be development or ceremony");
  for (const key of ["srsSha256", "vkSha256"]) checkSha256(check, ezkl?.[key], `${path}.ezkl.${key}`);
}

function checkTensors(
  check: Checker,
  value: unknown,
  path: string,
  whole: (object: Record<string, unknown> | undefined, key: string, at: string) => void,
): void {
  check.array(value, path)?.forEach((entry, i) => {
    const at = `${path}[${i}]`;
    const object = check.object(entry, at);
    check.text(object?.name, `${at}.name`);
    whole(object, "offset", at);
    if (object !== undefined && !Number.isSafeInteger(object.scaleBits))
      check.error(`${at}.scaleBits`, "must be an integer");
    const dims = check.array(object?.dims, `${at}.dims`);
    if (dims?.some((d) => !Number.isSafeInteger(d) || (d as number) < 1))
      check.error(`${at}.dims`, "must be numbers >= 1");
  });
}

function checkFileEntries(check: Checker, value: unknown, path: string): void {
  const files = check.object(value, path);
  if (files === undefined) return;
  for (const name of REQUIRED) if (files[name] === undefined) check.error(`${path}["${name}"]`, "is missing");
  for (const [name, entry] of Object.entries(files)) {
    const at = `${path}[${quoted(name)}]`;
    if (!(PROOF_MODEL_FILES as readonly string[]).includes(name))
      check.error(at, `must be one of ${PROOF_MODEL_FILES.join(", ")}`);
    const object = check.object(entry, at);
    checkSha256(check, object?.sha256, `${at}.sha256`);
    if (object !== undefined && (!Number.isSafeInteger(object.bytes) || (object.bytes as number) < 0))
      check.error(`${at}.bytes`, "must be a whole number");
  }
}

function checkSha256(check: Checker, value: unknown, path: string): void {
  if (typeof value !== "string" || !/^[0-9a-f]{64}$/.test(value))
    check.error(path, "must be 64 digits 0-9a-f");
}
