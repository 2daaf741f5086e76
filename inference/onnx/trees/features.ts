/** The input of a tree ensemble: [rows, features] or one row, float32 or integers. */

import { FLOAT_VARIANTS, isStep, NONE, type Operand, type Step } from "../../program/form.ts";
import type { OnnxNode } from "../graph.ts";
import type { Lowering } from "../lower/lowering.ts";
import { dimsOf, typeOf, type Value } from "../lower/values.ts";
import { refuse } from "../refusal.ts";
import type { Domain } from "./cuts.ts";
import type { Features } from "./ids.ts";

/** Integers up to here are binary32 numbers, so comparing them as integers is the same. */
const EXACT = 2 ** 24;

export function featuresOf(
  ctx: Lowering,
  node: OnnxNode,
): { readonly features: Features; readonly domains: readonly Domain[] } {
  const value = ctx.input(node, 0);
  const dims = dimsOf(value);
  if (dims.length !== 1 && dims.length !== 2) {
    refuse(`its input has rank ${dims.length}`, "Give it [rows, features].");
  }
  if (value.kind === "constant") refuse("its input is constant", "Give it an input of the graph.");
  const [rows, count] = dims.length === 1 ? [1, dims[0] as number] : (dims as [number, number]);
  const found = operandOf(ctx, value);
  const isInteger = ctx.builder.shape(found).type !== "f32";
  const operand = ctx.reshape(found, [rows, count]);
  const { low, high } = ctx.rangeOf({ kind: "tensor", operand, type: "s32", onnx: "int32", dims });
  const domain = { isInteger, low, high };
  return { features: { operand, isInteger, rows, count }, domains: new Array<Domain>(count).fill(domain) };
}

function operandOf(ctx: Lowering, value: Value): Operand {
  const operand = ctx.plain(value);
  if (typeOf(value) === "float32") return integersOf(ctx, operand) ?? operand;
  const type = ctx.builder.shape(operand).type;
  if (type === "bool") refuse("its input is bool", "Cast it to int32 or float32.");
  return isExact(ctx, operand) ? operand : ctx.builder.float("tofloat", "f32", operand);
}

function isExact(ctx: Lowering, operand: Operand): boolean {
  const { low, high } = ctx.rangeOf({ kind: "tensor", operand, type: "s32", onnx: "int32", dims: [] });
  return low >= -EXACT && high <= EXACT;
}

/** The integers that a float32 tensor was cast from, where each of them is its float32 number; moves between the two
 *  are made again. */
function integersOf(ctx: Lowering, operand: Operand): Operand | undefined {
  if (!isStep(operand)) return undefined;
  const { builder } = ctx;
  const step = builder.steps[operand] as Step;
  if (step.opcode === "float" && FLOAT_VARIANTS[step.variant] === "tofloat") {
    return builder.shape(step.a).type === "s32" && isExact(ctx, step.a) ? step.a : undefined;
  }
  if (step.opcode !== "move" || step.b !== NONE || step.k !== 0) return undefined;
  const source = integersOf(ctx, step.a);
  if (source === undefined) return undefined;
  return ctx.once(`${operand} as integers`, () => builder.move(source, step.dims, step.coordinates));
}
