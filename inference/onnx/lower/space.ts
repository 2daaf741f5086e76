/** Operators that lay out or repeat pixels: DepthToSpace, SpaceToDepth, Resize and Upsample to the nearest one. */

import { count, numbers, type OnnxNode, type OnnxTensor } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { gatherPositions } from "./gather.ts";
import { intAttribute, intsAttribute, type Lowering, normalAxis, stringAttribute } from "./lowering.ts";
import { moveValue, reshapeValue, structural, transposeValue } from "./shape.ts";
import { dimsOf, type Value } from "./values.ts";

function imageOf(ctx: Lowering, node: OnnxNode): { value: Value; block: number; dims: readonly number[] } {
  const value = ctx.input(node, 0);
  const dims = dimsOf(value);
  const block = intAttribute(node, "blocksize", 0);
  if (dims.length !== 4 || block < 1) {
    refuse(
      `its input is [${dims}], its blocksize ${block}`,
      "Use [batch, channels, height, width] and a blocksize.",
    );
  }
  return { value, block, dims };
}

export function depthToSpace(ctx: Lowering, node: OnnxNode): Value {
  const { value, block: b, dims } = imageOf(ctx, node);
  const [n = 1, c = 1, h = 1, w = 1] = dims;
  const rest = c / (b * b);
  if (!Number.isInteger(rest)) refuse(`it has ${c} channels for blocks of ${b * b}`, "Correct the shapes.");
  const isFirst = stringAttribute(node, "mode", "DCR") === "CRD";
  const [apart, perm] = isFirst
    ? [
        [n, rest, b, b, h, w],
        [0, 1, 4, 2, 5, 3],
      ]
    : [
        [n, b, b, rest, h, w],
        [0, 3, 4, 1, 5, 2],
      ];
  const turned = transposeValue(ctx, reshapeValue(ctx, value, apart), perm);
  return reshapeValue(ctx, turned, [n, rest, h * b, w * b]);
}

export function spaceToDepth(ctx: Lowering, node: OnnxNode): Value {
  const { value, block: b, dims } = imageOf(ctx, node);
  const [n = 1, c = 1, h = 1, w = 1] = dims;
  if (h % b !== 0 || w % b !== 0) refuse(`its image is ${h}x${w} for blocks of ${b}`, "Correct the shapes.");
  const apart = reshapeValue(ctx, value, [n, c, h / b, b, w / b, b]);
  return reshapeValue(ctx, transposeValue(ctx, apart, [0, 3, 5, 1, 2, 4]), [n, c * b * b, h / b, w / b]);
}

const f = Math.fround;

/** Source coordinate of a position, computed in binary32 as onnxruntime does. */
const COORDINATES: Readonly<
  Record<string, (at: number, scale: number, size: number, from: number) => number>
> = {
  half_pixel: (at, scale) => f(f(f(at + 0.5) / scale) - 0.5),
  half_pixel_symmetric: (at, scale, size, from) => {
    const adjustment = f(size / f(scale * from));
    const offset = f(f(from / 2) * f(1 - adjustment));
    return f(offset + f(f(f(at + 0.5) / scale) - 0.5));
  },
  pytorch_half_pixel: (at, scale, size) => (size > 1 ? f(f(f(at + 0.5) / scale) - 0.5) : 0),
  align_corners: (at, _, size, from) => (size === 1 ? 0 : f(f(at * f(from - 1)) / f(size - 1))),
  asymmetric: (at, scale) => f(at / scale),
};

const NEAREST: Readonly<Record<string, (x: number) => number>> = {
  round_prefer_floor: (x) => Math.ceil(x - 0.5),
  round_prefer_ceil: (x) => Math.floor(x + 0.5),
  floor: Math.floor,
  ceil: Math.ceil,
};

interface Resized {
  readonly axis: number;
  readonly size: number;
  readonly scale: number;
}

function resizedAxes(ctx: Lowering, node: OnnxNode, dims: readonly number[]): Resized[] {
  const given = intsAttribute(node, "axes") ?? dims.map((_, i) => i);
  const axes = given.map((axis) => normalAxis(axis, dims.length));
  const list = (tensor: OnnxTensor | undefined): number[] | undefined =>
    tensor === undefined || count(tensor.dims) === 0 ? undefined : numbers(tensor);
  const isOld = node.op === "Upsample" || ctx.graph.opset < 11;
  const scales = list(ctx.optionalConstant(node, isOld ? 1 : 2, "scales"));
  const sizes = isOld ? undefined : list(ctx.optionalConstant(node, 3, "sizes"));
  if (sizes !== undefined && stringAttribute(node, "keep_aspect_ratio_policy", "stretch") !== "stretch")
    refuse("it keeps the aspect ratio", "Give the sizes that come of it.");
  return axes.map((axis, i) => {
    const from = dims[axis] as number;
    const size = sizes?.[i] ?? Math.floor(f(from * (scales?.[i] ?? 1)));
    if (!(size >= 1)) refuse(`it resizes axis ${axis} to ${size}`, "Use sizes of at least 1.");
    return { axis, size, scale: scales?.[i] ?? f(size / from) };
  });
}

export function resize(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const mode = stringAttribute(node, "mode", "nearest");
  if (mode !== "nearest")
    refuse(`its mode is ${mode}`, "Use nearest: weights of other modes are float32 sums.");
  const isOld = node.op === "Upsample" || ctx.graph.opset < 11;
  const by = stringAttribute(node, "coordinate_transformation_mode", isOld ? "asymmetric" : "half_pixel");
  const rounding = stringAttribute(node, "nearest_mode", isOld ? "floor" : "round_prefer_floor");
  const [coordinate, nearest] = [COORDINATES[by], NEAREST[rounding]];
  if (coordinate === undefined || nearest === undefined)
    return refuse(`it resizes by ${by}, ${rounding}`, `Use ${Object.keys(COORDINATES).join(", ")}.`);
  return resizedAxes(ctx, node, dimsOf(value)).reduce((resized, { axis, size, scale }) => {
    const from = dimsOf(resized)[axis] as number;
    const positions = Array.from({ length: size }, (_, at) =>
      Math.min(Math.max(nearest(coordinate(at, scale, size, from)), 0), from - 1),
    );
    if (positions.every((p, i) => p === i) && size === from) return resized;
    const times = size / from;
    const isRepeated = Number.isInteger(times) && positions.every((p, i) => p === Math.floor(i / times));
    return isRepeated
      ? repeated(ctx, resized, axis, times)
      : gatherPositions(ctx, resized, positions, [size], axis);
  }, value);
}

/** Each position of an axis several times, one move. */
function repeated(ctx: Lowering, value: Value, axis: number, times: number): Value {
  const dims = dimsOf(value);
  const lead = count(dims.slice(0, axis));
  const size = dims[axis] as number;
  const tail = count(dims.slice(axis + 1));
  const flat = reshapeValue(ctx, value, [lead, size, tail]);
  const sources = [lead, size, tail].map((dim, i) => ({
    dim,
    terms: [{ axis: i === 2 ? 3 : i, factor: 1 }],
    offset: 0,
    checked: false,
  }));
  const wide = structural(ctx, flat, (inner) => moveValue(ctx, inner, [lead, size, times, tail], sources));
  return reshapeValue(ctx, wide, [...dims.slice(0, axis), size * times, ...dims.slice(axis + 1)]);
}
