/** `assay model import`: an ONNX file becomes a program, or an error that lists every node that cannot. */

import type { BaseError } from "../../base/errors.ts";
import { type ProfileReport, proveProfile } from "../profile/prove.ts";
import type { InputCodec, Model, OutputCodec } from "../program/form.ts";
import { assertValid } from "../program/validate.ts";
import { ProgramBuilder } from "./builder.ts";
import { fail } from "./fail.ts";
import { count, type OnnxGraph, type OnnxNode } from "./graph.ts";
import { type BoundInput, bindInputs, emitInputs } from "./inputs.ts";
import { Lowering, type RequantizationReport, type TreeReport } from "./lower/lowering.ts";
import { label, operatorOf } from "./lower/operators.ts";
import { emitProduct } from "./lower/product.ts";
import { dimsOf } from "./lower/values.ts";
import { type BoundOutput, defaultOutput, emitOutputs, pruned } from "./outputs.ts";
import { readOnnx } from "./read.ts";
import { Refusal } from "./refusal.ts";

export interface ImportSettings {
  /** Default raw. */
  readonly codec?: InputCodec;
  /** Default: raw for raw, words up to 256 integers, else int16s. */
  readonly output?: OutputCodec;
  /** Sizes of symbolic dims, by name or by place `INPUT:AXIS`; default 1. */
  readonly dims?: ReadonlyMap<string, number>;
  /** Most bytes of a text, default 1024. */
  readonly textBytes?: number;
  readonly nudge?: boolean;
  /** Outputs of the graph that the model has, in the graph's order; default all. */
  readonly keep?: readonly string[];
}

/** Inputs and outputs of the ONNX file and where they are in calldata and in the last tensor. */
export interface ModelInterface {
  readonly inputs: readonly BoundInput[];
  readonly outputs: readonly BoundOutput[];
}

export interface ImportedModel {
  readonly model: Model;
  readonly io: ModelInterface;
  /** ONNX node of each step. */
  readonly nodes: readonly string[];
  readonly requantizations: readonly RequantizationReport[];
  readonly trees: readonly TreeReport[];
  readonly notes: readonly string[];
  readonly profile: ProfileReport;
}

/** A node that cannot be lowered. */
export interface RefusedNode {
  readonly node: string;
  readonly op: string;
  readonly reason: string;
  readonly nextStep: string;
}

/** @throws ONNX_* for a file that cannot be read, IMPORT_REFUSED listing every node that cannot be lowered,
 *  IMPORT_CODEC and IMPORT_OUTPUT for inputs and outputs that a codec cannot hold, PROFILE_UNPROVEN */
export function importOnnx(bytes: Uint8Array, settings: ImportSettings = {}): ImportedModel {
  const graph = readOnnx(bytes, settings.dims === undefined ? {} : { dims: settings.dims });
  return importGraph(keeping(graph, settings.keep), settings);
}

function importGraph(graph: OnnxGraph, settings: ImportSettings = {}): ImportedModel {
  const codec = settings.codec ?? "raw";
  const unsupported = unsupportedNodes(graph);
  if (unsupported.length > 0 && codec === "text") throw refused(graph, unsupported);
  const binding = bindInputs(graph, codec, settings.textBytes ?? 1024);
  const builder = new ProgramBuilder(codec, binding.size);
  const ctx = new Lowering(graph, builder, { nudge: settings.nudge ?? false }, emitProduct);
  for (const [name, value] of emitInputs(builder, binding)) ctx.set(name, value);
  const problems = lowerNodes(ctx, graph, unsupported);
  if (problems.length > 0) throw refused(graph, problems);
  const [first] = graph.outputs;
  const elements = graph.outputs.reduce((sum, o) => sum + count(dimsOf(ctx.get(o.name))), 0);
  const output = settings.output ?? defaultOutput(codec, first?.type === "float32" ? "f32" : "s32", elements);
  const { operand, outputs } = guarded(graph, "outputs", () => emitOutputs(ctx, graph, output));
  const { model, nodes } = pruned(builder.model(output), operand, builder.nodes);
  assertValid(model.program);
  const profile = proveProfile(model, nodes);
  const used = new Set(nodes);
  const { requantizations } = ctx;
  const notes = [
    ...graph.defaulted.map((dim) => `dim ${dim} is 1; --dim ${dim}=N gives another model of that size`),
    ...ctx.notes,
  ];
  const kept = requantizations.filter((r) => used.has(r.node));
  const trees = ctx.trees.filter((r) => used.has(r.node));
  return {
    model,
    io: { inputs: binding.inputs, outputs },
    nodes,
    requantizations: kept,
    trees,
    notes,
    profile,
  };
}

/** The graph with some of its outputs, and what they need. @throws IMPORT_OUTPUT for one that it does not have */
function keeping(graph: OnnxGraph, keep: readonly string[] | undefined): OnnxGraph {
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

function unsupportedNodes(graph: OnnxGraph): RefusedNode[] {
  return graph.nodes.flatMap((node) => {
    const found = operatorOf(node);
    return typeof found === "function" ? [] : [{ node: node.name, op: label(node), ...found }];
  });
}

/** Lowers what can be lowered, so that all refusals are known; what follows a refused node waits for it. */
function lowerNodes(ctx: Lowering, graph: OnnxGraph, unsupported: readonly RefusedNode[]): RefusedNode[] {
  const problems = [...unsupported];
  for (const node of graph.nodes) {
    const lower = operatorOf(node);
    if (typeof lower !== "function" || node.inputs.some((name) => name !== "" && !ctx.has(name))) continue;
    ctx.builder.node = node.name;
    ctx.builder.budget.spend(NODE + constantElements(ctx, node));
    try {
      ctx.result(node, lower(ctx, node));
    } catch (error) {
      problems.push(refusedNode(node, error));
    }
  }
  return problems;
}

/** What looking at a node costs, in units of the budget. */
const NODE = 1000;

function constantElements(ctx: Lowering, node: OnnxNode): number {
  return node.inputs
    .filter((name) => name !== "")
    .map((name) => ctx.get(name))
    .filter((v) => v.kind === "constant" || (v.kind === "dequantized" && v.source.kind === "constant"))
    .reduce((sum, value) => sum + count(dimsOf(value)), 0);
}

function refusedNode(node: OnnxNode, error: unknown): RefusedNode {
  if (!(error instanceof Refusal)) throw error;
  return { node: node.name, op: label(node), reason: error.reason, nextStep: error.nextStep };
}

function guarded<T>(graph: OnnxGraph, place: string, f: () => T): T {
  try {
    return f();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw refused(graph, [{ node: place, op: place, reason: error.reason, nextStep: error.nextStep }]);
  }
}

function refused(graph: OnnxGraph, nodes: readonly RefusedNode[]): BaseError {
  const lines = nodes.map((n) => `${n.node} (${n.op}): ${n.reason}. ${n.nextStep}`);
  const total = graph.nodes.length;
  return fail(
    "IMPORT_REFUSED",
    `${nodes.length} of ${total} nodes cannot be lowered to a program:\n${lines.join("\n")}`,
    "Change these nodes as each line says and import again.",
    { nodes: lines },
  );
}
