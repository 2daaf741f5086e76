/** Products in QDQ form: MatMul and Gemm between DequantizeLinear and QuantizeLinear, and their biases. */

import type { OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { scaledProduct } from "./activations.ts";
import { biasOf } from "./bias.ts";
import { makeTensor } from "./constants.ts";
import { chain } from "./elementwise.ts";
import { folded } from "./fold.ts";
import { floatAttribute, intAttribute, type Lowering } from "./lowering.ts";
import { COMPUTED, isComputed, matrix, matrixProduct, transposed, UNBOUNDED, withBias } from "./matmul.ts";
import { bytes } from "./quantize.ts";
import type { Value } from "./values.ts";
import { productOf } from "./wide.ts";

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
  return { tensor: bytes(ctx, value.source), zero: value.zero[0] as number, scale };
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
  const { activation, factor, zero, weights, scale, zeros, axis } = quantizedOperands(ctx, node);
  const columns = weights.dims.at(-1) as number;
  if (scale.length > 1 && axis !== weights.dims.length - 1) {
    refuse(
      `its weights have a scale for each index of axis ${axis}`,
      "Scale weights per tensor or per column.",
    );
  }
  const { source, unit } = productOf(ctx, activation, zero, (operand, operandZero) => {
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

export function gemm(ctx: Lowering, node: OnnxNode): Value {
  const [alpha, beta] = [floatAttribute(node, "alpha", 1), floatAttribute(node, "beta", 1)];
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
  const { source, unit } = productOf(ctx, activation, operands.zero, (operand, zero, takesBias) => {
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
