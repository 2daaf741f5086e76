/** Split, Expand and Tile: parts and repetitions, which MOVE reads from one source. */

import { MAX_RANK } from "../../program/encode.ts";
import { coordinates } from "../axes.ts";
import { broadcastDims } from "../builder.ts";
import { count, numbers, type OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { intAttribute, intsAttribute, type Lowering, normalAxis } from "./lowering.ts";
import { inOrder, moveValue, reshapeValue, structural } from "./shape.ts";
import { dimsOf, type TensorValue, type Value } from "./values.ts";

export function split(ctx: Lowering, node: OnnxNode): Value[] {
  const value = ctx.input(node, 0);
  const dims = dimsOf(value);
  const axis = normalAxis(intAttribute(node, "axis", 0), dims.length);
  const size = dims[axis] as number;
  const given = ctx.optionalConstant(node, 1, "split");
  const sizes =
    intsAttribute(node, "split") ??
    (given === undefined ? equalParts(size, node.outputs.length) : numbers(given));
  if (sizes.length !== node.outputs.length || sizes.reduce((a, b) => a + b, 0) !== size) {
    refuse(`it splits ${size} into [${sizes}] for ${node.outputs.length} outputs`, "Correct the sizes.");
  }
  let offset = 0;
  return sizes.map((part) => {
    const sources = inOrder(dims);
    sources[axis] = { dim: size, terms: [{ axis, factor: 1 }], offset, checked: false };
    offset += part;
    const out = dims.map((dim, i) => (i === axis ? part : dim));
    return structural(ctx, value, (inner) => moveValue(ctx, inner, out, sources));
  });
}

/** As equal as they can be, the last one smaller. */
function equalParts(size: number, parts: number): number[] {
  const part = Math.ceil(size / parts);
  return Array.from({ length: parts }, (_, i) => Math.min(part, size - i * part));
}

export function expand(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const out = broadcastDims(dimsOf(value), ctx.numbers(node, 1, "shape"));
  const missing = out.length - dimsOf(value).length;
  const raised = reshapeValue(ctx, value, [...new Array<number>(missing).fill(1), ...dimsOf(value)]);
  const sources = dimsOf(raised).map((dim, axis) => ({
    dim,
    terms: dim === 1 ? [] : [{ axis, factor: 1 }],
    offset: 0,
    checked: false,
  }));
  return structural(ctx, raised, (inner) => moveValue(ctx, inner, out, sources));
}

export function tile(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const dims = dimsOf(value);
  const repeats = ctx.numbers(node, 1, "repeats");
  if (repeats.length !== dims.length || repeats.some((n) => n < 1))
    refuse(`it repeats [${dims}] by [${repeats}]`, "Give one repetition of at least 1 for each axis.");
  return tiled(ctx, value, repeats);
}

function tiled(ctx: Lowering, value: Value, repeats: readonly number[]): Value {
  const dims = dimsOf(value);
  const twice = dims.flatMap((dim, axis) => (dim > 1 && (repeats[axis] as number) > 1 ? [axis] : []));
  if (twice.length > 1 && dims.length + twice.length > MAX_RANK) {
    const [first] = twice;
    const once = tiled(
      ctx,
      value,
      repeats.map((n, axis) => (axis === first ? n : 1)),
    );
    return tiled(
      ctx,
      once,
      repeats.map((n, axis) => (axis === first ? 1 : n)),
    );
  }
  const out = dims.map((dim, axis) => dim * (repeats[axis] as number));
  // Each repeated axis as two: the repetition, which moves nothing, and the position inside of it.
  const apart: number[] = [];
  const sources = dims.map((dim, axis) => {
    if ((repeats[axis] as number) > 1 && dim > 1) apart.push(repeats[axis] as number);
    const at = apart.push(dim > 1 ? dim : (repeats[axis] as number)) - 1;
    return { dim, terms: dim > 1 ? [{ axis: at, factor: 1 }] : [], offset: 0, checked: false };
  });
  return structural(ctx, value, (inner) => {
    if (inner.kind === "constant") return reshapeValue(ctx, moveValue(ctx, inner, apart, sources), out);
    const tensor = ctx.tensor(inner);
    const order = tensor.layout ?? dims.map((_, axis) => axis);
    const stored = order.map((axis) => sources[axis] as (typeof sources)[number]);
    const target = count(apart) === 1 ? [1] : apart;
    const operand = ctx.builder.move(tensor.operand, target, coordinates(stored, target));
    const { layout: _, ...rest } = tensor;
    return { ...rest, operand, dims: out } satisfies TensorValue;
  });
}
