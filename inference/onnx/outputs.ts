/** How a graph's outputs become the last tensor, and the program what is needed for it. */

import {
  elementBytes,
  isStep,
  isWeight,
  type Model,
  type Operand,
  type OutputCodec,
  type Step,
  type TensorType,
  WEIGHT,
  weightIndex,
} from "../program/form.ts";
import type { ProgramBuilder } from "./builder.ts";
import { fail } from "./fail.ts";
import { count, type OnnxGraph, type OnnxType } from "./graph.ts";
import { codecDims } from "./inputs.ts";
import type { Lowering } from "./lower/lowering.ts";
import { concatValues, reshapeValue } from "./lower/shape.ts";
import { dimsOf, TENSOR_TYPE, type TensorValue, typeOf } from "./lower/values.ts";

export interface BoundOutput {
  readonly name: string;
  /** Type in the ONNX file; int64 comes out as s32. */
  readonly type: OnnxType;
  readonly dims: readonly number[];
  /** First element in the last step's tensor. */
  readonly offset: number;
  /** Words that the numbers stand for, by their places; what ONNX gives as words has no other form here. */
  readonly labels?: readonly string[];
}

/** Joins the outputs in declared order into one tensor of one type. */
export function emitOutputs(
  ctx: Lowering,
  graph: OnnxGraph,
  codec: OutputCodec,
): { operand: Operand; outputs: BoundOutput[] } {
  const tensors = graph.outputs.map(({ name }) => {
    ctx.builder.node = `output ${name}`;
    const tensor = ctx.plainTensor(ctx.get(name));
    if (isWeight(tensor.operand)) {
      throw fail("IMPORT_OUTPUT", `Output ${name} is constant.`, "Remove it from the graph's outputs.");
    }
    return { name, tensor };
  });
  let offset = 0;
  const outputs = tensors.map(({ name, tensor }) => {
    const labels = ctx.words.get(tensor.operand);
    const named = labels === undefined ? {} : { labels };
    const output = { name, type: tensor.onnx, dims: tensor.dims, offset, ...named };
    offset += count(tensor.dims);
    return output;
  });
  const type = commonType(
    tensors.map((t) => t.tensor.type),
    codec,
  );
  checkSize(type, offset);
  const same = tensors.map(({ tensor }) => castTo(ctx.builder, tensor, type));
  const [only] = same;
  if (only !== undefined && same.length === 1) return { operand: whole(ctx, only), outputs };
  const flat = same.map((tensor) => reshapeValue(ctx, tensor, [count(tensor.dims)]));
  return { operand: whole(ctx, ctx.tensor(concatValues(ctx, flat, 0))), outputs };
}

const MAX_OUTPUT_BYTES = 65_536;

/** The size of the outputs that are known, before anything is made of them. @throws IMPORT_OUTPUT */
export function checkOutputs(ctx: Lowering, graph: OnnxGraph): void {
  const known = graph.outputs.flatMap(({ name }) => (ctx.has(name) ? [ctx.get(name)] : []));
  const [first] = known;
  if (first === undefined) return;
  const elements = known.reduce((sum, value) => sum + count(dimsOf(value)), 0);
  checkSize(
    known.every((value) => typeOf(value) === typeOf(first)) ? TENSOR_TYPE[typeOf(first)] : "u8",
    elements,
  );
}

/** What any output codec holds; the program's rules check each codec's own limit. */
function checkSize(type: TensorType, elements: number): void {
  const bytes = elements * elementBytes(type);
  if (bytes > MAX_OUTPUT_BYTES) {
    throw fail(
      "IMPORT_OUTPUT",
      `The outputs have ${bytes} bytes, at most ${MAX_OUTPUT_BYTES} can be returned.`,
      "Reduce them inside the model.",
    );
  }
}

function commonType(types: readonly TensorType[], codec: OutputCodec): TensorType {
  const distinct = new Set(types);
  if (distinct.has("f32") && codec !== "raw") {
    throw fail(
      "IMPORT_OUTPUT",
      `Codec ${codec} cannot hold float32 outputs.`,
      "Use --output raw, or integer outputs.",
    );
  }
  if (distinct.has("f32") && distinct.size > 1) {
    throw fail(
      "IMPORT_OUTPUT",
      "The outputs mix float32 and integers.",
      "Keep those of one type, by --keep NAME for each, or cast all to one type.",
    );
  }
  const [first = "s32"] = types;
  if (codec === "int16s") return "s32";
  return distinct.size === 1 ? first : "s32";
}

function castTo(builder: ProgramBuilder, tensor: TensorValue, type: TensorType): TensorValue {
  if (tensor.type === type) return tensor;
  return { ...tensor, operand: builder.arith("cast", type, tensor.operand), type };
}

/** A step whose tensor may be judged whole. */
function whole(ctx: Lowering, tensor: TensorValue): Operand {
  const { type, dims } = ctx.builder.shape(tensor.operand);
  const target = codecDims(type, dims);
  return target === dims ? tensor.operand : ctx.withLast(tensor, target.at(-1) ?? 1);
}

/** The output codec that fits where none is asked for. */
export function defaultOutput(input: string, type: TensorType, elements: number): OutputCodec {
  if (input === "raw" || type === "f32") return "raw";
  return elements <= 256 ? "words" : "int16s";
}

/** Drops steps and weights that the output does not need; the output becomes the last step. */
export function pruned(
  model: Model,
  output: Operand,
  nodes: readonly string[],
): { model: Model; nodes: string[] } {
  const { program, weights } = model;
  const liveSteps = new Set<number>([output]);
  const liveWeights = new Set<number>();
  for (let i = output; i >= 0; i--) {
    if (!liveSteps.has(i)) continue;
    const step = program.steps[i] as Step;
    for (const operand of [step.a, step.b, step.c]) {
      if (isStep(operand)) liveSteps.add(operand);
      else if (isWeight(operand)) liveWeights.add(weightIndex(operand));
    }
  }
  const steps = [...liveSteps].sort((a, b) => a - b);
  const kept = [...liveWeights].sort((a, b) => a - b);
  const stepAt = new Map(steps.map((old, i) => [old, i]));
  const weightAt = new Map(kept.map((old, i) => [old, WEIGHT + i]));
  const operand = (o: Operand): Operand =>
    isStep(o) ? (stepAt.get(o) as number) : isWeight(o) ? (weightAt.get(weightIndex(o)) as number) : o;
  const renumbered = steps.map((i) => {
    const step = program.steps[i] as Step;
    return { ...step, a: operand(step.a), b: operand(step.b), c: operand(step.c) };
  });
  return {
    model: {
      program: {
        ...program,
        steps: renumbered,
        weights: kept.map((i) => program.weights[i] as (typeof program.weights)[number]),
      },
      weights: kept.map((i) => weights[i] as Uint8Array),
    },
    nodes: steps.map((i) => nodes[i] ?? ""),
  };
}
