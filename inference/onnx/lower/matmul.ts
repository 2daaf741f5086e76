/** Matrix products with a constant second operand: QLinearMatMul, MatMulInteger, QGemm, and MatMul and Gemm in QDQ form. */

import { count, numbers, type OnnxNode, type OnnxTensor } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { activationProduct } from "./activations.ts";
import { movedConstant } from "./constants.ts";
import { computedZero, withComputedZero } from "./dynamic.ts";
import { floatAttribute, intAttribute, type Lowering, scalar } from "./lowering.ts";
import { zerosAt } from "./operands.ts";
import { emitProduct } from "./product.ts";
import { type ByteQuantization, checkScale } from "./quantization.ts";
import { bytes, quantizationAt, quantizeScaled } from "./quantize.ts";
import { scaledProduct } from "./scaled-product.ts";
import {
  type DotChannel,
  type Product,
  type ScaledValue,
  type TensorValue,
  UNBOUNDED,
  type Value,
} from "./values.ts";

/** A byte tensor that a product reads. */
export function activationOf(ctx: Lowering, value: Value): TensorValue {
  if (value.kind === "constant") {
    refuse(
      "its first operand is constant",
      "Exchange the operands (transpose the product), so that weights come second.",
    );
  }
  const tensor = ctx.tensor(value);
  if (tensor.type !== "u8" && tensor.type !== "s8") {
    refuse(`its first operand is ${tensor.onnx}`, "Quantize it to uint8 or int8.");
  }
  return tensor;
}

export const COMPUTED = "Make them an initializer, or use MatMul, MatMulInteger or QLinearMatMul.";

/** Weights of a product. @throws Refusal for computed ones */
export function weightsAt(ctx: Lowering, node: OnnxNode, index: number): OnnxTensor {
  if (ctx.input(node, index).kind !== "constant") {
    refuse("its weights are computed", COMPUTED);
  }
  const tensor = ctx.constant(node, index, "weights");
  if (tensor.type !== "uint8" && tensor.type !== "int8") {
    refuse(`its weights are ${tensor.type}`, "Quantize weights to uint8 or int8.");
  }
  return tensor;
}

/** Stored zero point of an activation. */
export function storedZero(tensor: TensorValue, zero: number): number {
  return zero + (tensor.type === "s8" ? 128 : 0);
}

/** One zero point for the whole activation. */
export function activationZero(ctx: Lowering, node: OnnxNode, index: number, { onnx }: TensorValue): number {
  const zeros = zerosAt(ctx, node, index, onnx) ?? [];
  const [first = 0] = zeros;
  if (zeros.some((z) => z !== first)) {
    refuse("its activation has a zero point for each row", "Use one zero point for the whole activation.");
  }
  return first;
}

/** Value at a channel of a constant that holds one value, or one for each channel. */
export function perChannel(values: readonly number[], channels: number, what: string): (n: number) => number {
  if (values.length !== 1 && values.length !== channels) {
    refuse(
      `it has ${values.length} ${what}s for ${channels} output channels`,
      `Use one ${what}, or one a channel.`,
    );
  }
  return (n) => values[values.length === 1 ? 0 : n] as number;
}

/** A channel from weight values. @param at index of weight i */
export function dotChannel(
  tensor: OnnxTensor,
  zero: number,
  length: number,
  at: (i: number) => number,
): DotChannel {
  const shift = tensor.type === "int8" ? 128 : 0;
  const weights = Uint8Array.from({ length }, (_, i) => Number(tensor.data[at(i)]) + shift);
  return { weights, offset: zero + shift, bias: 0 };
}

/** `activation · weights` with ONNX MatMul shapes.
 *  @param zeros weight zero points: one, or one for each column (of each matrix) */
export function matrixProduct(
  ctx: Lowering,
  activation: TensorValue,
  zeroPoint: number,
  weights: OnnxTensor,
  zeros: readonly number[],
): Product {
  const vector = weights.dims.length === 1;
  const [k = 1, n = 1] = vector ? [...weights.dims, 1] : weights.dims.slice(-2);
  const batch = weights.dims.slice(0, -2);
  const matrices = count(batch);
  const inner = activation.dims.at(-1);
  if (inner !== k) refuse(`its inner dims are ${inner} and ${k}`, "Correct the shapes.");
  const zeroOf = perChannel(zeros, zeros.length === n ? n : matrices * n, "weight zero point");
  const channels: DotChannel[] = [];
  for (let b = 0; b < matrices; b++) {
    for (let column = 0; column < n; column++) {
      const zero = zeroOf(zeros.length === n ? column : b * n + column);
      channels.push(dotChannel(weights, zero, k, (i) => (b * k + i) * n + column));
    }
  }
  const shared = { kind: "dot", zeroPoint: storedZero(activation, zeroPoint), channels } as const;
  const rows = activation.dims.slice(0, -1);
  if (matrices === 1) {
    // A vector counts as a row, which the result does not have.
    const missing = weights.dims.length - Math.max(activation.dims.length, 2);
    const lead = new Array<number>(Math.max(0, missing)).fill(1);
    const dims = [...lead, ...rows, ...(vector ? [] : [n])];
    return { ...shared, activation: ctx.withLast(activation, k), groups: 1, rows, dims };
  }
  return batchedProduct(ctx, activation, shared, batch, n);
}

/** Several matrices: the result is stored [M, batch…, N], where each matrix is a group of channels. */
function batchedProduct(
  ctx: Lowering,
  activation: TensorValue,
  shared: Pick<Product, "kind" | "zeroPoint" | "channels">,
  batch: readonly number[],
  n: number,
): Product {
  const m = activation.dims.length < 2 ? 1 : (activation.dims.at(-2) as number);
  const k = activation.dims.at(-1) as number;
  const own = activation.dims.slice(0, -2);
  const rank = batch.length + 2;
  const layout = [rank - 2, ...batch.map((_, axis) => axis), rank - 1];
  const result = { ...shared, rows: [m], dims: [...batch, m, n], layout };
  if (count(own) === 1) return { ...result, activation: ctx.withLast(activation, k), groups: 1 };
  if (own.join() !== batch.join()) {
    refuse(`its batch dims are [${own}] and [${batch}]`, "Give both operands the same batch dims.");
  }
  const ordered = ctx.inLayout(activation, layout);
  return { ...result, activation: ordered, groups: count(batch) };
}

/** Emits a product that is read more than once, so that it is computed once. */
export function productResult(ctx: Lowering, node: OnnxNode, product: Product): Value {
  const shared = ctx.usesOf(node.outputs[0]) > 1;
  return shared ? emitProduct(ctx, product) : { kind: "product", product };
}

/** Weight scales in the order of a product's channels. */
function channelScales(product: Product, scales: readonly number[], columns: number): number[] {
  for (const scale of scales) checkScale(scale, "weight scale");
  if (scales.length === 1) return [...scales];
  if (scales.length === columns) return product.channels.map((_, i) => scales[i % columns] as number);
  perChannel(scales, product.channels.length, "weight scale");
  return [...scales];
}

/** True where no operand, or only the first one, is constant: what DOT cannot hold. */
export const isComputed = (a: Value, b: Value): boolean => a.kind === "constant" || b.kind !== "constant";

export function qLinearMatMul(ctx: Lowering, node: OnnxNode): Value {
  const [a, b] = [ctx.input(node, 0), ctx.input(node, 3)];
  const to = quantizationAt(ctx, node, 6, "output");
  if (isComputed(a, b)) {
    const [first, second] = [quantizationAt(ctx, node, 1, "first"), quantizationAt(ctx, node, 4, "second")];
    const factors = [
      { ...first, tensor: bytes(ctx, a) },
      { ...second, tensor: bytes(ctx, b) },
    ] as const;
    return quantizeScaled(ctx, scaledProduct(ctx, ...factors), to);
  }
  const activation = activationOf(ctx, a);
  const factor = checkScale(scalar(ctx.constant(node, 1, "scale"), "activation scale"), "activation scale");
  const weights = weightsAt(ctx, node, 3);
  const zeros = zerosAt(ctx, node, 5, weights.type) ?? [0];
  const product = matrixProduct(ctx, activation, activationZero(ctx, node, 2, activation), weights, zeros);
  const scale = channelScales(product, ctx.numbers(node, 4, "weight scale"), weights.dims.at(-1) as number);
  return quantizeProduct(ctx, product, factor, scale, to);
}

/** Requantizes a product whose channels are in the order of `scale`. */
export function quantizeProduct(
  ctx: Lowering,
  product: Product,
  factor: number,
  scale: readonly number[],
  to: ByteQuantization,
): TensorValue {
  // The channels of a batched product run along several axes, those of others along one: both are DOT's order.
  const { layout: _, ...plain } = product;
  const flat: Product = { ...plain, dims: [...product.rows, product.channels.length] };
  const axis = flat.dims.length - 1;
  const value: ScaledValue = { kind: "scaled", source: flat, scale, factor, axis, ...UNBOUNDED, fused: true };
  const tensor = quantizeScaled(ctx, value, to);
  const { dims, layout } = product;
  return { ...tensor, dims, ...(layout === undefined ? {} : { layout }) };
}

export function matMulInteger(ctx: Lowering, node: OnnxNode): Value {
  const [a, b] = [ctx.input(node, 0), ctx.input(node, 1)];
  if (isComputed(a, b)) {
    const factor = (value: Value, index: number) => {
      const tensor = bytes(ctx, value);
      const shift = computedZero(ctx, node, index);
      if (shift !== undefined) return { tensor, zero: 0, shift };
      return { tensor, zero: activationZero(ctx, node, index, tensor) };
    };
    return activationProduct(ctx, factor(a, 2), factor(b, 3));
  }
  const activation = activationOf(ctx, ctx.input(node, 0));
  const weights = weightsAt(ctx, node, 1);
  const zeros = zerosAt(ctx, node, 3, weights.type) ?? [0];
  const shift = computedZero(ctx, node, 2);
  if (shift !== undefined) {
    return withComputedZero(ctx, matrixProduct(ctx, activation, 0, weights, zeros), shift);
  }
  const zero = activationZero(ctx, node, 2, activation);
  return productResult(ctx, node, matrixProduct(ctx, activation, zero, weights, zeros));
}

/** Adds a constant along the channels of a product; undefined where it does not run along them. */
export function withBias(product: Product, bias: OnnxTensor): Product | undefined {
  const values = numbers(bias);
  const n = product.channels.length;
  const along = values.length === 1 || (bias.dims.at(-1) === n && values.length === n);
  if (!along || product.layout !== undefined || product.dims.at(-1) !== n) return undefined;
  const at = perChannel(values, n, "bias");
  const channels = product.channels.map((c, i) => ({
    ...c,
    bias: Number(BigInt.asIntN(32, BigInt(c.bias) + BigInt(at(i)))),
  }));
  const rank = Math.max(product.dims.length, bias.dims.length);
  const dims = [...new Array<number>(rank - product.dims.length).fill(1), ...product.dims];
  return { ...product, channels, dims };
}

export function qGemm(ctx: Lowering, node: OnnxNode): Value {
  const activation = transposed(activationOf(ctx, ctx.input(node, 0)), intAttribute(node, "transA", 0));
  const weights = matrix(weightsAt(ctx, node, 3), intAttribute(node, "transB", 0));
  const aScale = checkScale(scalar(ctx.constant(node, 1, "scale"), "activation scale"), "activation scale");
  const zeros = zerosAt(ctx, node, 5, weights.type) ?? [0];
  let product = matrixProduct(ctx, activation, activationZero(ctx, node, 2, activation), weights, zeros);
  const bias = ctx.optionalConstant(node, 6, "bias");
  if (bias !== undefined) {
    if (bias.type !== "int32") refuse(`its bias is ${bias.type}`, "Use an int32 bias.");
    product =
      withBias(product, bias) ?? refuse(`its bias has dims [${bias.dims}]`, "Use one bias for each column.");
  }
  if (ctx.optional(node, 7) === undefined)
    refuse("it has a float32 output", "Give it an output scale and zero point.");
  const factor = Math.fround(floatAttribute(node, "alpha", 1) * aScale);
  const scale = channelScales(product, ctx.numbers(node, 4, "weight scale"), weights.dims.at(-1) as number);
  return quantizeProduct(ctx, product, factor, scale, quantizationAt(ctx, node, 7, "output"));
}

export function transposed(tensor: TensorValue, yes: number): TensorValue {
  if (yes === 0) return tensor;
  const layout = tensor.layout === undefined ? [1, 0] : [0, 1];
  return { ...tensor, dims: [...tensor.dims].reverse(), layout };
}

export function matrix(tensor: OnnxTensor, transpose: number): OnnxTensor {
  if (tensor.dims.length !== 2)
    refuse(`its weights have rank ${tensor.dims.length}`, "Use weights of rank 2.");
  return transpose === 0 ? tensor : movedConstant(tensor, [1, 0]);
}
