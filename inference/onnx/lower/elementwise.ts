/** Element-wise arithmetic on integers and float32. */

import type { Operand } from "../../program/form.ts";
import { type ArithName, broadcastDims, type FloatName } from "../builder.ts";
import type { OnnxNode, OnnxType } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { biasOf } from "./bias.ts";
import { makeTensor } from "./constants.ts";
import { folded } from "./fold.ts";
import { safely } from "./held.ts";
import type { Lowering } from "./lowering.ts";
import { combinedMaps } from "./maps.ts";
import { withBias } from "./matmul.ts";
import { inputsOf } from "./operands.ts";
import { isWide } from "./quantization.ts";
import { dimsOf, TENSOR_TYPE, type TensorValue, typeOf, type Value } from "./values.ts";

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

/** Applies a two-operand operation from left to right. int64 is held as s32, which import proves wide enough. */
export function chain(ctx: Lowering, values: readonly Value[], name: ArithName & FloatName): Value {
  const [first, ...rest] = values;
  if (first === undefined) return refuse("it has no inputs", "Export the model again.");
  const type = typeOf(first);
  for (const v of rest)
    if (typeOf(v) !== type) refuse(`it mixes ${type} and ${typeOf(v)}`, "Cast to one type.");
  if (type === "bool") refuse("it computes on bool", "Cast to int32 first.");
  const isArithmetic = name !== "min" && name !== "max";
  if (isArithmetic && (type === "uint8" || type === "int8" || isWide(type))) {
    refuse(`it computes in ${type}, which wraps`, "Cast to int32 first.");
  }
  let result: Value = first;
  for (const v of rest) {
    result = elementwise(ctx, [result, v], type, ([a = 0, b = 0]) =>
      type === "float32" ? safely(ctx, name, a, b) : ctx.builder.arith(name, TENSOR_TYPE[type], a, b),
    );
  }
  return result;
}

const ARITHMETIC: Readonly<
  Record<string, { readonly name: ArithName & FloatName; readonly f: (x: number, y: number) => number }>
> = {
  Add: { name: "add", f: (x, y) => x + y },
  Sub: { name: "sub", f: (x, y) => x - y },
  Mul: { name: "mul", f: (x, y) => x * y },
  Div: { name: "div", f: (x, y) => x / y },
  // + 0: as FLOAT min and max, which never give −0.
  Min: { name: "min", f: (x, y) => Math.min(x, y) + 0 },
  Max: { name: "max", f: (x, y) => Math.max(x, y) + 0 },
  Sum: { name: "add", f: (x, y) => x + y },
};

/** Add, Sub, Mul, Div, and the variadic Min, Max, Sum. */
export function arithmetic(ctx: Lowering, node: OnnxNode): Value {
  const isVariadic = node.op === "Min" || node.op === "Max" || node.op === "Sum";
  const values = isVariadic ? inputsOf(ctx, node, 1) : inputsOf(ctx, node, 2, 2);
  const { name, f } = ARITHMETIC[node.op] as (typeof ARITHMETIC)[string];
  const type = typeOf(values[0] as Value);
  if (name === "div" && type !== "float32") integersOnly(type);
  const whole = name === "div" && type !== "float32" ? wholeQuotient : f;
  const known = folded(ctx, values, type, (...list) => list.reduce((x, y) => rounded(type, whole(x, y))));
  if (known !== undefined) return known;
  const [a, b] = values;
  const sum =
    node.op === "Add" && a !== undefined && b !== undefined ? (addBias(a, b) ?? addBias(b, a)) : undefined;
  if (sum !== undefined) {
    return sum.kind === "product" && ctx.usesOf(node.outputs[0]) > 1 ? ctx.tensor(sum) : sum;
  }
  return combinedMaps(ctx, values, f) ?? chain(ctx, values, name);
}

/** The sum of all operands divided by their number. */
export function mean(ctx: Lowering, node: OnnxNode): Value {
  const sum = arithmetic(ctx, { ...node, op: "Sum" });
  const type = typeOf(sum);
  if (type !== "float32") refuse(`it averages ${type}`, "Use float32.");
  const values = [sum, { kind: "constant", tensor: makeTensor(type, [], [node.inputs.length]) }] as const;
  const divided = (x = 0, y = 1): number => Math.fround(x / y);
  return (
    folded(ctx, values, type, divided) ?? combinedMaps(ctx, values, divided) ?? chain(ctx, values, "div")
  );
}

const rounded = (type: OnnxType, x: number): number => (type === "float32" ? Math.fround(x) : x);

function wholeQuotient(x: number, y: number): number {
  return y === 0 ? refuse("it divides constants by 0", "Correct the constants.") : Math.trunc(x / y);
}

function integersOnly(type: OnnxType): void {
  if (type !== "int32" && type !== "int64") refuse(`it divides ${type}`, "Divide int32 or float32.");
}

/** A product plus a constant along its channels stays one product. */
function addBias(value: Value, bias: Value): Value | undefined {
  if (value.kind === "product" && bias.kind === "constant") {
    const product = withBias(value.product, bias.tensor);
    return product === undefined ? undefined : { kind: "product", product };
  }
  if (value.kind !== "scaled" || !value.fused || value.source.kind !== "dot" || bias.kind !== "dequantized") {
    return undefined;
  }
  const product = withBias(value.source, biasOf(bias, value.factor, value.scale));
  return product === undefined ? undefined : { ...value, source: product };
}
