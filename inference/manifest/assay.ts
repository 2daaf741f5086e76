/** The `assay` section of a manifest: what a node checks before it trusts a model's files. */

import { checkMeaning } from "../meaning/check.ts";
import type { Meaning } from "../meaning/form.ts";
import type { OnnxType } from "../onnx/graph.ts";
import {
  ARITHMETIC_FORMS,
  type ArithmeticForm,
  PRODUCT_FORMS,
  type ProductForm,
} from "../onnx/named-settings.ts";
import type { InputCodec, OutputCodec } from "../program/form.ts";
import { INPUT_CODECS, OUTPUT_CODECS } from "../program/form.ts";
import { TOKENIZER_FILES } from "../text/tokenizer-file.ts";
import type { AbiFunction } from "./abi.ts";
import { checkNumbers, type NumberEntry } from "./numbers.ts";
import { type Checker, quoted } from "./problems.ts";

export const LANES = ["EXECUTION", "PROOF", "BOND"] as const;
export type Lane = (typeof LANES)[number];

/** Files that a model's folder holds besides manifest.json. */
export const MODEL_FILES = [
  "README.md",
  "eval.json",
  "model.onnx",
  "recipe.json",
  ...TOKENIZER_FILES,
  "program.bin",
  "weights.bin",
  "verification-key.bin",
] as const;
/** What ProofLane stores, the content behind vkHash. A model with the lane PROOF has it. */
export const KEY_FILE = "verification-key.bin";

/** Who can forge proofs of a key: nobody, if one contributor of its ceremony was honest; whoever knows its seed. */
export const KEY_ORIGINS = ["ceremony", "development"] as const;
/** What a program was made from, one of them: the ONNX file of an import, or the recipe of a derivation. */
export const SOURCE_FILES = ["model.onnx", "recipe.json"] as const;
export type SourceFile = (typeof SOURCE_FILES)[number];
/** Files besides, without which there is no model. */
export const REQUIRED_FILES = ["program.bin", "weights.bin"] as const;

export interface FileEntry {
  readonly sha256: string;
  readonly bytes: number;
}

export interface ValueEntry {
  readonly name: string;
  readonly type: OnnxType;
  readonly dims: readonly number[];
  /** Inputs: first element (int16s) or byte (raw). Outputs: first element of the last tensor. */
  readonly offset: number;
  /** Inputs of the codec int16s whose numbers have names, in order. */
  readonly numbers?: readonly NumberEntry[];
  /** Outputs that are words in ONNX: what each number stands for, by its place. */
  readonly labels?: readonly string[];
}

export interface AssaySection {
  readonly format: 1;
  readonly modelId: string;
  readonly programHash: string;
  readonly weightsRoot: string;
  readonly selector: string;
  readonly lanes: readonly Lane[];
  readonly vkHash: string;
  /** Where a Groth16 key comes from, as the key itself says; absent without one. */
  readonly keyOrigin?: (typeof KEY_ORIGINS)[number];
  readonly judgeVersion: number;
  readonly codec: { readonly input: InputCodec; readonly output: OutputCodec; readonly inputSize: number };
  readonly maxCalldata: number;
  readonly outputLength: number;
  /** Windows that requests should ask for, in seconds. */
  readonly windowSeconds: { readonly default: number; readonly local: number };
  readonly files: Readonly<Record<string, FileEntry>>;
  readonly inputs: readonly ValueEntry[];
  readonly outputs: readonly ValueEntry[];
  /** The input of the graph that is the claimed output. */
  readonly claimed?: Pick<ValueEntry, "name" | "type" | "dims">;
  /** How people read the output; no id depends on it. */
  readonly meaning?: Meaning;
  readonly import: {
    readonly steps: number;
    readonly requantizations: { readonly integer: number; readonly binary32: number };
    readonly nudges: number;
    /** The form of products of computed tensors; absent: by their size. */
    readonly products?: ProductForm;
    /** How Softmax, normalizations and sums are computed; absent: float32. */
    readonly arithmetic?: ArithmeticForm;
  };
  /** Hashes of the outputs of the inputs that inference/self-test.ts makes from each seed. */
  readonly selfTest: readonly { readonly seed: number; readonly outputHash: string }[];
  /** Metrics as eval.json states them. */
  readonly evaluation?: Readonly<Record<string, unknown>>;
}

/** specs/003. */
export interface AgentMetadata {
  readonly name: string;
  readonly description: string;
  readonly container_image: string;
  readonly version: string;
  readonly abi: readonly AbiFunction[];
  readonly image?: string;
  readonly author?: string;
  readonly tags?: readonly string[];
  readonly homepage?: string;
  readonly repository?: string;
  readonly external_url?: string;
  readonly attributes?: readonly { readonly trait_type: string; readonly value: string | number | boolean }[];
}

/** The metadata of a model's tool. */
export interface Manifest extends AgentMetadata {
  readonly assay: AssaySection;
}

/** Bits of PROTOCOL.md, section 1. */
export const laneBits = (lanes: readonly Lane[]): number =>
  lanes.reduce((bits, lane) => bits | (1 << LANES.indexOf(lane)), 0);

/** Whether the section has the form of an AssaySection; whether it is true is the model folder's question. */
export function checkAssay(check: Checker, value: unknown, path: string): void {
  const section = check.object(value, path);
  if (section === undefined) return;
  const hex = (key: string, bytes: number): void => {
    const text = check.text(section[key], `${path}.${key}`);
    if (text !== undefined && !new RegExp(`^0x[0-9a-f]{${2 * bytes}}$`).test(text)) {
      check.error(`${path}.${key}`, `must be 0x and ${2 * bytes} digits 0-9a-f`);
    }
  };
  if (section.format !== 1) check.error(`${path}.format`, `must be 1, is ${quoted(section.format)}`);
  for (const key of ["modelId", "programHash", "weightsRoot", "vkHash"]) hex(key, 32);
  hex("selector", 4);
  if (section.keyOrigin !== undefined && !(KEY_ORIGINS as readonly unknown[]).includes(section.keyOrigin))
    check.error(`${path}.keyOrigin`, `must be one of ${KEY_ORIGINS.join(", ")}`);
  const lanes = check.array(section.lanes, `${path}.lanes`);
  if (lanes?.length === 0) check.error(`${path}.lanes`, "must name at least one lane");
  lanes?.forEach((lane, i) => {
    if (!LANES.includes(lane as Lane))
      check.error(`${path}.lanes[${i}]`, `must be one of ${LANES.join(", ")}`);
  });
  const positive = (object: Record<string, unknown> | undefined, key: string, at: string): void => {
    const v = object?.[key];
    if (object !== undefined && (!Number.isSafeInteger(v) || (v as number) < 0))
      check.error(`${at}.${key}`, "must be a whole number");
  };
  for (const key of ["judgeVersion", "maxCalldata", "outputLength"]) positive(section, key, path);
  const codec = check.object(section.codec, `${path}.codec`);
  if (codec !== undefined) {
    if (!INPUT_CODECS.includes(codec.input as InputCodec))
      check.error(`${path}.codec.input`, `must be one of ${INPUT_CODECS.join(", ")}`);
    if (!OUTPUT_CODECS.includes(codec.output as OutputCodec))
      check.error(`${path}.codec.output`, `must be one of ${OUTPUT_CODECS.join(", ")}`);
    positive(codec, "inputSize", `${path}.codec`);
  }
  const windows = check.object(section.windowSeconds, `${path}.windowSeconds`);
  for (const key of ["default", "local"]) positive(windows, key, `${path}.windowSeconds`);
  checkFiles(check, section.files, `${path}.files`);
  for (const key of ["inputs", "outputs"]) {
    check.array(section[key], `${path}.${key}`)?.forEach((entry, i) => {
      const at = `${path}.${key}[${i}]`;
      const { offset } = checkValue(check, entry, at) ?? { offset: 0 };
      if (!Number.isSafeInteger(offset) || (offset as number) < 0)
        check.error(`${at}.offset`, "must be a whole number");
    });
  }
  if (section.claimed !== undefined) checkValue(check, section.claimed, `${path}.claimed`);
  checkNumbers(check, section.inputs, codec?.input, `${path}.inputs`);
  checkMeaning(check, section, path);
  check.array(section.selfTest, `${path}.selfTest`)?.forEach((entry, i) => {
    const vector = check.object(entry, `${path}.selfTest[${i}]`);
    positive(vector, "seed", `${path}.selfTest[${i}]`);
    const hash = vector?.outputHash;
    if (vector !== undefined && (typeof hash !== "string" || !/^0x[0-9a-f]{64}$/.test(hash))) {
      check.error(`${path}.selfTest[${i}].outputHash`, "must be 0x and 64 digits 0-9a-f");
    }
  });
  const imported = check.object(section.import, `${path}.import`);
  for (const key of ["steps", "nudges"]) positive(imported, key, `${path}.import`);
  const products = imported?.products;
  if (products !== undefined && !PRODUCT_FORMS.includes(products as ProductForm))
    check.error(`${path}.import.products`, `must be one of ${PRODUCT_FORMS.join(", ")}`);
  const arithmetic = imported?.arithmetic;
  if (arithmetic !== undefined && !ARITHMETIC_FORMS.includes(arithmetic as ArithmeticForm))
    check.error(`${path}.import.arithmetic`, `must be one of ${ARITHMETIC_FORMS.join(", ")}`);
}

function checkFiles(check: Checker, value: unknown, path: string): void {
  const files = check.object(value, path);
  if (files === undefined) return;
  for (const name of REQUIRED_FILES)
    if (files[name] === undefined) check.error(`${path}["${name}"]`, "is missing");
  const sources = SOURCE_FILES.filter((name) => files[name] !== undefined);
  if (sources.length !== 1)
    check.error(path, `must name ${SOURCE_FILES.join(" or ")}, names ${sources.join(" and ") || "neither"}`);
  for (const [name, entry] of Object.entries(files)) {
    const at = `${path}[${quoted(name)}]`;
    if (!(MODEL_FILES as readonly string[]).includes(name))
      check.error(at, `must be one of ${MODEL_FILES.join(", ")}`);
    const object = check.object(entry, at);
    if (object === undefined) continue;
    if (typeof object.sha256 !== "string" || !/^[0-9a-f]{64}$/.test(object.sha256)) {
      check.error(`${at}.sha256`, "must be 64 digits 0-9a-f");
    }
    if (!Number.isSafeInteger(object.bytes) || (object.bytes as number) < 0)
      check.error(`${at}.bytes`, "must be a whole number");
  }
}

function checkValue(check: Checker, value: unknown, path: string): Record<string, unknown> | undefined {
  const entry = check.object(value, path);
  if (entry === undefined) return undefined;
  check.text(entry.name, `${path}.name`);
  check.text(entry.type, `${path}.type`);
  const dims = check.array(entry.dims, `${path}.dims`);
  if (dims?.some((d) => !Number.isSafeInteger(d) || (d as number) < 1))
    check.error(`${path}.dims`, "must be numbers >= 1");
  const labels = entry.labels === undefined ? [] : check.array(entry.labels, `${path}.labels`);
  if (labels?.some((label) => typeof label !== "string")) check.error(`${path}.labels`, "must be texts");
  return entry;
}
