/** DOT as ONNX nodes: u8 times u8, which no CPU saturates. Source: docs/EXACT.md, section 3. */
import {
  DOT_VARIANTS,
  isActivationDot,
  isPlanesDot,
  isSumsDot,
  lastDim,
  NONE,
  rowCount,
  type TensorType,
  type WeightDescriptor,
  weightIndex,
} from "../program/form.ts";
import { type ChannelParameters, unpackDot } from "../program/weights.ts";
import type { GraphBuilder, Value } from "./graph.ts";
import { NotEmittable } from "./not-emittable.ts";
import { type Place, reshaped } from "./place.ts";
import { planesDot } from "./planes.ts";
import {
  biases,
  isBinary32Rule,
  limitedSums,
  parametersOf,
  requantized,
  scalesOf,
  withBiases,
} from "./requantize.ts";

export function dot(place: Place): Value {
  const { graph, model, step, value, shape } = place;
  if (isActivationDot(step)) return activations(place);
  const { dims } = model.program.weights[weightIndex(step.b)] as WeightDescriptor;
  const [n, k] = dims as [number, number];
  const channels = parametersOf(place);
  if (channels.some(({ weightOffset }) => weightOffset > 255))
    throw new NotEmittable("a weight offset is above 255");
  const [groups, m] = [step.k, rowCount(step.dims)];
  const bytes = unpackDot(model.weights[weightIndex(step.b)] as Uint8Array, n, k);
  const form = formOf(DOT_VARIANTS[step.variant] as (typeof DOT_VARIANTS)[number], channels, bytes, k);
  // onnxruntime packs weights of two axes once, others in each run.
  const batch = groups === 1 ? [] : [groups];
  const columns = transposed(bytes, groups, n / groups, k);
  const weights = graph.constant("uint8", [...batch, k, n / groups], columns);
  const product = (rows: Value): Value =>
    graph.node("MatMulInteger", [
      rows,
      weights,
      byte(graph, 0),
      zeroPoints(graph, channels, [...batch, 1, n / groups]),
    ]);
  if (isPlanesDot(step)) {
    const sums = planesDot(place, channels, product);
    if (isSumsDot(step)) return sums;
    if (step.type !== "s32") return requantized(graph, sums, channels, "integer");
    const limited = limitedSums(graph, sums, channels);
    return step.c === NONE ? limited : graph.node("Add", [limited, value(step.c)]);
  }
  const source = value(step.a);
  const from = shape(step.a).dims;
  if (groups === 1) {
    const rows = reshaped(graph, source, from, [m, k]);
    const result =
      form === "binary32" && isUniform(channels)
        ? fused(graph, rows, weights, channels)
        : finished(graph, product(rows), channels, form);
    return reshaped(graph, result, [m, n], step.dims);
  }
  const products = grouped(graph, source, from, [m, groups, k], product);
  const result = finished(graph, graph.reshape(products, [m, n]), channels, form);
  return reshaped(graph, result, [m, n], step.dims);
}

/** Each matrix of b is turned: onnxruntime multiplies rows with columns. */
function activations({ graph, step, value, shape }: Place): Value {
  const [a, b] = [shape(step.a), shape(step.b)];
  const [rows, n, k] = [rowCount(step.dims), lastDim(step.dims), lastDim(a.dims)];
  const matrices = rows / step.k;
  const left = reshaped(graph, value(step.a), a.dims, [matrices, step.k, k]);
  const right = reshaped(graph, value(step.b), b.dims, [matrices, n, k]);
  const zero = (type: TensorType): Value => byte(graph, type === "s8" ? 128 : 0);
  const turned = graph.node("Transpose", [right], { perm: [0, 2, 1] });
  const products = graph.node("MatMulInteger", [left, turned, zero(a.type), zero(b.type)]);
  return reshaped(graph, products, [matrices, step.k, n], step.dims);
}

const byte = (graph: GraphBuilder, value: number): Value => graph.constant("uint8", [], Uint8Array.of(value));

const offsetsOf = (channels: readonly ChannelParameters[]): Uint8Array =>
  Uint8Array.from(channels, ({ weightOffset }) => weightOffset);

/** Weight zero points: one, where all rows have the same, else of these dims. */
function zeroPoints(
  graph: GraphBuilder,
  channels: readonly ChannelParameters[],
  dims: readonly number[],
): Value {
  const offsets = offsetsOf(channels);
  const first = offsets[0] as number;
  return offsets.every((offset) => offset === first)
    ? byte(graph, first)
    : graph.constant("uint8", dims, offsets);
}

/** [m·G, K] as a batch of G products: [m, G, N/G], or of one row, which needs no transposition, [G, 1, N/G]. */
function grouped(
  graph: GraphBuilder,
  source: Value,
  from: readonly number[],
  [m, groups, k]: readonly [number, number, number],
  product: (rows: Value) => Value,
): Value {
  if (m === 1) return product(reshaped(graph, source, from, [groups, 1, k]));
  const order = { perm: [1, 0, 2] };
  const rows = reshaped(graph, source, from, [m, groups, k]);
  return graph.node("Transpose", [product(graph.node("Transpose", [rows], order))], order);
}

type Form = (typeof DOT_VARIANTS)[number];

function finished(
  graph: GraphBuilder,
  products: Value,
  channels: readonly ChannelParameters[],
  form: Form,
): Value {
  const acc = withBiases(graph, products, channels);
  return form === "s32" ? acc : requantized(graph, acc, channels, form);
}

/** The binary32 form where that is the same function: it is one node. */
function formOf(form: Form, channels: readonly ChannelParameters[], bytes: Uint8Array, k: number): Form {
  if (form !== "integer") return form;
  const isRule = channels.every((channel, n) => {
    let [low, high] = [channel.bias, channel.bias];
    for (const w of bytes.subarray(n * k, (n + 1) * k)) {
      const largest = 255 * (w - channel.weightOffset);
      if (largest < 0) low += largest;
      else high += largest;
    }
    return isBinary32Rule(channel, low, high);
  });
  return isRule ? "binary32" : "integer";
}

/** One zero point, and clamps that Clip takes, for all channels. */
function isUniform(channels: readonly ChannelParameters[]): boolean {
  const { zeroPoint, lower, upper } = channels[0] as ChannelParameters;
  return (
    lower <= upper &&
    channels.every((c) => c.zeroPoint === zeroPoint && c.lower === lower && c.upper === upper)
  );
}

/** Product and requantization by com.microsoft QGemm, whose scales of 1 leave each channel's scale as it is. */
function fused(
  graph: GraphBuilder,
  rows: Value,
  weights: Value,
  channels: readonly ChannelParameters[],
): Value {
  const { zeroPoint, lower, upper } = channels[0] as ChannelParameters;
  const one = graph.float(1);
  const y = graph.microsoft("QGemm", [
    rows,
    one,
    byte(graph, 0),
    weights,
    graph.constant("float", [channels.length], scalesOf(channels)),
    graph.constant("uint8", [channels.length], offsetsOf(channels)),
    biases(graph, channels),
    one,
    byte(graph, zeroPoint),
  ]);
  if (lower === 0 && upper === 255) return y;
  return graph.node("Clip", [y, byte(graph, lower), byte(graph, upper)]);
}

/** [G, N, K] → [G, K, N] */
function transposed(bytes: Uint8Array, groups: number, n: number, k: number): Uint8Array {
  const out = new Uint8Array(bytes.length);
  for (let g = 0; g < groups; g++) {
    for (let row = 0; row < n; row++) {
      for (let i = 0; i < k; i++) out[(g * k + i) * n + row] = bytes[(g * n + row) * k + i] as number;
    }
  }
  return out;
}
