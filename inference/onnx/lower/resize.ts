/** Resize and Upsample: to the nearest element, or linear and cubic sums of float32 along one axis after the other. */

import { axisDims } from "../axes.ts";
import { count, numbers, type OnnxNode, type OnnxTensor } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { makeTensor } from "./constants.ts";
import { elementwise } from "./elementwise.ts";
import { gatherPositions, movesOf } from "./gather.ts";
import { intAttribute, intsAttribute, type Lowering, normalAxis, stringAttribute } from "./lowering.ts";
import { clamp, cubicTaps, linearTaps, type Resized, type Tap } from "./taps.ts";
import { dimsOf, typeOf, type Value } from "./values.ts";

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
  tf_half_pixel_for_nn: (at, scale) => f(f(at + 0.5) / scale),
};

const NEAREST: Readonly<Record<string, (x: number) => number>> = {
  round_prefer_floor: (x) => Math.ceil(x - 0.5),
  round_prefer_ceil: (x) => Math.floor(x + 0.5),
  floor: Math.floor,
  ceil: Math.ceil,
};

function resizedAxes(ctx: Lowering, node: OnnxNode, dims: readonly number[], isOld: boolean): Resized[] {
  const by = stringAttribute(node, "coordinate_transformation_mode", isOld ? "asymmetric" : "half_pixel");
  const coordinate =
    COORDINATES[by] ?? refuse(`it resizes by ${by}`, `Use ${Object.keys(COORDINATES).join(", ")}.`);
  const given = intsAttribute(node, "axes") ?? dims.map((_, i) => i);
  const axes = given.map((axis) => normalAxis(axis, dims.length));
  const list = (tensor: OnnxTensor | undefined): number[] | undefined =>
    tensor === undefined || count(tensor.dims) === 0 ? undefined : numbers(tensor);
  const scales = list(ctx.optionalConstant(node, isOld ? 1 : 2, "scales"));
  const sizes = isOld ? undefined : list(ctx.optionalConstant(node, 3, "sizes"));
  if (sizes !== undefined && stringAttribute(node, "keep_aspect_ratio_policy", "stretch") !== "stretch")
    refuse("it keeps the aspect ratio", "Give the sizes that come of it.");
  return axes.map((axis, i) => {
    const from = dims[axis] as number;
    const size = sizes?.[i] ?? Math.floor(f(from * (scales?.[i] ?? 1)));
    if (!(size >= 1)) refuse(`it resizes axis ${axis} to ${size}`, "Use sizes of at least 1.");
    const scale = scales?.[i] ?? f(size / from);
    return {
      axis,
      from,
      size,
      scale,
      coordinates: Array.from({ length: size }, (_, at) => coordinate(at, scale, size, from)),
    };
  });
}

export function resize(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const isOld = node.op === "Upsample" || ctx.graph.opset < 11;
  const axes = resizedAxes(ctx, node, dimsOf(value), isOld);
  const mode = stringAttribute(node, "mode", "nearest");
  if (mode === "nearest") return toNearest(ctx, node, value, axes, isOld);
  if (stringAttribute(node, "coordinate_transformation_mode", "") === "align_corners") {
    for (const { axis, from, size, scale } of axes) {
      if (Math.abs(from * scale - size) > 1e-3)
        refuse(
          `it resizes axis ${axis} of ${from} by ${scale} with align_corners, where the standard and onnxruntime differ`,
          "Give sizes in place of scales.",
        );
    }
  }
  const taps = mode === "linear" ? linearTaps : mode === "cubic" ? cubicTaps(node) : undefined;
  if (taps === undefined) return refuse(`its mode is ${mode}`, "Use nearest, linear or cubic.");
  if (intAttribute(node, "antialias", 0) !== 0)
    refuse("it smooths (antialias)", "Export it without antialias.");
  if (typeOf(value) !== "float32") {
    refuse(
      `its mode is ${mode} of ${typeOf(value)}`,
      "Put DequantizeLinear before it and QuantizeLinear behind it.",
    );
  }
  return axes.reduce<Value>((resized, axis) => weighted(ctx, resized, axis, taps(axis)), value);
}

function toNearest(
  ctx: Lowering,
  node: OnnxNode,
  value: Value,
  axes: readonly Resized[],
  isOld: boolean,
): Value {
  const rounding = stringAttribute(node, "nearest_mode", isOld ? "floor" : "round_prefer_floor");
  const nearest =
    NEAREST[rounding] ?? refuse(`it resizes by ${rounding}`, `Use ${Object.keys(NEAREST).join(", ")}.`);
  return axes.reduce((resized, { axis, size, from, coordinates }) => {
    const positions = coordinates.map((x) => clamp(nearest(x), 0, from - 1));
    if (positions.every((p, i) => p === i) && size === from) return resized;
    return gatherPositions(ctx, resized, positions, [size], axis);
  }, value);
}

/** The sum of the taps from left to right, each a product. */
function weighted(
  ctx: Lowering,
  value: Value,
  { axis, from, size, coordinates }: Resized,
  taps: readonly Tap[],
): Value {
  if (size === from && coordinates.every((x, i) => x === i)) return value;
  const rank = dimsOf(value).length;
  const margin = taps.length / 2;
  const held = taps.map(({ positions }) => positions.map((p) => clamp(p, 0, from - 1)));
  const shifted = taps.map(({ positions }) => positions.map((p) => p + margin));
  const moves = (lists: readonly (readonly number[])[]): number =>
    lists.reduce((n, list) => n + movesOf(list), 0);
  const padding = [
    ...new Array<number>(margin).fill(0),
    ...Array.from({ length: from }, (_, i) => i),
    ...new Array<number>(margin).fill(from - 1),
  ];
  const isPadded = moves(shifted) + movesOf(padding) < moves(held);
  const real = ctx.tensor(value);
  const source = isPadded ? gatherPositions(ctx, real, padding, [padding.length], axis) : real;
  let sum: Value | undefined;
  for (const [i, { weights }] of taps.entries()) {
    const element = gatherPositions(ctx, source, (isPadded ? shifted : held)[i] as number[], [size], axis);
    const weight: Value = {
      kind: "constant",
      tensor: makeTensor("float32", axisDims(size, axis, rank), weights),
    };
    const product = elementwise(ctx, [element, weight], "float32", ([x = 0, w = 0]) =>
      ctx.builder.float("mul", "f32", x, w),
    );
    sum =
      sum === undefined
        ? product
        : elementwise(ctx, [sum, product], "float32", ([x = 0, y = 0]) =>
            ctx.builder.float("add", "f32", x, y),
          );
  }
  return sum as Value;
}
