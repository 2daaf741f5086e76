/** Element-wise operators on int32 and float32, and functions of a byte that become tables. */

import { broadcastIndex } from "../../profile/range.ts";
import type { Operand } from "../../program/form.ts";
import { type ArithName, broadcastDims, type FloatName } from "../builder.ts";
import { ONNX_TYPES, type OnnxNode, type OnnxType } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { castConstant, foldArithmetic, makeTensor } from "./constants.ts";
import { floatAttribute, intAttribute, type Lowering, scalar } from "./lowering.ts";
import { biasOf, withBias } from "./matmul.ts";
import { constantReal, mapOf } from "./quantize.ts";
import { dimsOf, type ScaledValue, TENSOR_TYPE, type TensorValue, typeOf, type Value } from "./values.ts";

/** Operands that broadcast against each other in one storage order, and the order. */
function commonOperands(
  ctx: Lowering,
  values: readonly Value[],
): { operands: Operand[]; dims: number[]; layout: readonly number[] | undefined } {
  const dims = broadcastDims(...values.map(dimsOf));
  const tensors = values.map((v) => (v.kind === "constant" ? v : ctx.tensor(v)));
  const full = tensors.find((v): v is TensorValue => v.kind === "tensor" && v.dims.join() === dims.join());
  const layout = full?.layout;
  if (layout === undefined) {
    return { operands: tensors.map((v) => ctx.plain(v)), dims, layout };
  }
  const padded = tensors.map((v) => withRank(v, dims.length));
  return { operands: padded.map((v) => ctx.inLayout(v, layout)), dims, layout };
}

/** The value with leading axes of size 1. */
function withRank(value: Exclude<Value, { kind: "product" }> | Value, rank: number): Value {
  const missing = rank - dimsOf(value).length;
  if (missing === 0) return value;
  const lead = new Array<number>(missing).fill(1);
  if (value.kind === "constant") {
    return { kind: "constant", tensor: { ...value.tensor, dims: [...lead, ...value.tensor.dims] } };
  }
  if (value.kind !== "tensor") return value;
  const { layout, ...rest } = value;
  const shifted =
    layout === undefined ? {} : { layout: [...lead.map((_, i) => i), ...layout.map((a) => a + missing)] };
  return { ...rest, ...shifted, dims: [...lead, ...value.dims] };
}

/** A step over broadcast operands. */
export function elementwise(
  ctx: Lowering,
  values: readonly Value[],
  onnx: OnnxType,
  emit: (operands: readonly Operand[]) => Operand,
): TensorValue {
  const { operands, dims, layout } = commonOperands(ctx, values);
  const operand = emit(operands);
  const shared = layout === undefined ? {} : { layout };
  return { kind: "tensor", operand, type: TENSOR_TYPE[onnx], onnx, dims, ...shared };
}

/** Applies a two-operand operation from left to right. */
function chain(ctx: Lowering, values: readonly Value[], name: ArithName & FloatName): Value {
  const [first, ...rest] = values;
  if (first === undefined) return refuse("it has no inputs", "Export the model again.");
  const type = typeOf(first);
  for (const v of rest)
    if (typeOf(v) !== type) refuse(`it mixes ${type} and ${typeOf(v)}`, "Cast to one type.");
  if (type === "int64") refuse("it computes in int64", "Use int32; no program holds int64 tensors.");
  if (type === "bool") refuse("it computes on bool", "Cast to int32 first.");
  const arithmetic = name !== "min" && name !== "max";
  if (arithmetic && (type === "uint8" || type === "int8")) {
    refuse(`it computes in ${type}, which wraps`, "Cast to int32 first.");
  }
  let result: Value = first;
  for (const v of rest) {
    result = elementwise(ctx, [result, v], type, ([a = 0, b = 0]) =>
      type === "float32"
        ? ctx.builder.float(name, "f32", a, b)
        : ctx.builder.arith(name, TENSOR_TYPE[type], a, b),
    );
  }
  return result;
}

const BINARY = { Add: "add", Sub: "sub", Mul: "mul" } as const;

export function binary(ctx: Lowering, node: OnnxNode): Value {
  const values = [ctx.input(node, 0), ctx.input(node, 1)];
  const [a, b] = values as [Value, Value];
  if (a.kind === "constant" && b.kind === "constant") return fold(node.op, a, b);
  if (node.op === "Add") {
    const sum = addBias(a, b) ?? addBias(b, a);
    if (sum !== undefined && sum.kind === "product") {
      const shared = ctx.usesOf(node.outputs[0]) > 1;
      return shared ? ctx.tensor(sum) : sum;
    }
    if (sum !== undefined) return sum;
  }
  return chain(ctx, values, BINARY[node.op as keyof typeof BINARY]);
}

function fold(
  op: string,
  a: Extract<Value, { kind: "constant" }>,
  b: Extract<Value, { kind: "constant" }>,
): Value {
  const dims = broadcastDims(a.tensor.dims, b.tensor.dims);
  const index = (tensor: { dims: readonly number[] }): Int32Array => broadcastIndex(tensor.dims, dims);
  return { kind: "constant", tensor: foldArithmetic(op, a.tensor, b.tensor, dims, index) };
}

/** A product plus a constant along its channels stays one product. */
function addBias(value: Value, bias: Value): Value | undefined {
  if (value.kind === "product" && bias.kind === "constant") {
    const product = withBias(value.product, bias.tensor);
    return product === undefined ? undefined : { kind: "product", product };
  }
  if (value.kind !== "scaled" || !value.fused || "kind" in value.source || bias.kind !== "dequantized") {
    return undefined;
  }
  const product = withBias(value.source, biasOf(bias, value.factor, value.scale));
  return product === undefined ? undefined : { ...value, source: product };
}

export function divide(ctx: Lowering, node: OnnxNode): Value {
  const [a, b] = [ctx.input(node, 0), ctx.input(node, 1)];
  if (a.kind === "constant" && b.kind === "constant") return fold("Div", a, b);
  const type = typeOf(a);
  if (type !== "int32" && type !== "float32") refuse(`it divides ${type}`, "Divide int32 or float32.");
  return chain(ctx, [a, b], "div");
}

export function variadic(ctx: Lowering, node: OnnxNode): Value {
  const values = node.inputs.map((_, i) => ctx.input(node, i));
  return chain(ctx, values, node.op === "Min" ? "min" : "max");
}

/** A function of one float32 number as a map, if its operand is a byte. */
function asMap(value: Value, f: (x: number) => number): Value | undefined {
  const mapped = mapOf(value);
  if (mapped === undefined) return undefined;
  return { kind: "mapped", source: mapped.source, map: mapped.map.map((x) => Math.fround(f(x))) };
}

/** Bounds of Clip and Relu on any type. */
function clampValue(ctx: Lowering, value: Value, low: number | undefined, high: number | undefined): Value {
  if (value.kind === "scaled") return clampScaled(value, low, high);
  const bounded = (x: number): number => Math.min(Math.max(x, low ?? x), high ?? Number.POSITIVE_INFINITY);
  const mapped = asMap(value, (x) => Math.fround(bounded(x)));
  if (mapped !== undefined) return mapped;
  let result: Value = value;
  const bound = (name: "max" | "min", limit: number | undefined): void => {
    if (limit === undefined) return;
    const tensor = makeTensor(typeOf(value), [], [limit]);
    result = chain(ctx, [result, { kind: "constant", tensor }], name);
  };
  bound("max", low);
  bound("min", high);
  return result;
}

function clampScaled(value: ScaledValue, low: number | undefined, high: number | undefined): ScaledValue {
  // Clip(x, low, high) = min(max(x, low), high): the later bound wins where they cross.
  let bounds = { low: value.low, high: value.high };
  if (low !== undefined) bounds = { low: Math.max(bounds.low, low), high: Math.max(bounds.high, low) };
  if (high !== undefined) bounds = { low: Math.min(bounds.low, high), high: Math.min(bounds.high, high) };
  return { ...value, ...bounds };
}

export function relu(ctx: Lowering, node: OnnxNode): Value {
  return clampValue(ctx, ctx.input(node, 0), 0, undefined);
}

export function clip(ctx: Lowering, node: OnnxNode): Value {
  const bound = (input: number, name: string): number | undefined => {
    if (node.attributes.has(name)) return floatAttribute(node, name, 0);
    const value = ctx.optional(node, input);
    if (value === undefined) return undefined;
    return scalar(value.kind === "dequantized" ? constantReal(value) : ctx.constant(node, input, name), name);
  };
  return clampValue(ctx, ctx.input(node, 0), bound(1, "min"), bound(2, "max"));
}

/** Functions that exist as tables of a byte only. */
const FUNCTIONS: Readonly<Record<string, (node: OnnxNode) => (x: number) => number>> = {
  Sigmoid: () => (x) => 1 / (1 + Math.exp(-x)),
  Tanh: () => (x) => Math.tanh(x),
  LeakyRelu: (node) => leakyRelu(floatAttribute(node, "alpha", 0.01)),
};

export const leakyRelu =
  (alpha: number) =>
  (x: number): number =>
    x >= 0 ? x : x * alpha;

export function byteFunction(ctx: Lowering, node: OnnxNode): Value {
  const f = FUNCTIONS[node.op];
  const mapped = f === undefined ? undefined : asMap(ctx.input(node, 0), f(node));
  return (
    mapped ??
    refuse(
      "its operand is float32, not a dequantized byte tensor with one scale",
      "Put QuantizeLinear and DequantizeLinear before it: of a byte it becomes a table.",
    )
  );
}

export function sqrt(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  if (typeOf(value) !== "float32") refuse(`its operand is ${typeOf(value)}`, "Use float32.");
  const mapped = asMap(value, Math.sqrt);
  if (mapped !== undefined && mapped.kind === "mapped" && mapped.map.every((x) => !Number.isNaN(x))) {
    return mapped;
  }
  return elementwise(ctx, [value], "float32", ([a = 0]) => ctx.builder.float("sqrt", "f32", a));
}

export function cast(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const code = intAttribute(node, "to", 0);
  const to = (ONNX_TYPES as Readonly<Record<number, OnnxType>>)[code];
  if (to === undefined)
    return refuse(`it casts to the type ${code}`, "Cast to uint8, int8, int32, float32 or bool.");
  const from = typeOf(value);
  if (value.kind === "constant") return { kind: "constant", tensor: castConstant(value.tensor, to) };
  if (from === to) return value;
  if (to === "int64") refuse("it casts to int64", "Cast to int32; no program holds int64 tensors.");
  if (value.kind === "picked" && to === "int32" && !value.cast && (from === "int8" || from === "uint8")) {
    return { ...value, cast: true };
  }
  const tensor = ctx.tensor(value);
  const { builder } = ctx;
  if (TENSOR_TYPE[from] === TENSOR_TYPE[to]) return { ...tensor, onnx: to };
  if (to === "bool" && from === "float32") refuse("it casts float32 to bool", "Compare with 0 in int32.");
  const type = TENSOR_TYPE[to];
  const operand =
    to === "float32"
      ? builder.float("tofloat", "f32", tensor.operand)
      : from === "float32"
        ? builder.float("toint", type, tensor.operand)
        : builder.arith("cast", type, tensor.operand);
  return ctx.like(tensor, operand, to);
}
