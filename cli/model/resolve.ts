/** What MODEL means on the command line: a name under models/, a model's folder, or an ONNX file. */

import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { BaseError } from "../../base/errors.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { COMPANIONS } from "../../inference/manifest/import-model.ts";
import { readJsonFile } from "../../inference/manifest/json-file.ts";
import { checkedTool, type ToolDescription } from "../../inference/manifest/tool.ts";
import type { Readable } from "../../inference/meaning/form.ts";
import { loadModelFolder } from "../../inference/model-folder.ts";
import type { RunnableModel } from "../../inference/model-values.ts";
import { type ImportedModel, type ImportSettings, importOnnx } from "../../inference/onnx/import.ts";
import { isProofModelFolder } from "../../prover/proof/ezkl/folder.ts";
import { modelFolder } from "../model-source.ts";

const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile();

/** @throws FILE_NOT_READABLE */
export function readBytes(path: string): Uint8Array {
  try {
    return new Uint8Array(readFileSync(path));
  } catch (cause) {
    throw new BaseError({
      code: "FILE_NOT_READABLE",
      shortMessage: `${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}.`,
      nextStep: "Check the path and its permissions.",
      details: { path },
      cause,
    });
  }
}

/** What lies in a folder and becomes part of the model's. @throws FILE_NOT_READABLE */
export function companionsIn(folder: string): ReadonlyMap<string, Uint8Array> {
  const present = COMPANIONS.filter((name) => existsSync(join(folder, name)));
  return new Map(present.map((name) => [name, readBytes(join(folder, name))]));
}

/** @throws FILE_NOT_READABLE, FILE_NOT_JSON */
export const readJson = (path: string): unknown => readJsonFile(readBytes(path), path);

/** @throws TOOL_INVALID */
export const readTool = (path: string): ToolDescription => checkedTool(readJson(path), path);

/** The folder of a model without a program, if MODEL means one.
 *  @throws BaseError MODEL_NOT_FOUND, MANIFEST_INVALID */
export function proofModelFolder(name: string): string | undefined {
  if (isFile(name)) return undefined;
  const folder = modelFolder(name);
  return isProofModelFolder(folder) ? folder : undefined;
}

export interface OpenedModel
  extends RunnableModel,
    Pick<ImportedModel, "model" | "io" | "profile" | "requantizations" | "notes"> {
  /** how its output is read; absent for an ONNX file */
  readonly readable?: Readable;
}

const DERIVED = "derived by the recipe in recipe.json: no ONNX file";

/** A model from a folder (checked against its manifest, and imported again where it was imported) or straight from an ONNX
 *  file. */
export function openModel(name: string, settings: ImportSettings): OpenedModel {
  if (isFile(name) || name.endsWith(".onnx")) {
    const onnx = readBytes(name);
    const imported = importOnnx(onnx, settings);
    return { ...imported, onnx, prepared: prepare(imported.model, new Uint8Array(4)) };
  }
  const { manifest, model, source, selector, profile } = loadModelFolder(modelFolder(name));
  const { inputs, outputs, claimed } = manifest.assay;
  const io = { inputs, outputs, ...(claimed === undefined ? {} : { claimed }) };
  const opened = { model, io, prepared: prepare(model, selector, profile), readable: manifest.assay };
  if (source.name === "recipe.json") return { ...opened, profile, requantizations: [], notes: [DERIVED] };
  const onnx = source.content;
  return { ...importOnnx(onnx, settingsOf(manifest.assay)), ...opened, onnx };
}

interface ValueSize {
  readonly name: string;
  readonly type: string;
  readonly dims: readonly number[];
}

/** Settings that gave a folder its program. */
export function settingsOf(assay: {
  readonly codec: {
    readonly input: ImportSettings["codec"];
    readonly output: ImportSettings["output"];
    readonly inputSize: number;
  };
  readonly import: Pick<ImportSettings, "products" | "arithmetic"> & { readonly nudges: number };
  readonly inputs: readonly ValueSize[];
  readonly outputs: readonly { readonly name: string }[];
  readonly claimed?: ValueSize;
}): ImportSettings {
  const { input, output, inputSize } = assay.codec;
  const { products, arithmetic } = assay.import;
  const { claimed } = assay;
  const inputs = claimed === undefined ? assay.inputs : [...assay.inputs, claimed];
  // A symbolic dim is given by its place, which the reader accepts like its name.
  const dims = new Map(inputs.flatMap((i) => i.dims.map((d, axis) => [`${i.name}:${axis}`, d] as const)));
  const text = input === "text" ? { textBytes: inputSize } : {};
  return {
    ...(input === undefined ? {} : { codec: input }),
    ...(output === undefined ? {} : { output }),
    ...text,
    ...(products === undefined ? {} : { products }),
    ...(arithmetic === undefined ? {} : { arithmetic }),
    dims,
    inputTypes: new Map(inputs.map((i) => [i.name, i.type])),
    keep: assay.outputs.map(({ name }) => name),
    nudge: assay.import.nudges > 0,
    ...(claimed === undefined ? {} : { claimed: claimed.name }),
  };
}
