/** Graphs of a few nodes from one input x to one output y, for tests. */
import type { OnnxType } from "../../inference/onnx/graph.ts";
import type { ImportSettings } from "../../inference/onnx/import.ts";
import type { TestNode, TestTensor } from "./onnx-file.ts";
import { type GraphRun, runGraph } from "./onnx-run.ts";

export const t = (type: OnnxType, dims: readonly number[], data: readonly number[]): TestTensor => ({
  type,
  dims,
  data,
});
export const range = (n: number, from = 0): number[] => Array.from({ length: n }, (_, i) => i + from);

/** One input x, nodes that end in y. */
export function run(
  x: TestTensor,
  nodes: readonly TestNode[],
  output: OnnxType,
  constants: Readonly<Record<string, TestTensor>> = {},
  settings: ImportSettings = {},
): GraphRun {
  const graph = { nodes, inputs: { x: { type: x.type, dims: x.dims } }, outputs: { y: output }, constants };
  return runGraph(graph, { x }, settings);
}

export const node = (
  op: string,
  inputs: readonly string[],
  attributes: NonNullable<TestNode["attributes"]> = {},
  output = "y",
): TestNode => ({ op, inputs, outputs: [output], attributes });
export const microsoft = (
  op: string,
  inputs: readonly string[],
  attributes: NonNullable<TestNode["attributes"]> = {},
): TestNode => ({
  ...node(op, inputs, attributes),
  domain: "com.microsoft",
});
