/** What `assay model import` makes of an ONNX file and what lies beside it, on a machine and in a browser alike. */
import { type ImportedModel, type ImportSettings, importOnnx } from "../onnx/import.ts";
import { elementCount } from "../program/form.ts";
import { lastStep } from "../program/shape.ts";
import { KEY_FILE, type Lane } from "./assay.ts";
import type { Sha256 } from "./cid.ts";
import { defaultTool, importSettings, type ToolDescription } from "./tool.ts";
import { type WrittenModel, writeModel } from "./write.ts";

/** Files beside the ONNX file that become part of the model's folder. */
export const COMPANIONS: readonly string[] = ["README.md", "eval.json", KEY_FILE];

export interface ImportSource {
  readonly onnx: Uint8Array;
  /** what the model is called where there is no tool.json */
  readonly name: string;
  readonly tool?: ToolDescription | undefined;
  /** these come before those of tool.json */
  readonly settings: ImportSettings;
  /** instead of tool.json's */
  readonly lanes?: readonly Lane[] | undefined;
  /** COMPANIONS, where there are any */
  readonly companions: ReadonlyMap<string, Uint8Array>;
}

export interface ImportResult {
  readonly imported: ImportedModel;
  readonly written: WrittenModel;
}

/** @throws as importOnnx and writeModel do */
export function importModel(source: ImportSource, sha256: Sha256): ImportResult {
  const { onnx, name, tool, settings, lanes, companions } = source;
  const fromTool = tool === undefined ? {} : importSettings(tool);
  const dims = new Map([...(fromTool.dims ?? []), ...(settings.dims ?? [])]);
  const imported = importOnnx(onnx, { ...fromTool, ...settings, dims });
  const { program } = imported.model;
  const words = elementCount(lastStep(program).dims);
  const described = tool ?? defaultTool(name, program.inputCodec, program.outputCodec, words);
  const offered = lanes === undefined ? described : { ...described, lanes };
  return { imported, written: writeModel(["model.onnx", onnx], imported, offered, companions, sha256) };
}
