/** Products in QDQ form: MatMul and Gemm between DequantizeLinear and QuantizeLinear, and their biases. */

import { count, type OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { realProduct } from "./activations.ts";
import { biasOf } from "./bias.ts";
import { makeTensor } from "./constants.ts";
import { chain } from "./elementwise.ts";
import { folded } from "./fold.ts";
import { floatAttribute, intAttribute, type Lowering } from "./lowering.ts";
import { COMPUTED, isComputed, matrix, matrixProduct, transposed, withBias } from "./matmul.ts";
import { isWide } from "./quantization.ts";
import { bytes } from "./quantize.ts";
import { scaledProduct } from "./scaled-product.ts";
import { transposeValue } from "./shape.ts";
import { dimsOf, type TensorValue, typeOf, UNBOUNDED, type Value } from "./values.ts";
import { matricesOf } from "./wide.ts";

/** A dequantized activation of 8 or 16 bits and dequantized constant byte weights of a float32 product. */
export function quantizedOperands(ctx: Lowering, node: OnnxNode) {
  const [a, b] = [ctx.input(node, 0), ctx.input(node, 1)];
  const next =
    "Quantize the model: DequantizeLinear on both operands and QuantizeLinear on the result (QDQ form).";
  if (a.kind !== "dequantized" || a.source.kind !== "tensor" || a.scale.length !== 1) {
    return refuse(
      "its first operand is float32, not a dequantized byte or 16-bit tensor with one scale",
      next,
    );
  }
  if (b.kind !== "dequantized") {
    const computed = b.kind !== "constant";
    return refuse(
      `its ${computed ? "second operand is" : "weights are"} float32, not dequantized bytes`,
      next,
    );
  }
  if (b.source.kind !== "constant") return refuse("its weights are computed", COMPUTED);
  const weights = b.source.tensor;
  if (weights.type !== "uint8" && weights.type !== "int8")
    refuse(
      `its weights are ${weights.type}`,
      "Quantize weights to int8 or uint8 (weight_type=QuantType.QInt8).",
    );
  return {
    activation: a.source,
    factor: a.scale[0] as number,
    zero: a.zero[0] as number,
    weights,
    scale: b.scale,
    zeros: b.zero,
    axis: b.axis,
  };
}

/** A dequantized tensor with one scale as a factor of a product. */
function factorOf(ctx: Lowering, value: Value) {
  if (value.kind !== "dequantized" || value.scale.length !== 1) return undefined;
  const [scale = 1] = value.scale;
  const { source } = value;
  const tensor = source.kind === "tensor" && isWide(source.onnx) ? source : bytes(ctx, source);
  return { tensor, zero: value.zero[0] as number, scale };
}

export function matMul(ctx: Lowering, node: OnnxNode): Value {
  const [a, b] = [ctx.input(node, 0), ctx.input(node, 1)];
  if (a.kind === "dequantized" && b.kind === "dequantized" && isComputed(a.source, b.source)) {
    const [first, second] = [factorOf(ctx, a), factorOf(ctx, b)];
    if (first === undefined || second === undefined)
      return refuse(
        "an operand has several scales",
        "Give each operand of a product of activations one scale.",
      );
    return scaledProduct(ctx, first, second);
  }
  if (isReal(a, b)) return realMatMul(ctx, node, a, b);
  const { activation, factor, zero, weights, scale, zeros, axis } = quantizedOperands(ctx, node);
  const columns = weights.dims.at(-1) as number;
  if (scale.length > 1 && axis !== weights.dims.length - 1) {
    refuse(
      `its weights have a scale for each index of axis ${axis}`,
      "Scale weights per tensor or per column.",
    );
  }
  const { source, unit } = matricesOf(ctx, activation, zero, (operand, operandZero) => {
    const product = matrixProduct(ctx, operand, operandZero, weights, zeros);
    if (scale.length > 1 && product.layout !== undefined)
      refuse("its weights are several matrices with a scale a column", "Use one weight scale.");
    if (scale.length > 1 && product.channels.length !== columns)
      refuse("its channels have other scales than columns", "Use one weight scale.");
    return product;
  });
  return {
    kind: "scaled",
    source,
    scale,
    factor: factor * unit,
    axis: source.dims.length - 1,
    ...UNBOUNDED,
    fused: true,
  };
}

/** True where a product is one of float32 numbers: where its operands are no dequantized integers, one of them at least. */
export const isReal = (a: Value, b: Value): boolean =>
  typeOf(a) === "float32" &&
  typeOf(b) === "float32" &&
  (a.kind !== "dequantized" || b.kind !== "dequantized" || a.source.kind !== "tensor");

export const multipliesFloats = (node: OnnxNode, products: number): string =>
  `${node.name} multiplies by float32 weights: ${products} products, each an element of a step; quantized weights take one step for all`;

function realMatMul(ctx: Lowering, node: OnnxNode, a: Value, b: Value): TensorValue {
  const result = realProduct(ctx, a, b);
  if (a.kind === "constant" || b.kind === "constant") {
    ctx.notes.push(multipliesFloats(node, count(result.dims) * (dimsOf(a).at(-1) ?? 1)));
  }
  return result;
}

/** `alpha·A·B + beta·C` of float32. */
function realGemm(ctx: Lowering, node: OnnxNode, a: Value, b: Value): Value {
  for (const { length } of [dimsOf(a), dimsOf(b)])
    if (length !== 2) refuse(`an operand has rank ${length}`, "Use matrices, or MatMul.");
  const side = (value: Value, attribute: string): Value =>
    intAttribute(node, attribute, 0) === 0 ? value : transposeValue(ctx, value, [1, 0]);
  const times = (value: Value, factor: number): Value => {
    if (factor === 1) return value;
    const constant: Value = { kind: "constant", tensor: makeTensor("float32", [], [factor]) };
    const known = folded(ctx, [value, constant], "float32", (x = 0, y = 1) => Math.fround(x * y));
    return known ?? chain(ctx, [value, constant], "mul");
  };
  const product = realMatMul(ctx, node, side(a, "transA"), side(b, "transB"));
  const scaled = times(product, floatAttribute(node, "alpha", 1));
  const addend = ctx.optional(node, 2);
  return addend === undefined
    ? scaled
    : chain(ctx, [scaled, times(addend, floatAttribute(node, "beta", 1))], "add");
}

export function gemm(ctx: Lowering, node: OnnxNode): Value {
  const [alpha, beta] = [floatAttribute(node, "alpha", 1), floatAttribute(node, "beta", 1)];
  const [a, b] = [ctx.input(node, 0), ctx.input(node, 1)];
  if (isReal(a, b)) return realGemm(ctx, node, a, b);
  const operands = quantizedOperands(ctx, node);
  const transB = intAttribute(node, "transB", 0);
  const { factor, scale, zeros, axis } = operands;
  const weights = matrix(operands.weights, transB);
  if (scale.length > 1 && axis !== (transB === 0 ? 1 : 0)) {
    refuse("its weights have a scale for each inner index", "Scale weights per tensor or per output column.");
  }
  const activation = transposed(operands.activation, intAttribute(node, "transA", 0));
  const bias = ctx.optional(node, 2);
  // An addend that no accumulator can hold is added in float32.
  const isApart = bias !== undefined && (alpha !== 1 || beta !== 1 || !isKnown(bias));
  const tensor = bias === undefined || isApart ? undefined : biasOf(bias, factor, scale);
  const { source, unit } = matricesOf(ctx, activation, operands.zero, (operand, zero, takesBias) => {
    const product = matrixProduct(ctx, operand, zero, weights, zeros);
    if (tensor === undefined || !takesBias) return product;
    return (
      withBias(product, tensor) ?? refuse(`its bias has dims [${tensor.dims}]`, "Use one bias a column.")
    );
  });
  const scaled = {
    kind: "scaled",
    source,
    scale,
    factor: factor * alpha * unit,
    axis: 1,
    ...UNBOUNDED,
  } as const;
  // A requantization has no scale below 0.
  if (bias === undefined || !isApart) return { ...scaled, fused: alpha > 0 };
  const times: Value = { kind: "constant", tensor: makeTensor("float32", [], [beta]) };
  const addend =
    beta === 1
      ? bias
      : (folded(ctx, [bias, times], "float32", (x = 0, y = 1) => x * y) ?? chain(ctx, [bias, times], "mul"));
  return chain(ctx, [{ ...scaled, fused: false }, addend], "add");
}

const isKnown = (value: Value): boolean =>
  value.kind === "constant" || (value.kind === "dequantized" && value.source.kind === "constant");
