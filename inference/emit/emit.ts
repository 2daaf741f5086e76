import {
  isClaimed,
  isStep,
  type Model,
  type Operand,
  type Step,
  type TensorType,
  type WeightDescriptor,
  weightIndex,
} from "../program/form.ts";
import { fromStoredBytes } from "../program/tensor.ts";
import { GraphBuilder, type Value } from "./graph.ts";
import { NotEmittable } from "./not-emittable.ts";
import { elementTypeOf, type Place } from "./place.ts";
import { emitStep } from "./steps.ts";

export interface Emission {
  /** An ONNX file; run it with graph optimization off. */
  readonly onnx: Uint8Array;
  /** Steps that are inputs, named `s<step>`: the codec steps. */
  readonly inputs: readonly number[];
  /** Steps that are outputs, named `o<step>`. */
  readonly outputs: readonly number[];
}

export interface EmitOptions {
  /** Every step's tensor is an output; default: the last one only. */
  readonly trace?: boolean;
  /** The claimed output is an input like others, so that the file checks an output and finds none; default: a program that
   *  reads it is refused. */
  readonly claimed?: boolean;
}

/** Writes a program as ONNX. 1-byte tensors are uint8 in stored form, s32 is int32, f32 float.
 *  Equal to the canonical executor on every program that import accepts; deterministic.
 *  @returns why not: weights that no import accepts, a program that reads the claimed output, or constants of 2 GB */
export function emit(
  model: Model,
  { trace = false, claimed = false }: EmitOptions = {},
): Emission | { readonly refused: string } {
  const { program } = model;
  const graph = new GraphBuilder();
  const values: Value[] = [];
  const constants = new Map<Operand, Value>();
  const constantOf = (operand: Operand): Value => {
    const known = constants.get(operand);
    if (known !== undefined) return known;
    const { type, dims } = program.weights[weightIndex(operand)] as WeightDescriptor;
    const data = fromStoredBytes(type, model.weights[weightIndex(operand)] as Uint8Array);
    const value = graph.constant(elementTypeOf(type), dims, data);
    constants.set(operand, value);
    return value;
  };
  const shape = (operand: Operand): { type: TensorType; dims: readonly number[] } =>
    isStep(operand)
      ? (program.steps[operand] as Step)
      : (program.weights[weightIndex(operand)] as WeightDescriptor);
  const value = (operand: Operand): Value =>
    isStep(operand) ? (values[operand] as Value) : constantOf(operand);
  const inputs: number[] = [];
  for (const [i, step] of program.steps.entries()) {
    if (isClaimed(step) && !claimed)
      return { refused: `step ${i} (codec claimed): one pass does not find the output` };
    if (step.opcode === "codec") {
      inputs.push(i);
      values.push(graph.input(`s${i}`, elementTypeOf(step.type), step.dims));
      continue;
    }
    const place: Place = { graph, model, step, value, shape };
    try {
      values.push(emitStep(place));
    } catch (error) {
      if (error instanceof NotEmittable) return { refused: `step ${i} (${step.opcode}): ${error.message}` };
      throw error;
    }
  }
  const last = program.steps.length - 1;
  const outputs = trace ? program.steps.map((_, i) => i) : [last];
  for (const i of outputs) {
    const { type, dims } = program.steps[i] as Step;
    graph.output(`o${i}`, values[i] as Value, elementTypeOf(type), dims);
  }
  return { onnx: graph.finish(), inputs, outputs };
}
