import { fail } from "./fail.ts";
import type { OnnxGraph } from "./graph.ts";

/** The graph with some of its outputs, and what they need. @throws IMPORT_OUTPUT for one that it does not have */
export function keeping(graph: OnnxGraph, keep: readonly string[] | undefined): OnnxGraph {
  if (keep === undefined) return graph;
  const names = graph.outputs.map((output) => output.name);
  const unknown = keep.find((name) => !names.includes(name));
  if (unknown !== undefined || keep.length === 0) {
    throw fail(
      "IMPORT_OUTPUT",
      unknown === undefined ? "No output is kept." : `The graph has no output ${unknown}.`,
      `Keep some of ${names.join(", ")}.`,
    );
  }
  const needed = new Set(keep);
  const nodes = [...graph.nodes].reverse().filter((node) => {
    if (!node.outputs.some((name) => needed.has(name))) return false;
    for (const name of node.inputs) needed.add(name);
    return true;
  });
  const outputs = graph.outputs.filter(({ name }) => keep.includes(name));
  return { ...graph, outputs, nodes: nodes.reverse() };
}
