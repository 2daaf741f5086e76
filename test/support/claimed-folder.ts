/** A model's folder of a program that no ONNX file is for. */

import type { Lane } from "../../inference/manifest/assay.ts";
import { writeModel } from "../../inference/manifest/write.ts";
import { saveModelFolder, sha256Bytes } from "../../inference/model-folder.ts";
import type { Model } from "../../inference/program/form.ts";
import { lastStep } from "../../inference/program/shape.ts";

/** Writes it, whatever nodes say of it. @param model from bytes u8 to bytes u8 */
export function writeClaimedFolder(
  directory: string,
  name: string,
  model: Model,
  lanes: readonly Lane[] = ["BOND"],
): void {
  const { dims } = lastStep(model.program);
  const value = { type: "uint8", dims, offset: 0 } as const;
  const imported = {
    model,
    io: {
      inputs: [{ name: "x", ...value }],
      outputs: [{ name: "y", ...value }],
      claimed: { name: "claimed", type: "uint8", dims },
    },
    nodes: [],
    requantizations: [],
    trees: [],
    notes: [],
    profile: { steps: [] },
    products: "auto",
    arithmetic: "float32",
  } as const;
  const parameters = (called: string) => [{ name: called, type: "bytes" }];
  const abi = [
    { type: "function", name: "infer", inputs: parameters("input"), outputs: parameters("output") },
  ] as const;
  const tool = { name, description: "Made by a test.", version: "1.0.0", abi, lanes } as const;
  // Nothing reads the file: a program that reads the claimed output runs by the canonical executor alone.
  const { manifest, files } = writeModel(
    ["model.onnx", new Uint8Array(1)],
    imported,
    tool,
    new Map(),
    sha256Bytes,
  );
  saveModelFolder(directory, manifest, files);
}
