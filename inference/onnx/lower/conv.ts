/** Convolutions: QLinearConv, ConvInteger, and Conv in QDQ form. Windows become rows (MOVE), channels are last inside. */

import type { Operand } from "../../program/form.ts";
import { count, numbers, type OnnxNode, type OnnxTensor } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { biasOf } from "./bias.ts";
import { computedZero, withComputedZero } from "./dynamic.ts";
import { intAttribute, intsAttribute, type Lowering, scalar } from "./lowering.ts";
import {
  activationOf,
  activationZero,
  dotChannel,
  perChannel,
  productResult,
  quantizeProduct,
  storedZero,
  UNBOUNDED,
  weightsAt,
} from "./matmul.ts";
import { zerosAt } from "./operands.ts";
import { quantizedOperands } from "./qdq.ts";
import { checkScale } from "./quantization.ts";
import { quantizationAt } from "./quantize.ts";
import type { Product, TensorValue, Value } from "./values.ts";
import { productOf } from "./wide.ts";
import { windowRows } from "./window-rows.ts";
import { windowAxes } from "./windows.ts";

/** @param zeros weight zero points: one, or one for each output channel
 *  @param shift zero point of the activation that the graph computes; windows hold it outside of the input */
export function convProduct(
  ctx: Lowering,
  node: OnnxNode,
  activation: TensorValue,
  zeroPoint: number,
  weights: OnnxTensor,
  zeros: readonly number[],
  bias: OnnxTensor | undefined,
  shift?: Operand,
): Product {
  const [batch = 1, channelsIn = 1, ...spatial] = activation.dims;
  const [channelsOut = 1, perGroup = 1, ...kernel] = weights.dims;
  const groups = intAttribute(node, "group", 1);
  if (
    groups < 1 ||
    perGroup * groups !== channelsIn ||
    channelsOut % groups !== 0 ||
    kernel.length !== spatial.length
  ) {
    refuse(
      `its weights [${weights.dims}] in ${groups} groups do not fit its input [${activation.dims}]`,
      "Correct the shapes.",
    );
  }
  const declared = intsAttribute(node, "kernel_shape");
  if (declared !== undefined && declared.join() !== kernel.join())
    refuse("its kernel_shape is not that of its weights", "Correct it.");
  const axes = windowAxes(node, spatial, kernel);
  const zeroOf = perChannel(zeros, channelsOut, "weight zero point");
  const biases = bias === undefined ? [0] : numbers(bias);
  const biasAt = perChannel(biases, channelsOut, "bias");
  const taps = count(kernel);
  // DOT reads a row as kernel positions, then input channels; weights lie as [out, in, kernel positions].
  const channels = Array.from({ length: channelsOut }, (_, o) => ({
    ...dotChannel(
      weights,
      zeroOf(o),
      taps * perGroup,
      (i) => (o * perGroup + (i % perGroup)) * taps + Math.floor(i / perGroup),
    ),
    bias: biasAt(o),
  }));
  const zero = storedZero(activation, zeroPoint);
  const rank = activation.dims.length;
  const layout = [0, ...spatial.map((_, i) => i + 2), 1];
  const outputs = axes.map((a) => a.output);
  return {
    kind: "dot",
    activation: windowRows(ctx, activation, axes, groups, shift === undefined ? { pad: zero } : { shift }),
    zeroPoint: zero,
    groups,
    channels,
    rows: [batch, ...outputs],
    dims: [batch, channelsOut, ...outputs],
    ...(rank > 2 ? { layout } : {}),
  };
}

export function qLinearConv(ctx: Lowering, node: OnnxNode): Value {
  const activation = activationOf(ctx, ctx.input(node, 0));
  const factor = checkScale(scalar(ctx.constant(node, 1, "scale"), "activation scale"), "activation scale");
  const weights = weightsAt(ctx, node, 3);
  const scale = ctx.numbers(node, 4, "weight scale");
  for (const s of scale) checkScale(s, "weight scale");
  perChannel(scale, weights.dims[0] as number, "weight scale");
  const bias = ctx.optionalConstant(node, 8, "bias");
  if (bias !== undefined && bias.type !== "int32") refuse(`its bias is ${bias.type}`, "Use an int32 bias.");
  const zeros = zerosAt(ctx, node, 5, weights.type) ?? [0];
  const product = convProduct(
    ctx,
    node,
    activation,
    activationZero(ctx, node, 2, activation),
    weights,
    zeros,
    bias,
  );
  return quantizeProduct(ctx, product, factor, scale, quantizationAt(ctx, node, 6, "output"));
}

export function convInteger(ctx: Lowering, node: OnnxNode): Value {
  const activation = activationOf(ctx, ctx.input(node, 0));
  const weights = weightsAt(ctx, node, 1);
  const zeros = zerosAt(ctx, node, 3, weights.type) ?? [0];
  const shift = computedZero(ctx, node, 2);
  if (shift !== undefined) {
    const product = convProduct(ctx, node, activation, 0, weights, zeros, undefined, shift);
    return withComputedZero(ctx, product, shift);
  }
  const zero = activationZero(ctx, node, 2, activation);
  return productResult(ctx, node, convProduct(ctx, node, activation, zero, weights, zeros, undefined));
}

export function conv(ctx: Lowering, node: OnnxNode): Value {
  const { activation, factor, zero, weights, scale, zeros, axis } = quantizedOperands(ctx, node);
  if (scale.length > 1 && axis !== 0)
    refuse(`its weights have a scale for each index of axis ${axis}`, "Scale per output channel.");
  const bias = ctx.optional(node, 2);
  const tensor = bias === undefined ? undefined : biasOf(bias, factor, scale);
  const { source, unit } = productOf(ctx, activation, zero, (operand, operandZero, takesBias) =>
    convProduct(ctx, node, operand, operandZero, weights, zeros, takesBias ? tensor : undefined),
  );
  return { kind: "scaled", source, scale, factor: factor * unit, axis: 1, ...UNBOUNDED, fused: true };
}
