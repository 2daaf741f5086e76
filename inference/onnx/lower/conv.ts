/** Convolutions: QLinearConv, ConvInteger, and Conv in QDQ form or of float32. Windows become rows (MOVE), channels are last inside. */

import type { Operand } from "../../program/form.ts";
import { count, numbers, type OnnxNode, type OnnxTensor } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { biasOf } from "./bias.ts";
import { computedZero, withComputedZero } from "./dynamic.ts";
import { chain } from "./elementwise.ts";
import { knownTensor } from "./fold.ts";
import { held, realTensor, safely } from "./held.ts";
import { intAttribute, intsAttribute, type Lowering, scalar } from "./lowering.ts";
import {
  activationOf,
  activationZero,
  COMPUTED,
  dotChannel,
  perChannel,
  productResult,
  quantizeProduct,
  storedZero,
  weightsAt,
} from "./matmul.ts";
import { zerosAt } from "./operands.ts";
import { isReal, multipliesFloats, quantizedOperands } from "./qdq.ts";
import { checkScale } from "./quantization.ts";
import { quantizationAt } from "./quantize.ts";
import { reduceRows } from "./rows.ts";
import { type Product, type TensorValue, UNBOUNDED, type Value } from "./values.ts";
import { productOf } from "./wide.ts";
import { windowRows } from "./window-rows.ts";
import { type WindowAxis, windowAxes } from "./windows.ts";

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
  const { groups, perGroup, channelsOut, axes, taps } = convShape(node, activation.dims, weights.dims);
  const [batch = 1] = activation.dims;
  const zeroOf = perChannel(zeros, channelsOut, "weight zero point");
  const biases = bias === undefined ? [0] : numbers(bias);
  const biasAt = perChannel(biases, channelsOut, "bias");
  // DOT reads a row as kernel positions, then input channels; weights lie as [out, in, kernel positions].
  const channels = Array.from({ length: channelsOut }, (_, o) => ({
    ...dotChannel(weights, zeroOf(o), taps * perGroup, (i) => weightAt({ perGroup, taps }, o, i)),
    bias: biasAt(o),
  }));
  const zero = storedZero(activation, zeroPoint);
  const outputs = axes.map((a) => a.output);
  return {
    kind: "dot",
    activation: windowRows(ctx, activation, axes, groups, shift === undefined ? { pad: zero } : { shift }),
    zeroPoint: zero,
    groups,
    channels,
    rows: [batch, ...outputs],
    dims: [batch, channelsOut, ...outputs],
    ...channelsLast(axes),
  };
}

/** Storage order [batch, outputs…, channels] of what a convolution makes. */
const channelsLast = (axes: readonly WindowAxis[]): { layout?: readonly number[] } =>
  axes.length === 0 ? {} : { layout: [0, ...axes.map((_, i) => i + 2), 1] };

interface ConvShape {
  readonly groups: number;
  /** Input channels of a group. */
  readonly perGroup: number;
  readonly channelsOut: number;
  readonly axes: readonly WindowAxis[];
  /** Positions of the kernel. */
  readonly taps: number;
}

/** @throws Refusal where weights and input do not fit */
function convShape(node: OnnxNode, input: readonly number[], weights: readonly number[]): ConvShape {
  const [, channelsIn = 1, ...spatial] = input;
  const [channelsOut = 1, perGroup = 1, ...kernel] = weights;
  const groups = intAttribute(node, "group", 1);
  if (
    groups < 1 ||
    perGroup * groups !== channelsIn ||
    channelsOut % groups !== 0 ||
    kernel.length !== spatial.length
  ) {
    refuse(
      `its weights [${weights}] in ${groups} groups do not fit its input [${input}]`,
      "Correct the shapes.",
    );
  }
  const declared = intsAttribute(node, "kernel_shape");
  if (declared !== undefined && declared.join() !== kernel.join())
    refuse("its kernel_shape is not that of its weights", "Correct it.");
  return { groups, perGroup, channelsOut, axes: windowAxes(node, spatial, kernel), taps: count(kernel) };
}

/** Where the weight of output channel o for element i of a window's row is: rows are kernel positions, then channels. */
const weightAt = ({ perGroup, taps }: Pick<ConvShape, "perGroup" | "taps">, o: number, i: number): number =>
  (o * perGroup + (i % perGroup)) * taps + Math.floor(i / perGroup);

/** The convolution of float32 numbers: each window times each of its filters, summed by halves. */
function realConv(ctx: Lowering, node: OnnxNode, input: Value, filters: Value): Value {
  const weights = knownTensor(filters) ?? refuse("its weights are computed", COMPUTED);
  const tensor = realTensor(ctx, input);
  const shape = convShape(node, tensor.dims, weights.dims);
  const { groups, perGroup, channelsOut, axes, taps } = shape;
  const [batch = 1] = tensor.dims;
  const activation = { ...tensor, operand: held(ctx, ctx.aligned(tensor)) };
  const length = taps * perGroup;
  const outputs = axes.map((axis) => axis.output);
  const places = batch * count(outputs);
  const windows = windowRows(ctx, activation, axes, groups, { pad: 0 });
  const data = Float32Array.from({ length: channelsOut * length }, (_, at) =>
    Number(weights.data[weightAt(shape, Math.floor(at / length), at % length)]),
  );
  const kernels = ctx.plain({
    kind: "constant",
    tensor: { type: "float32", dims: [groups, channelsOut / groups, length], data },
  });
  const products = safely(ctx, "mul", ctx.reshape(windows, [places, groups, 1, length]), kernels);
  ctx.notes.push(multipliesFloats(node, count(ctx.builder.shape(products).dims)));
  const operand = reduceRows(ctx, "sum", products, [batch, ...outputs, channelsOut]);
  const dims = [batch, channelsOut, ...outputs];
  const result: Value = {
    kind: "tensor",
    operand,
    type: "f32",
    onnx: "float32",
    dims,
    ...channelsLast(axes),
  };
  const bias = ctx.optional(node, 2);
  if (bias === undefined) return result;
  const known = knownTensor(bias) ?? refuse("its bias is computed", "Make it an initializer.");
  const along = { ...known, dims: [1, channelsOut, ...outputs.map(() => 1)] };
  return chain(ctx, [result, { kind: "constant", tensor: along }], "add");
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
  const [input, filters] = [ctx.input(node, 0), ctx.input(node, 1)];
  if (isReal(input, filters)) return realConv(ctx, node, input, filters);
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
