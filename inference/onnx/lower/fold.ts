/** Nodes that are computed at import because all that they read is constant. */

import { broadcastIndex } from "../../profile/range.ts";
import { MAX_ELEMENTS } from "../../program/check.ts";
import { broadcastDims } from "../builder.ts";
import { count, numbers, type OnnxNode, type OnnxTensor, type OnnxType } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { castConstant, checkMade, makeTensor } from "./constants.ts";
import { intAttribute, type Lowering, scalar } from "./lowering.ts";
import { constantReal } from "./quantize.ts";
import { type ConstantValue, dimsOf, type Value } from "./values.ts";

/** The tensor of a value that is known at import, dequantized where it is stored as integers. */
export function knownTensor(value: Value): OnnxTensor | undefined {
  const isKnown =
    value.kind === "constant" || (value.kind === "dequantized" && value.source.kind === "constant");
  return isKnown ? constantReal(value) : undefined;
}

/** `f` of constants, element by element with broadcasting; undefined where one of them is computed.
 *  @param type of the result: integers are refused outside of it, float32 is rounded to */
export function folded(
  ctx: Lowering,
  values: readonly Value[],
  type: OnnxType,
  f: (...operands: number[]) => number,
): ConstantValue | undefined {
  const tensors = values.flatMap((value) => knownTensor(value) ?? []);
  if (tensors.length !== values.length) return undefined;
  const dims = broadcastDims(...tensors.map((tensor) => tensor.dims));
  checkMade(ctx.builder.budget, dims);
  const sources = tensors.map((tensor) => ({
    data: safeNumbers(tensor),
    index: broadcastIndex(tensor.dims, dims),
  }));
  const results = Array.from({ length: count(dims) }, (_, i) =>
    f(...sources.map(({ data, index }) => data[index[i] as number] as number)),
  );
  return { kind: "constant", tensor: resultTensor(type, dims, results) };
}

/** The numbers of a constant, none of them beyond 2^53, where doubles would round them. */
function safeNumbers(tensor: OnnxTensor): number[] {
  const list = numbers(tensor);
  if (tensor.type === "int64" && list.some((v) => !Number.isSafeInteger(v) || Math.abs(v) >= 2 ** 52)) {
    refuse("it computes with constants beyond 2^52", "Use smaller constants.");
  }
  return list;
}

function resultTensor(type: OnnxType, dims: readonly number[], results: readonly number[]): OnnxTensor {
  if (type === "float32" || type === "bool") return makeTensor(type, dims, results);
  if (results.some((v) => !Number.isSafeInteger(v)))
    refuse("it computes constants beyond 2^53", "Correct the constants.");
  return castConstant(makeTensor("int64", dims, results), type);
}

export function constantOfShape(ctx: Lowering, node: OnnxNode): Value {
  const dims = ctx.numbers(node, 0, "shape");
  checkMade(ctx.builder.budget, dims);
  const attribute = node.attributes.get("value");
  if (attribute === undefined) return filled("float32", dims, 0);
  if (attribute.kind !== "tensor") return refuse(`its value is of kind ${attribute.kind}`, "Use a tensor.");
  return filled(attribute.value.type, dims, scalar(attribute.value, "value"));
}

function filled(type: OnnxType, dims: readonly number[], value: number): ConstantValue {
  return { kind: "constant", tensor: makeTensor(type, dims, new Array<number>(count(dims)).fill(value)) };
}

export function rangeOfNumbers(ctx: Lowering, node: OnnxNode): Value {
  const bounds = [0, 1, 2].map((i) => ctx.constant(node, i, ["start", "limit", "delta"][i] as string));
  const [start = 0, limit = 0, delta = 1] = bounds.map((tensor) => scalar(tensor, "bound"));
  const { type } = bounds[0] as OnnxTensor;
  const length = Math.max(Math.ceil((limit - start) / delta), 0);
  if (!(length >= 1 && length <= MAX_ELEMENTS))
    refuse(`it counts from ${start} to ${limit} by ${delta}`, "Use a range with elements.");
  checkMade(ctx.builder.budget, [length]);
  const values = Array.from({ length }, (_, i) => start + i * delta);
  return { kind: "constant", tensor: resultTensor(type, [length], values) };
}

export function sizeOf(ctx: Lowering, node: OnnxNode): Value {
  return { kind: "constant", tensor: makeTensor("int64", [], [count(dimsOf(ctx.input(node, 0)))]) };
}

export function shapeOf(ctx: Lowering, node: OnnxNode): Value {
  const dims = dimsOf(ctx.input(node, 0));
  const part = dims.slice(intAttribute(node, "start", 0), intAttribute(node, "end", dims.length));
  return { kind: "constant", tensor: makeTensor("int64", [part.length], part) };
}
