/** Which lowering an ONNX node has, and what to do where there is none. */

import type { OnnxNode } from "../graph.ts";
import type { Lower } from "./operator-row.ts";
import { OPERATOR_ROWS } from "./operator-table.ts";

const LOWERINGS = new Map<string, Lower>(OPERATOR_ROWS.flatMap((row) => Object.entries(row.operators)));

export const label = (node: OnnxNode): string => (node.domain === "" ? node.op : `${node.domain}.${node.op}`);

/** The lowering of a node's operator, or why there is none. */
export function operatorOf(node: OnnxNode): Lower | { readonly reason: string; readonly nextStep: string } {
  const lower = LOWERINGS.get(label(node));
  if (lower === undefined) {
    return { reason: `the operator ${label(node)} is not supported`, nextStep: adviceFor(node.op) };
  }
  const subgraph = [...node.attributes].find(([, a]) => a.kind === "other");
  if (subgraph !== undefined) {
    return { reason: `its attribute ${subgraph[0]} is a ${subgraph[1].value}`, nextStep: "Remove it." };
  }
  return lower;
}

const adviceFor = (op: string): string => (Object.hasOwn(ADVICE, op) ? ADVICE[op] : undefined) ?? SUPPORTED;
const SUPPORTED = "See docs/EXACT.md, section 6, for the operators that lower to a program.";
const UNROLL = "Unroll it: write its steps one after the other, without a subgraph.";

/** What to do about operators that are often met. */
const ADVICE: Readonly<Record<string, string>> = {
  DynamicQuantizeLSTM: "Unroll the LSTM into products before it is quantized, or take convolutions.",
  GRU: "Unroll it into products and tables.",
  If: "Fold the condition, and export the branch that is taken.",
  LSTM: "Unroll it into products and tables.",
  Loop: UNROLL,
  RNN: "Unroll it into products and tables.",
  Scan: UNROLL,
};
