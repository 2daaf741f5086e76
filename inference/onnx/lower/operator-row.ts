/** One row of the table of operators. */

import type { Opcode } from "../../program/form.ts";
import type { OnnxNode } from "../graph.ts";
import type { Lowering } from "./lowering.ts";
import type { Value } from "./values.ts";

/** Value of the node's first output, or of its outputs. */
export type Lower = (ctx: Lowering, node: OnnxNode) => Value | readonly Value[];

/** How the program's output relates to the operator's definition, as docs/EXACT.md, section 6, says it.
 *  exact: the same bytes on every input. one unit: onnxruntime's own kernel is not one function on all CPUs, or works in
 *  float32; the program differs from the definition in real numbers by at most one unit of the quantized result, or by
 *  2^-20 of the size of a float32 result that nobody quantizes. within the printed bound: import says how far. */
type Exactness = "exact" | "one unit" | "within the printed bound";

/** Operators that are described by one row. */
export interface OperatorRow {
  /** Those of onnxruntime carry their domain. */
  readonly operators: Readonly<Record<string, Lower>>;
  /** Types and attributes that are read. */
  readonly reads: string;
  readonly limits: string;
  /** Opcodes that may come of it; none where it only renames or folds. */
  readonly opcodes: readonly Opcode[];
  /** True where FLOAT is among them whatever the graph: such programs have no circuit. */
  readonly alwaysFloat?: true;
  readonly exactness: Exactness;
}

/** One lowering under several names. */
export const same = (lower: Lower, ...names: readonly string[]): Readonly<Record<string, Lower>> =>
  Object.fromEntries(names.map((name) => [name, lower]));
