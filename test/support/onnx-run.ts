/** Imports a test graph and runs the program on named tensors. */
import { prepare } from "../../inference/executor/prepare.ts";
import { type NamedTensors, runNamed } from "../../inference/model-values.ts";
import { type ImportedModel, type ImportSettings, importOnnx } from "../../inference/onnx/import.ts";
import { onnxFile, type TestGraph } from "./onnx-file.ts";

export interface GraphRun {
  readonly imported: ImportedModel;
  readonly outputs: Readonly<Record<string, readonly number[]>>;
  readonly dims: Readonly<Record<string, readonly number[]>>;
}

export function runGraph(graph: TestGraph, inputs: NamedTensors, settings: ImportSettings = {}): GraphRun {
  const onnx = onnxFile(graph);
  const imported = importOnnx(onnx, settings);
  const prepared = prepare(imported.model, new Uint8Array(4));
  const { outputs } = runNamed({ onnx, io: imported.io, prepared }, inputs);
  return {
    imported,
    outputs: Object.fromEntries(Object.entries(outputs).map(([k, t]) => [k, t.data])),
    dims: Object.fromEntries(Object.entries(outputs).map(([k, t]) => [k, t.dims])),
  };
}
