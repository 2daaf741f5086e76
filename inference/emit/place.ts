import { elementCount, type Model, NONE, type Operand, type Step, type TensorType } from "../program/form.ts";
import type { ElementType, GraphBuilder, Value } from "./graph.ts";

/** What a step's emission needs. */
export interface Place {
  readonly graph: GraphBuilder;
  readonly model: Model;
  readonly step: Step;
  /** Value of a step or PLAIN operand, in stored form, with the operand's dims. */
  value(operand: Operand): Value;
  shape(operand: Operand): { readonly type: TensorType; readonly dims: readonly number[] };
}

export const elementTypeOf = (type: TensorType): ElementType =>
  type === "s32" ? "int32" : type === "f32" ? "float" : "uint8";

/** A value under other dims; itself where they are the same. */
export function reshaped(
  graph: GraphBuilder,
  value: Value,
  from: readonly number[],
  to: readonly number[],
): Value {
  return from.join() === to.join() ? value : graph.reshape(value, to);
}

/** An operand's elements by their places in it. By GatherElements: Gather copies each by itself, in some eight times its
 *  time (onnxruntime 1.30, x86-64). @param places int32 [count] */
export function elements({ graph, value, shape }: Place, operand: Operand, places: Value): Value {
  const { dims } = shape(operand);
  return graph.node("GatherElements", [reshaped(graph, value(operand), dims, [elementCount(dims)]), places]);
}

/** An integer operand as int32 numbers. */
export function numbers({ graph, value, shape }: Place, operand: Operand): Value {
  const { type } = shape(operand);
  if (type === "s32") return value(operand);
  const bytes = graph.cast(value(operand), "int32");
  return type === "s8" ? graph.node("Sub", [bytes, graph.int32(128)]) : bytes;
}

/** Whether operands under broadcast have the dims of the output: not all of them repeat along one axis. */
export function isWhole({ step, shape }: Place): boolean {
  const operands = [step.a, step.b, step.c].filter((operand) => operand !== NONE).map((o) => shape(o).dims);
  const hasRank = operands.some((dims) => dims.length === step.dims.length);
  return (
    hasRank &&
    step.dims.every((dim, axis) =>
      operands.some((dims) => (dims[dims.length - step.dims.length + axis] ?? 1) === dim),
    )
  );
}

/** `condition ? yes : no`, bit for bit: Where turns a −0 of its second operand into +0, one of its third it keeps. So
 *  binary32 takes each operand as the third one, beside ones, and multiplies. */
export function selected({ graph, step }: Place, condition: Value, yes: Value, no: Value): Value {
  if (step.type !== "f32") return graph.node("Where", [condition, yes, no]);
  const one = graph.float(1);
  const other = graph.node("Where", [condition, one, no]);
  return graph.node("Mul", [graph.node("Where", [graph.node("Not", [condition]), one, yes]), other]);
}

/** Numbers of a type in its stored form. @param value int32, within the type's limits */
export function stored(graph: GraphBuilder, value: Value, type: TensorType): Value {
  if (type === "s32") return value;
  return graph.cast(type === "s8" ? graph.node("Add", [value, graph.int32(128)]) : value, "uint8");
}
