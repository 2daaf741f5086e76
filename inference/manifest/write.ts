/** Makes a model's folder from its program, what that was made from, and its description. */

import { toHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import { commitModel, modelId } from "../commit/commitments.ts";
import { keccak256 } from "../commit/keccak.ts";
import { prepare } from "../executor/prepare.ts";
import { runsLike } from "../executor/quick.ts";
import type { ImportedModel } from "../onnx/import.ts";
import { encodeProgram } from "../program/encode.ts";
import { selfTestHash } from "../self-test.ts";
import { selectorOf } from "./abi.ts";
import {
  type AssaySection,
  KEY_FILE,
  KEY_ORIGINS,
  type Lane,
  laneBits,
  type Manifest,
  type SourceFile,
  type ValueEntry,
} from "./assay.ts";
import type { Sha256 } from "./cid.ts";
import { readJsonFile } from "./json-file.ts";
import { checkedManifest, checkFunction, checkLanes, imageOf, joinWeights } from "./model-files.ts";
import { quoted } from "./problems.ts";
import { DEFAULT_LANES, DEFAULT_WINDOWS, type ToolDescription } from "./tool.ts";

/** Most of them; a model whose runs take long has fewer, at least one. */
const SELF_TESTS = 8;
const NO_KEY = new Uint8Array(32);

export interface WrittenModel {
  readonly manifest: Manifest;
  /** All files but manifest.json. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** What `writeModel` reads of an import, or of a derivation. */
export type MadeModel = Pick<ImportedModel, "model" | "io" | "requantizations" | "products" | "arithmetic">;

/** @param source what the program was made from
 *  @param extra README.md, eval.json and the tokenizer's, where there are any
 *  @throws MANIFEST_INVALID, MODEL_MISMATCH when the description's function does not fit the codecs; LANE_UNAVAILABLE */
export function writeModel(
  source: readonly [name: SourceFile, content: Uint8Array],
  made: MadeModel,
  tool: ToolDescription,
  extra: ReadonlyMap<string, Uint8Array>,
  sha256: Sha256,
): WrittenModel {
  const { model, io, requantizations, products, arithmetic } = made;
  const lanes = tool.lanes ?? DEFAULT_LANES;
  checkLanes(model.program, lanes);
  const key = keyOf(lanes, extra);
  const files = new Map([
    ...[...extra].filter(([name]) => name !== KEY_FILE || key !== undefined),
    source,
    ["program.bin", encodeProgram(model.program)] as const,
    ["weights.bin", joinWeights(model)] as const,
  ]);
  const [first] = tool.abi;
  const selector = first === undefined ? new Uint8Array(4) : selectorOf(first);
  const commitment = commitModel(model);
  const vkHash = key === undefined ? NO_KEY : keccak256(key);
  const id = modelId({ ...commitment, selector, lanes: laneBits(lanes), vkHash });
  const prepared = prepare(model, selector);
  const assay: AssaySection = {
    format: 1,
    modelId: toHex(id),
    programHash: toHex(commitment.programHash),
    weightsRoot: toHex(commitment.weightsRoot),
    selector: toHex(selector),
    lanes,
    vkHash: toHex(vkHash),
    ...originOf(key),
    judgeVersion: commitment.judgeVersion,
    codec: {
      input: model.program.inputCodec,
      output: model.program.outputCodec,
      inputSize: model.program.inputSize,
    },
    maxCalldata: commitment.maxCalldata,
    outputLength: commitment.outputLength,
    windowSeconds: tool.windowSeconds ?? DEFAULT_WINDOWS,
    files: Object.fromEntries(
      [...files]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, c]) => [name, { sha256: toHex(sha256(c)).slice(2), bytes: c.length }]),
    ),
    inputs: withNumbers(io.inputs, tool.numbers),
    outputs: io.outputs,
    ...(io.claimed === undefined ? {} : { claimed: io.claimed }),
    ...(tool.meaning === undefined ? {} : { meaning: tool.meaning }),
    import: {
      steps: model.program.steps.length,
      requantizations: {
        integer: requantizations.filter((r) => r.form === "integer").length,
        binary32: requantizations.filter((r) => r.form === "binary32").length,
      },
      nudges: requantizations.reduce((sum, r) => sum + r.nudges.length, 0),
      ...(products === "auto" ? {} : { products }),
      ...(arithmetic === "float32" ? {} : { arithmetic }),
    },
    selfTest: Array.from({ length: runsLike(model.program, SELF_TESTS) }, (_, seed) => ({
      seed,
      outputHash: toHex(selfTestHash(prepared, seed)),
    })),
    ...evaluationOf(extra.get("eval.json")),
  };
  const { import: _, lanes: __, windowSeconds: ___, numbers: ____, meaning: _____, ...described } = tool;
  const manifest = checkedManifest(
    { ...described, container_image: imageOf(files, sha256), assay },
    "manifest.json",
  );
  checkFunction(model.program, manifest.abi, selector);
  return { manifest, files };
}

/** @throws MANIFEST_INVALID for numbers of an input that there is not */
function withNumbers(
  inputs: readonly ValueEntry[],
  numbers: ToolDescription["numbers"] = {},
): readonly ValueEntry[] {
  const names = inputs.map(({ name }) => name);
  const unknown = Object.keys(numbers).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new BaseError({
      code: "MANIFEST_INVALID",
      shortMessage: `$.numbers names the input ${quoted(unknown)}, and the model has ${names.join(", ")}.`,
      nextStep: "Correct tool.json.",
    });
  }
  return inputs.map((input) => {
    const named = numbers[input.name];
    return named === undefined ? input : { ...input, numbers: named };
  });
}

/** The verification key of a model with the lane PROOF. @throws VERIFICATION_KEY_MISSING */
function keyOf(lanes: readonly Lane[], extra: ReadonlyMap<string, Uint8Array>): Uint8Array | undefined {
  if (!lanes.includes("PROOF")) return undefined;
  const key = extra.get(KEY_FILE);
  if (key !== undefined) return key;
  throw new BaseError({
    code: "VERIFICATION_KEY_MISSING",
    shortMessage: `The lanes name PROOF, and there is no ${KEY_FILE} beside the model.`,
    nextStep: "Make it with `assay proof setup`, or take PROOF out of tool.json's lanes.",
  });
}

/** Groth16 keys, of kind 1, say it in their second byte (docs/PROTOCOL.md, Proofs). */
function originOf(key: Uint8Array | undefined): Pick<AssaySection, "keyOrigin"> {
  const origin = key?.[0] === 1 ? KEY_ORIGINS[key[1] as number] : undefined;
  return origin === undefined ? {} : { keyOrigin: origin };
}

interface Metrics {
  readonly test?: Record<string, unknown>;
  readonly shipped?: { readonly valid?: Record<string, unknown> };
}

/** The metrics that eval.json states for the shipped file: `test`, or `shipped.valid`. */
function evaluationOf(content: Uint8Array | undefined): Pick<AssaySection, "evaluation"> {
  if (content === undefined) return {};
  const value = readJsonFile(content, "eval.json") as Metrics | null;
  const metrics = value?.test ?? value?.shipped?.valid;
  return metrics === undefined ? {} : { evaluation: metrics };
}
