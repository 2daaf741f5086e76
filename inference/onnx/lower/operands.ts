/** A node's inputs, with the checks that several operators share. */

import { numbers, type OnnxNode, type OnnxType } from "../graph.ts";
import { refuse } from "../refusal.ts";
import type { Lowering } from "./lowering.ts";
import type { Value } from "./values.ts";

/** All inputs. @param most by default as many as there are */
export function inputsOf(
  ctx: Lowering,
  node: OnnxNode,
  least: number,
  most = Number.POSITIVE_INFINITY,
): Value[] {
  const { length } = node.inputs;
  if (length < least || length > most) refuse(`it has ${length} inputs`, "Export the model again.");
  return node.inputs.map((_, i) => ctx.input(node, i));
}

/** Zero points, if there are any: of the type of what they belong to. */
export function zerosAt(ctx: Lowering, node: OnnxNode, index: number, type: OnnxType): number[] | undefined {
  const tensor = ctx.optionalConstant(node, index, "zero point");
  if (tensor === undefined) return undefined;
  if (tensor.type === type) return numbers(tensor);
  return refuse(
    `its zero point (input ${index}) is ${tensor.type}, its tensor ${type}`,
    "Give both one type.",
  );
}
