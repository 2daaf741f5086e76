/** ConvTranspose of dequantized bytes: a convolution of the input with zero points between its elements. */

import { count, type OnnxNode, type OnnxTensor } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { biasOf } from "./bias.ts";
import { pickConstant } from "./constants.ts";
import { convProduct } from "./conv.ts";
import { intAttribute, intsAttribute, type Lowering, stringAttribute } from "./lowering.ts";
import { storedZero } from "./matmul.ts";
import { quantizedOperands } from "./qdq.ts";
import { moveValue, reshapeValue } from "./shape.ts";
import { type TensorValue, UNBOUNDED, type Value } from "./values.ts";
import { productOf } from "./wide.ts";

export function convTranspose(ctx: Lowering, node: OnnxNode): Value {
  const { activation, factor, zero, weights, scale, zeros, axis } = quantizedOperands(ctx, node);
  const groups = intAttribute(node, "group", 1);
  if (scale.length > 1 && (axis !== 1 || groups !== 1))
    refuse(
      `its weights have a scale for each index of axis ${axis}`,
      "Use one weight scale, or one an output channel of one group.",
    );
  const [channels = 1, perGroup = 1, ...kernel] = weights.dims;
  const spatial = activation.dims.slice(2);
  if (channels !== activation.dims[1] || kernel.length !== spatial.length || channels % groups !== 0)
    refuse(`its weights [${weights.dims}] do not fit its input [${activation.dims}]`, "Correct the shapes.");
  if (spatial.length !== 1 && spatial.length !== 2)
    refuse(`it has ${spatial.length} spatial axes`, "Use one or two.");
  const { strides, dilations, pads } = paddingOf(node, spatial, kernel);
  const attributes = new Map([
    ["group", { kind: "int", value: groups }],
    ["dilations", { kind: "ints", value: dilations }],
    ["pads", { kind: "ints", value: pads }],
  ] as const);
  const forward = { ...node, attributes };
  const turned = flipped(weights, groups);
  const outputs = perGroup * groups;
  const zeroOf =
    zeros.length === 1 || zeros.length === outputs
      ? zeros
      : refuse("its weight zero points do not fit", "Correct them.");
  const bias = ctx.optional(node, 2);
  const tensor = bias === undefined ? undefined : biasOf(bias, factor, scale);
  const { source, unit } = productOf(ctx, activation, zero, (operand, operandZero, takesBias) => {
    const apart = spread(ctx, operand, strides, operandZero);
    return convProduct(ctx, forward, apart, operandZero, turned, zeroOf, takesBias ? tensor : undefined);
  });
  return { kind: "scaled", source, scale, factor: factor * unit, axis: 1, ...UNBOUNDED, fused: true };
}

/** Pads of the convolution that gives the same: what the kernel reaches beyond each end, less the pads. */
function paddingOf(node: OnnxNode, spatial: readonly number[], kernel: readonly number[]) {
  const list = (name: string, otherwise: number, length = spatial.length): readonly number[] => {
    const values = intsAttribute(node, name) ?? new Array<number>(length).fill(otherwise);
    if (values.length !== length || values.some((v) => v < 0))
      refuse(`its ${name} are [${values}]`, "Correct them.");
    return values;
  };
  const [strides, dilations, extra] = [list("strides", 1), list("dilations", 1), list("output_padding", 0)];
  const given = list("pads", 0, 2 * spatial.length);
  const auto = stringAttribute(node, "auto_pad", "NOTSET");
  const shape = intsAttribute(node, "output_shape")?.slice(-spatial.length);
  if (strides.some((s) => s < 1) || dilations.some((d) => d < 1))
    refuse("its strides or dilations are 0", "Correct them.");
  const [before, after]: [number[], number[]] = [[], []];
  spatial.forEach((size, i) => {
    const [stride = 1, dilation = 1, k = 1, more = 0] = [strides[i], dilations[i], kernel[i], extra[i]];
    const reach = (k - 1) * dilation;
    let [start, end] = auto === "VALID" ? [0, 0] : [given[i] ?? 0, given[i + spatial.length] ?? 0];
    const wanted = shape?.[i] ?? (auto.startsWith("SAME") ? size * stride : undefined);
    if (wanted !== undefined) {
      const total = Math.max(0, (size - 1) * stride + more + reach + 1 - wanted);
      const less = Math.floor(total / 2);
      [start, end] = auto === "SAME_UPPER" ? [less, total - less] : [total - less, less];
    }
    if (start > reach || end > reach + more)
      refuse(`its pads are above its kernel's reach of ${reach}`, "Slice the result.");
    before.push(reach - start);
    after.push(reach - end + more);
  });
  return { strides, dilations, pads: [...before, ...after] };
}

/** Weights [in, out of a group, kernel…] as [out, in of a group, kernel…], the kernel from its end. */
function flipped(weights: OnnxTensor, groups: number): OnnxTensor {
  const [channels = 1, perGroup = 1, ...kernel] = weights.dims;
  const [taps, inner] = [count(kernel), channels / groups];
  const dims = [perGroup * groups, inner, ...kernel];
  const sources = Array.from({ length: count(dims) }, (_, i) => {
    const tap = taps - 1 - (i % taps);
    const at = Math.floor(i / taps);
    const [out, ci] = [Math.floor(at / inner), at % inner];
    return ((Math.floor(out / perGroup) * inner + ci) * perGroup + (out % perGroup)) * taps + tap;
  });
  return pickConstant(weights, dims, sources, 0);
}

/** The activation with `stride − 1` zero points between its elements. */
function spread(ctx: Lowering, tensor: TensorValue, strides: readonly number[], zero: number): TensorValue {
  if (strides.every((s) => s === 1)) return tensor;
  const [batch = 1, channels = 1, ...spatial] = tensor.dims;
  const rows = batch * channels;
  const apart = reshapeValue(ctx, tensor, [rows, ...spatial.flatMap((size) => [size, 1])]);
  // The second axis of each pair has one position: all others are outside of it.
  const dims = [rows, ...spatial.flatMap((size, i) => [size, strides[i] as number])];
  const axes = dims.map((dim, axis) => {
    const isGap = axis > 0 && axis % 2 === 0;
    return { dim: isGap ? 1 : dim, terms: [{ axis, factor: 1 }], offset: 0, checked: isGap };
  });
  const wide = moveValue(ctx, apart, dims, axes, { stored: storedZero(tensor, zero), value: zero });
  const whole = reshapeValue(ctx, wide, [
    batch,
    channels,
    ...spatial.map((size, i) => size * (strides[i] as number)),
  ]);
  const cut = [batch, channels, ...spatial.map((size, i) => (size - 1) * (strides[i] as number) + 1)];
  const plain = ctx.plainTensor(whole);
  const kept = plain.dims.map((dim, axis) => ({
    dim,
    terms: [{ axis, factor: 1 }],
    offset: 0,
    checked: false,
  }));
  return ctx.plainTensor(moveValue(ctx, plain, cut, kept));
}
