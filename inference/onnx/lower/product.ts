/** Products with constant weights: one DOT, or parts of it that are added where a row is longer than DOT takes. */

import type { Ends } from "../../profile/range.ts";
import { MAX_DOT_LENGTH, MAX_ELEMENTS } from "../../program/check.ts";
import {
  elementCount,
  type Operand,
  rowCount,
  type TensorType,
  type WeightDescriptor,
} from "../../program/form.ts";
import { type ChannelParameters, packDot } from "../../program/weights.ts";
import { coordinates } from "../axes.ts";
import { refuse } from "../refusal.ts";
import type { Lowering } from "./lowering.ts";
import { chooseForm, parametersOf, type Rules } from "./requantize.ts";
import type { DotChannel, Product, TensorValue } from "./values.ts";

/** Parameters that only some steps read. */
export const PLAIN_CHANNEL = {
  multiplier: 0,
  addend: 0n,
  shift: 0,
  scaleBits: 0,
  zeroPoint: 0,
  lower: 0,
  upper: 0,
};

/** `bias − za·Σ(w − o)`: what DOT adds to the sum over stored bytes, exactly. */
function foldedBias(channel: DotChannel, zeroPoint: number): number {
  let sum = 0;
  for (const w of channel.weights) sum += w - channel.offset;
  return channel.bias - zeroPoint * sum;
}

const lengthOf = (product: Product): number => product.channels[0]?.weights.length ?? 0;

function dotParameters(product: Product): ChannelParameters[] {
  return product.channels.map((channel) => ({
    ...PLAIN_CHANNEL,
    bias: foldedBias(channel, product.zeroPoint) | 0,
    weightOffset: channel.offset,
  }));
}

function weightsOf(ctx: Lowering, product: Product, parameters: readonly ChannelParameters[]): Operand {
  return ctx.builder.weight(descriptorOf(product), packed(product, parameters));
}

function descriptorOf(product: Product): WeightDescriptor {
  return { layout: "dot", type: "u8", dims: [product.channels.length, lengthOf(product)] };
}

function packed(product: Product, parameters: readonly ChannelParameters[]): Uint8Array {
  const k = lengthOf(product);
  const stored = new Uint8Array(product.channels.length * k);
  product.channels.forEach((channel, n) => {
    stored.set(channel.weights, n * k);
  });
  return packDot(stored, k, parameters);
}

/** s32 accumulators. */
export function emitProduct(ctx: Lowering, product: Product): TensorValue {
  const operand = lengthOf(product) > MAX_DOT_LENGTH ? emitParts(ctx, product) : emitDot(ctx, product);
  return tensorOf(product, operand, "s32");
}

function tensorOf(product: Product, operand: Operand, type: "s32" | "u8" | "s8"): TensorValue {
  const { dims, layout } = product;
  const onnx = type === "s32" ? "int32" : type === "u8" ? "uint8" : "int8";
  return { kind: "tensor", operand, type, onnx, dims, ...(layout === undefined ? {} : { layout }) };
}

function emitDot(ctx: Lowering, product: Product, form: "s32" | "planes" = "s32"): Operand {
  const { activation, groups, rows } = product;
  return ctx.builder.dot(
    form,
    "s32",
    activation,
    weightsOf(ctx, product, dotParameters(product)),
    groups,
    rows,
  );
}

/** s32 accumulators of numbers of 16 bits in s32: each part's numbers become planes of bytes.
 *  @param lift of a number to 0 or above
 *  @returns undefined where the planes are too large for a tensor, or import does not prove that what is computed on the
 *  way to the accumulators fits s32 */
export function emitPlanes(ctx: Lowering, product: Product, lift: number): TensorValue | undefined {
  if (2 * elementCount(ctx.builder.shape(product.activation).dims) > MAX_ELEMENTS) return undefined;
  const zeroPoint = product.zeroPoint + lift;
  const parts = lengthOf(product) > MAX_DOT_LENGTH ? partsOf(ctx, product) : [product];
  // A bias that wraps moves every bound of its sums alike, into s32 as well as out of it.
  const biases = parts.flatMap(({ channels }) => channels.map((channel) => foldedBias(channel, zeroPoint)));
  if (!biases.every(isS32)) return undefined;
  const lifted = parts.map((part) => ({
    ...part,
    activation: planesOf(ctx, part.activation, lift),
    zeroPoint,
  }));
  let [low, high] = [0, 0];
  for (const part of lifted) {
    const { activation, groups, rows } = part;
    const weights = { descriptor: descriptorOf(part), bytes: packed(part, dotParameters(part)) };
    const bounds = ctx.builder.accumulators(activation, groups, rows, weights, "planes");
    const [least, most] = [
      bounds.low.reduce((a, b) => Math.min(a, b)),
      bounds.high.reduce((a, b) => Math.max(a, b)),
    ];
    low += least;
    high += most;
    if (![least, most, low, high].every(isS32)) return undefined;
  }
  return tensorOf(
    product,
    added(
      ctx,
      lifted.map((part) => emitDot(ctx, part, "planes")),
    ),
    "s32",
  );
}

const isS32 = (x: number): boolean => x >= -(2 ** 31) && x < 2 ** 31;

const planesOf = (ctx: Lowering, numbers: Operand, lift: number): Operand =>
  ctx.once(`${numbers} planes`, () =>
    ctx.builder.planes(numbers, [{ ...PLAIN_CHANNEL, bias: lift, multiplier: 1, weightOffset: 0 }]),
  );

function emitParts(ctx: Lowering, product: Product): Operand {
  return added(
    ctx,
    partsOf(ctx, product).map((part) => emitDot(ctx, part)),
  );
}

function added(ctx: Lowering, sums: readonly Operand[]): Operand {
  const [first, ...more] = sums;
  if (first === undefined) return refuse("its inner dimension is 0", "Export the model again.");
  return more.reduce((sum, part) => ctx.builder.arith("add", "s32", sum, part), first);
}

/** Parts of at most MAX_DOT_LENGTH, whole words each, in order. */
function partsOf(ctx: Lowering, product: Product): Product[] {
  const { builder } = ctx;
  const k = lengthOf(product);
  const parts = Math.ceil(k / MAX_DOT_LENGTH);
  const width = Math.min(MAX_DOT_LENGTH, 32 * Math.ceil(k / parts / 32));
  const { dims } = builder.shape(product.activation);
  const rows = rowCount(dims);
  const all: Product[] = [];
  for (let from = 0; from < k; from += width) {
    const length = Math.min(width, k - from);
    const axes = [
      { dim: rows, terms: [{ axis: 0, factor: 1 }], offset: 0, checked: false },
      { dim: k, terms: [{ axis: 1, factor: 1 }], offset: from, checked: false },
    ];
    const activation = ctx.once(`${product.activation} ${from} to ${from + length}`, () =>
      builder.move(product.activation, [rows, length], coordinates(axes, [rows, length])),
    );
    const channels = product.channels.map((channel) => ({
      ...channel,
      weights: channel.weights.slice(from, from + length),
      bias: from === 0 ? channel.bias : 0,
    }));
    all.push({ ...product, activation, channels });
  }
  return all;
}

/** Bytes: accumulators requantized in the same step, or after the parts are added. */
export function emitRequantized(
  ctx: Lowering,
  product: Product,
  type: Extract<TensorType, "u8" | "s8">,
  rules: Rules,
): TensorValue {
  if (lengthOf(product) > MAX_DOT_LENGTH) {
    return requantizeTensor(ctx, emitProduct(ctx, product), type, rules);
  }
  const { builder } = ctx;
  const plain = dotParameters(product);
  const { low, high } = builder.accumulators(product.activation, product.groups, product.rows, {
    descriptor: descriptorOf(product),
    bytes: packed(product, plain),
  });
  const n = product.channels.length;
  const bounds = channelBounds(low, high, n);
  const chosen = chooseForm(ctx, rules, bounds);
  const parameters = plain.map((p, i) => ({
    ...p,
    ...parametersOf(chosen.channels[i % chosen.channels.length]),
  }));
  const weights = weightsOf(ctx, product, parameters);
  const operand = builder.dot(chosen.form, type, product.activation, weights, product.groups, product.rows);
  return tensorOf(product, operand, type);
}

/** REQUANT of an s32 tensor; per-channel rules run along its last stored axis. */
export function requantizeTensor(
  ctx: Lowering,
  tensor: TensorValue,
  type: Extract<TensorType, "u8" | "s8">,
  rules: Rules,
): TensorValue {
  const { builder } = ctx;
  const { dims } = builder.shape(tensor.operand);
  const n = rules.list.length;
  const { low, high } = builder.range(tensor.operand);
  const bounds =
    low.length === elementCount(dims) ? channelBounds(low, high, n) : channelBounds(low, high, 1);
  const all = bounds.length === n ? bounds : rules.list.map(() => bounds[0] as readonly [number, number]);
  const chosen = chooseForm(ctx, rules, all);
  const channels = chosen.channels.map((c) => ({
    ...PLAIN_CHANNEL,
    ...parametersOf(c),
    bias: 0,
    weightOffset: 0,
  }));
  const operand = builder.requant(tensor.operand, chosen.form, type, channels);
  return { ...tensor, operand, type, onnx: type === "u8" ? "uint8" : "int8" };
}

/** Hull of each channel's accumulators; element i belongs to channel i mod n. */
function channelBounds(low: Ends, high: Ends, n: number): (readonly [number, number])[] {
  const bounds = Array.from(
    { length: n },
    () => [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY] as [number, number],
  );
  for (let i = 0; i < low.length; i++) {
    const bound = bounds[i % n] as [number, number];
    bound[0] = Math.min(bound[0], low[i] as number);
    bound[1] = Math.max(bound[1], high[i] as number);
  }
  return bounds;
}
