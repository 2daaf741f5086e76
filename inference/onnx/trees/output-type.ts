/** Types of graph outputs that the type system of tensors of numbers does not have: words, and maps of labels. */

import type { OnnxNode, OnnxType } from "../graph.ts";

const PASSING = ["Identity", "Cast"];

/** Type of what stands for such an output, if a classifier or a ZipMap makes it: a label's place, or scores. */
export function treeOutputType(nodes: readonly OnnxNode[], output: string): OnnxType | undefined {
  const producers = new Map(nodes.flatMap((node) => node.outputs.map((name) => [name, node] as const)));
  let name = output;
  for (let i = 0; i <= nodes.length; i++) {
    const node = producers.get(name);
    if (node === undefined) return undefined;
    if (node.op === "ZipMap") return "float32";
    if (node.op === "TreeEnsembleClassifier") return node.outputs[0] === name ? "int64" : "float32";
    if (!PASSING.includes(node.op)) return undefined;
    name = node.inputs[0] ?? "";
  }
  return undefined;
}
