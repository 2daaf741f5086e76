/** `assay model import`: an ONNX file becomes a program, or an error that lists every node that cannot. */

import { type BaseError, isBaseError } from "../../base/errors.ts";
import { describeProfileProblem, type ProfileReport, proveProfile } from "../profile/prove.ts";
import type { InputCodec, Model, OutputCodec } from "../program/form.ts";
import { assertValid } from "../program/validate.ts";
import { ProgramBuilder } from "./builder.ts";
import {
  type ClaimedInput,
  claimedOutput,
  emitClaimed,
  outputAsClaimed,
  requireRead,
  withoutClaimed,
} from "./claimed.ts";
import { count, type OnnxGraph, type OnnxNode } from "./graph.ts";
import { type RetypedGraph, retyped } from "./input-types.ts";
import { type BoundInput, bindInputs, emitInputs } from "./inputs.ts";
import { keeping } from "./keep.ts";
import { Lowering } from "./lower/lowering.ts";
import { label, operatorOf } from "./lower/operators.ts";
import { emitProduct } from "./lower/product.ts";
import type { RequantizationReport, TreeReport } from "./lower/reports.ts";
import { dimsOf, typeOf, type Value } from "./lower/values.ts";
import type { ArithmeticForm, ProductForm } from "./named-settings.ts";
import { withNormalizations } from "./normalizations.ts";
import { type BoundOutput, checkOutputs, defaultOutput, emitOutputs, pruned } from "./outputs.ts";
import { readOnnx } from "./read.ts";
import { Refusal } from "./refusal.ts";
import { RefusedImport, type RefusedNode } from "./refused-import.ts";
import { StandIns } from "./stand-in.ts";

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
  /** How products of two computed byte tensors are lowered; default auto. */
  readonly products?: ProductForm;
  /** How Softmax, normalizations and sums of quantized tensors are computed; default float32. */
  readonly arithmetic?: ArithmeticForm;
  /** Types of inputs that are given in another one than the file declares: int32 for int64; uint8 or int8 for a float32
   *  that only QuantizeLinear reads. */
  readonly inputTypes?: ReadonlyMap<string, string>;
  /** Gives every float32 input that only QuantizeLinear reads as bytes. */
  readonly quantizedInputs?: boolean;
  /** Outputs of the graph that the model has, in the graph's order; default all. */
  readonly keep?: readonly string[];
  /** The graph's input that is the claimed output; default: calldata gives all of them. */
  readonly claimed?: string;
}

/** Inputs and outputs of the ONNX file and where they are in calldata and in the last tensor. */
export interface ModelInterface {
  readonly inputs: readonly BoundInput[];
  readonly outputs: readonly BoundOutput[];
  /** The graph's input that is the claimed output. */
  readonly claimed?: ClaimedInput;
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
  /** The form of products that was asked for. */
  readonly products: ProductForm;
  /** The form of arithmetic that was asked for. */
  readonly arithmetic: ArithmeticForm;
}

/** @throws ONNX_* for a file that cannot be read, IMPORT_REFUSED listing every node that cannot be lowered,
 *  IMPORT_CODEC and IMPORT_OUTPUT for inputs and outputs that a codec cannot hold, IMPORT_CLAIMED for a claimed output
 *  that no output is equal to, PROFILE_UNPROVEN, CAUSALITY_UNPROVEN */
export function importOnnx(bytes: Uint8Array, settings: ImportSettings = {}): ImportedModel {
  const read = withNormalizations(
    readOnnx(bytes, settings.dims === undefined ? {} : { dims: settings.dims }),
  );
  const { inputTypes: types = new Map<string, string>(), quantizedInputs: quantized = false } = settings;
  return importGraph(retyped(keeping(read, settings.keep), { types, quantized }), settings);
}

function importGraph({ graph: whole, held, notes }: RetypedGraph, settings: ImportSettings): ImportedModel {
  const { codec = "raw", nudge = false, products = "auto", arithmetic = "float32" } = settings;
  const { graph, claimed } = withoutClaimed(whole, settings.claimed);
  const limits: BaseError[] = [];
  const binding = attempt(limits, () => bindInputs(graph, codec, settings.textBytes ?? 1024, held));
  const asked = settings.output ?? claimedOutput(codec, claimed);
  const builder = new ProgramBuilder(codec, binding?.size ?? 1, asked);
  const ctx = new Lowering(graph, builder, { nudge, products, arithmetic }, emitProduct);
  const standIns = new StandIns(ctx);
  if (binding === undefined) for (const input of graph.inputs) standIns.set(input.name, input);
  else for (const [name, value] of emitInputs(builder, binding)) ctx.set(name, value);
  if (claimed !== undefined) ctx.set(claimed.name, emitClaimed(builder, claimed, held.get(claimed.name)));
  const { problems, unseen } = lowerNodes(ctx, graph, standIns);
  attempt(limits, () => checkOutputs(ctx, graph));
  const [limit] = limits;
  if (problems.length === 0 && limits.length === 1 && limit !== undefined) throw limit;
  if (binding === undefined || problems.length + limits.length > 0) {
    const reached = standIns.reached(builder.steps);
    const unproven = builder.analysis.problems.filter(({ step }) => reached[step] !== true);
    throw refused(
      graph,
      problems,
      [...limits.map(sentenceOf), ...unproven.map(describeProfileProblem)],
      unseen,
    );
  }
  const [first] = graph.outputs;
  const values = graph.outputs.map((o) => ctx.get(o.name));
  const elements = values.reduce((sum, value) => sum + count(dimsOf(value)), 0);
  const isFloat = (first?.type ?? typeOf(values[0] as Value)) === "float32";
  const output = asked ?? defaultOutput(codec, isFloat ? "f32" : "s32", elements);
  const { operand, outputs } = guarded(graph, "outputs", () => emitOutputs(ctx, graph, output));
  const last = claimed === undefined ? operand : outputAsClaimed(ctx, operand, claimed);
  const { model, nodes } = pruned(builder.model(output), last, builder.nodes);
  if (claimed !== undefined) requireRead(model.program, claimed);
  assertValid(model.program);
  const profile = proveProfile(model, nodes);
  const used = new Set(nodes);
  const all = [
    ...graph.defaulted.map((dim) => `dim ${dim} is 1; --dim ${dim}=N gives another model of that size`),
    ...notes,
    ...ctx.notes,
  ];
  const requantizations = ctx.requantizations.filter((r) => used.has(r.node));
  const trees = ctx.trees.filter((r) => used.has(r.node));
  const io = { inputs: binding.inputs, outputs, ...(claimed === undefined ? {} : { claimed }) };
  return { model, io, nodes, requantizations, trees, notes: all, profile, products, arithmetic };
}

/** The result, or undefined and one limit more. */
function attempt<T>(limits: BaseError[], f: () => T): T | undefined {
  try {
    return f();
  } catch (error) {
    if (!isBaseError(error, "IMPORT_CODEC") && !isBaseError(error, "IMPORT_OUTPUT")) throw error;
    limits.push(error);
    return undefined;
  }
}

const sentenceOf = (error: BaseError): string => `${error.shortMessage} ${error.nextStep}`;

interface LoweredNodes {
  readonly problems: readonly RefusedNode[];
  /** Nodes that were not looked at, because nobody knows what they read. */
  readonly unseen: readonly string[];
}

/** Lowers what can be lowered. What a refused node would make has a stand-in, so that all refusals are known. */
function lowerNodes(ctx: Lowering, graph: OnnxGraph, standIns: StandIns): LoweredNodes {
  const [unsupported, problems]: [RefusedNode[], RefusedNode[]] = [[], []];
  const unseen: string[] = [];
  for (const node of graph.nodes) {
    const lower = operatorOf(node);
    if (typeof lower !== "function") {
      unsupported.push({ node: node.name, op: label(node), ...lower });
      standIns.outputsOf(node);
      continue;
    }
    if (node.inputs.some((name) => name !== "" && !ctx.has(name))) {
      unseen.push(node.name);
      standIns.outputsOf(node);
      continue;
    }
    ctx.builder.node = node.name;
    ctx.builder.budget.spend(NODE + constantElements(ctx, node));
    try {
      ctx.result(node, lower(ctx, node));
    } catch (error) {
      problems.push(refusedNode(node, error));
      standIns.outputsOf(node);
    }
  }
  return { problems: [...unsupported, ...problems], unseen };
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

/** @param limits what is wrong with inputs, outputs and proofs */
const refused = (
  graph: OnnxGraph,
  nodes: readonly RefusedNode[],
  limits: readonly string[] = [],
  unseen: readonly string[] = [],
): RefusedImport => new RefusedImport({ total: graph.nodes.length, nodes, limits, unseen });
