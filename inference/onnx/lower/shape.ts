/** Operators that only move elements: Reshape, Flatten, Transpose, Squeeze, Unsqueeze, Slice, Concat, Pad, Split of constants. */

import { coordinates, fits, type SourceAxis } from "../axes.ts";
import { composed, type MoveDescription } from "../compose.ts";
import { count, numbers, type OnnxNode, type OnnxTensor } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { MAX_ONNX_RANK } from "../tensor.ts";
import { checkMade, makeTensor, movedConstant, pickConstant } from "./constants.ts";
import { intAttribute, intsAttribute, type Lowering, normalAxis } from "./lowering.ts";
import { type DequantizedValue, dimsOf, type TensorValue, typeOf, type Value } from "./values.ts";

export const inOrder = (dims: readonly number[]): SourceAxis[] =>
  dims.map((dim, axis) => ({ dim, terms: [{ axis, factor: 1 }], offset: 0, checked: false }));

/** Applies a move to what a float32 value is a function of, where the move keeps elements apart. */
export function structural(ctx: Lowering, value: Value, move: (value: Value) => Value): Value {
  if (value.kind === "dequantized" && value.scale.length === 1) {
    return { ...value, source: asSource(ctx, move(value.source)) };
  }
  if (value.kind === "mapped") return { ...value, source: ctx.tensor(move(value.source)) };
  if (value.kind === "constant") return move(value);
  return move(ctx.tensor(value.kind === "dequantized" ? realConstant(ctx, value) : value));
}

export function asSource(ctx: Lowering, value: Value): DequantizedValue["source"] {
  return value.kind === "constant" ? value : ctx.tensor(value);
}

/** Dequantized with a scale for each index of an axis: moved as float32. */
function realConstant(ctx: Lowering, value: DequantizedValue): Value {
  return ctx.tensor(value);
}

/** Same elements with other dims. */
export function reshapeValue(ctx: Lowering, value: Value, dims: readonly number[]): Value {
  if (count(dims) !== count(dimsOf(value))) {
    refuse(`it reshapes [${dimsOf(value)}] to [${dims}]`, "Correct the shape.");
  }
  if (dims.length > MAX_ONNX_RANK)
    refuse(`its result has rank ${dims.length}`, `Use ranks up to ${MAX_ONNX_RANK}.`);
  return structural(ctx, value, (inner) => {
    if (inner.kind === "constant") return { kind: "constant", tensor: { ...inner.tensor, dims } };
    return { ...ctx.plainTensor(inner), dims };
  });
}

/** Each output element from one source position. @param axes by ONNX axis of the source */
export function moveValue(
  ctx: Lowering,
  value: Value,
  dims: readonly number[],
  axes: readonly SourceAxis[],
  pad: { readonly stored: number; readonly value: number } = { stored: 0, value: 0 },
): Value {
  if (dims.some((dim) => dim < 1))
    refuse(`its result has the dims [${dims}]`, "Empty tensors are not supported.");
  if (value.kind === "constant") {
    checkMade(ctx.builder.budget, dims);
    return { kind: "constant", tensor: moveConstant(value.tensor, dims, axes, pad.value) };
  }
  const tensor = ctx.tensor(value);
  const own = { axes, dims, pad: pad.stored };
  const origin = ctx.originOf(tensor);
  const both = origin === undefined ? undefined : composed(origin.move, own);
  if (both !== undefined && origin !== undefined && isOneMove(origin.source, both))
    return emitMove(ctx, origin.source, both);
  const parts = isOneMove(tensor, own) ? [own] : (halves(own, tensor.dims) ?? [own]);
  const [first, second] = parts;
  const moved = emitMove(ctx, tensor, first as MoveDescription);
  return second === undefined ? moved : moveValue(ctx, moved, second.dims, second.axes, pad);
}

/** Source axes as they are stored. */
const storedAxes = (source: TensorValue, { axes }: MoveDescription): SourceAxis[] =>
  (source.layout ?? source.dims.map((_, axis) => axis)).map((axis) => axes[axis] as SourceAxis);

const isOneMove = (source: TensorValue, move: MoveDescription): boolean =>
  fits(storedAxes(source, move), move.dims.length === 0 ? [1] : move.dims);

/** A move that changes several axes, each of which stays where it is, as two: some axes first, then the others. */
function halves(move: MoveDescription, dims: readonly number[]): MoveDescription[] | undefined {
  const changed = move.axes.flatMap((axis, i) =>
    axis.checked || axis.offset !== 0 || move.dims[i] !== dims[i] ? [i] : [],
  );
  const isOwn = ({ terms }: SourceAxis, i: number): boolean => terms.every(({ axis }) => axis === i);
  if (changed.length < 2 || move.dims.length !== dims.length || !move.axes.every(isOwn)) return undefined;
  const first = new Set(changed.slice(0, changed.length >> 1));
  const between = dims.map((dim, i) => (first.has(i) ? (move.dims[i] as number) : dim));
  const kept = (list: readonly number[], isMoved: (i: number) => boolean): SourceAxis[] =>
    inOrder(list).map((axis, i) => (isMoved(i) ? (move.axes[i] as SourceAxis) : axis));
  return [
    { ...move, dims: between, axes: kept(dims, (i) => first.has(i)) },
    { ...move, axes: kept(between, (i) => changed.includes(i) && !first.has(i)) },
  ];
}

function emitMove(ctx: Lowering, source: TensorValue, move: MoveDescription): TensorValue {
  const { axes, dims, pad } = move;
  const target = dims.length === 0 ? [1] : dims;
  const stored = storedAxes(source, { axes, dims, pad });
  const operand = ctx.builder.move(source.operand, target, coordinates(stored, target), { pad });
  const { layout: _, ...rest } = source;
  const moved = { ...rest, operand, dims };
  ctx.setOrigin(moved, { source, move });
  return moved;
}

function moveConstant(
  tensor: OnnxTensor,
  dims: readonly number[],
  axes: readonly SourceAxis[],
  fill: number,
): OnnxTensor {
  const sources = new Int32Array(count(dims));
  const at = new Array<number>(dims.length).fill(0);
  for (let i = 0; i < sources.length; i++) {
    let source = 0;
    for (const { dim, terms, offset } of axes) {
      const s = terms.reduce((sum, t) => sum + t.factor * (at[t.axis] as number), offset);
      source = source < 0 || s < 0 || s >= dim ? -1 : source * dim + s;
    }
    sources[i] = source;
    for (let k = dims.length - 1; k >= 0; k--) {
      at[k] = (at[k] as number) + 1;
      if ((at[k] as number) < (dims[k] as number)) break;
      at[k] = 0;
    }
  }
  return pickConstant(tensor, dims, sources, fill);
}

export function reshape(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const from = dimsOf(value);
  const wanted = ctx.numbers(node, 1, "shape");
  const keepZero = intAttribute(node, "allowzero", 0) !== 0;
  const dims = wanted.map((dim, axis) => (dim === 0 && !keepZero ? (from[axis] ?? 0) : dim));
  const open = dims.indexOf(-1);
  if (open >= 0) dims[open] = count(from) / count(dims.filter((_, i) => i !== open));
  if (dims.some((d) => !Number.isInteger(d) || d < 1))
    refuse(`its shape is [${wanted}]`, "Correct the shape.");
  return reshapeValue(ctx, value, dims);
}

export function flatten(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const dims = dimsOf(value);
  const raw = intAttribute(node, "axis", 1);
  const axis = raw === dims.length ? raw : normalAxis(raw, dims.length);
  return reshapeValue(ctx, value, [count(dims.slice(0, axis)), count(dims.slice(axis))]);
}

/** Axes from an attribute (older operator sets) or a constant input. */
export function axesOf(ctx: Lowering, node: OnnxNode, input: number): readonly number[] | undefined {
  const attribute = intsAttribute(node, "axes");
  if (attribute !== undefined) return attribute;
  const constant = ctx.optionalConstant(node, input, "axes");
  return constant === undefined ? undefined : numbers(constant);
}

export function squeeze(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const dims = dimsOf(value);
  const axes = axesOf(ctx, node, 1)?.map((axis) => normalAxis(axis, dims.length));
  for (const axis of axes ?? []) {
    if (dims[axis] !== 1)
      refuse(`it removes axis ${axis} of size ${dims[axis]}`, "Remove only axes of size 1.");
  }
  return reshapeValue(
    ctx,
    value,
    dims.filter((dim, axis) => (axes === undefined ? dim !== 1 : !axes.includes(axis))),
  );
}

export function unsqueeze(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const axes = axesOf(ctx, node, 1) ?? refuse("it has no axes", "Export the model again.");
  const rank = dimsOf(value).length + axes.length;
  const added = new Set(axes.map((axis) => normalAxis(axis, rank)));
  const rest = [...dimsOf(value)];
  const dims = Array.from({ length: rank }, (_, axis) => (added.has(axis) ? 1 : (rest.shift() as number)));
  return reshapeValue(ctx, value, dims);
}

export function transpose(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const rank = dimsOf(value).length;
  const perm = intsAttribute(node, "perm") ?? Array.from({ length: rank }, (_, axis) => rank - 1 - axis);
  if (perm.length !== rank || [...perm].sort((a, b) => a - b).some((axis, i) => axis !== i)) {
    refuse(`its perm [${perm}] is no permutation of ${rank} axes`, "Export the model again.");
  }
  return transposeValue(ctx, value, perm);
}

/** Only renames the axes of the stored order: elements move when something needs them in ONNX order. */
export function transposeValue(ctx: Lowering, value: Value, perm: readonly number[]): Value {
  if (value.kind === "dequantized" && value.source.kind === "constant") {
    const tensor = movedConstant(value.source.tensor, perm);
    return { ...value, source: { kind: "constant", tensor }, axis: Math.max(0, perm.indexOf(value.axis)) };
  }
  return structural(ctx, value, (inner) => {
    if (inner.kind === "constant") return { kind: "constant", tensor: movedConstant(inner.tensor, perm) };
    const tensor = ctx.tensor(inner);
    const order = tensor.layout ?? perm.map((_, axis) => axis);
    const dims = perm.map((axis) => tensor.dims[axis] as number);
    const layout = order.map((axis) => perm.indexOf(axis));
    const { layout: _, ...rest } = tensor;
    const sorted = layout.every((axis, i) => axis === i);
    return sorted ? { ...rest, dims } : { ...rest, dims, layout };
  });
}

export function slice(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const dims = dimsOf(value);
  // Operator sets before 10 have them as attributes.
  const starts = intsAttribute(node, "starts") ?? ctx.numbers(node, 1, "starts");
  const ends = intsAttribute(node, "ends") ?? ctx.numbers(node, 2, "ends");
  const stepsInput = ctx.optionalConstant(node, 4, "steps");
  const axes = axesOf(ctx, node, 3) ?? starts.map((_, i) => i);
  const steps = stepsInput === undefined ? starts.map(() => 1) : numbers(stepsInput);
  const out = [...dims];
  const sources = inOrder(dims);
  axes.forEach((raw, i) => {
    const axis = normalAxis(raw, dims.length);
    const dim = dims[axis] as number;
    const step = steps[i] ?? 1;
    if (step === 0) refuse("it slices with step 0", "Export the model again.");
    const clamp = (v: number | undefined, low: number, high: number): number =>
      Math.min(Math.max((v ?? 0) < 0 ? (v ?? 0) + dim : (v ?? 0), low), high);
    const start = step > 0 ? clamp(starts[i], 0, dim) : clamp(starts[i], 0, dim - 1);
    const end = step > 0 ? clamp(ends[i], 0, dim) : clamp(ends[i], -1, dim - 1);
    out[axis] = Math.max(0, Math.ceil((end - start) / step));
    sources[axis] = { dim, terms: [{ axis, factor: step }], offset: start, checked: false };
  });
  return structural(ctx, value, (inner) => moveValue(ctx, inner, out, sources));
}

/** Joins values along an axis: one MOVE for each after the first's, filled from what is there. */
export function concatValues(ctx: Lowering, values: readonly Value[], axis: number): Value {
  const [first] = values;
  if (first === undefined) return refuse("it joins nothing", "Export the model again.");
  const dims = [...dimsOf(first)];
  dims[axis] = values.reduce((sum, v) => sum + (dimsOf(v)[axis] ?? 0), 0);
  for (const v of values) {
    const same = dimsOf(v).length === dims.length && dimsOf(v).every((d, i) => i === axis || d === dims[i]);
    if (!same)
      refuse(`it joins [${dimsOf(v)}] to [${dimsOf(first)}] along axis ${axis}`, "Correct the shapes.");
  }
  if (values.length === 1) return first;
  if (values.every((v) => v.kind === "constant"))
    return { kind: "constant", tensor: concatConstants(values, dims, axis) };
  let offset = 0;
  let joined: TensorValue | undefined;
  for (const value of values) {
    const tensor = ctx.tensor(value);
    const order = tensor.layout ?? tensor.dims.map((_, i) => i);
    const at = offset;
    const axes = order.map((i) => ({
      dim: tensor.dims[i] as number,
      terms: [{ axis: i, factor: 1 }],
      offset: i === axis ? -at : 0,
      checked: i === axis,
    }));
    const fill = joined === undefined ? {} : { other: joined.operand };
    const operand = ctx.builder.move(tensor.operand, dims, coordinates(axes, dims), fill);
    const { layout: _, ...rest } = tensor;
    joined = { ...rest, operand, dims };
    offset += tensor.dims[axis] as number;
  }
  return joined as TensorValue;
}

function concatConstants(values: readonly Value[], dims: readonly number[], axis: number): OnnxTensor {
  const tensors = values.flatMap((v) => (v.kind === "constant" ? [v.tensor] : []));
  const outer = count(dims.slice(0, axis));
  const all: (number | bigint)[] = [];
  for (let o = 0; o < outer; o++) {
    for (const tensor of tensors) {
      const length = count(tensor.dims.slice(axis));
      for (let i = 0; i < length; i++) all.push(tensor.data[o * length + i] as number | bigint);
    }
  }
  return makeTensor(tensors[0]?.type ?? "int32", dims, all);
}

export function concat(ctx: Lowering, node: OnnxNode): Value {
  const values = node.inputs.map((_, i) => ctx.input(node, i));
  const [first] = values;
  if (first === undefined) return refuse("it joins nothing", "Export the model again.");
  if (values.some((v) => typeOf(v) !== typeOf(first)))
    refuse("it joins different types", "Cast them to one type.");
  const axis = normalAxis(intAttribute(node, "axis", 0), dimsOf(first).length);
  if (first.kind === "dequantized" && values.every((v) => sameScale(v, first))) {
    const sources = values.map((v) => (v as DequantizedValue).source);
    return { ...first, source: asSource(ctx, concatValues(ctx, sources, axis)) };
  }
  return concatValues(ctx, values, axis);
}

export function sameScale(value: Value, other: DequantizedValue): boolean {
  if (value.kind !== "dequantized" || value.scale.length !== 1 || other.scale.length !== 1) return false;
  return (
    value.scale[0] === other.scale[0] &&
    value.zero[0] === other.zero[0] &&
    typeOf(value.source) === typeOf(other.source)
  );
}

/** Dropout keeps everything in inference. */
export function dropout(ctx: Lowering, node: OnnxNode): Value {
  const training = ctx.optionalConstant(node, 2, "training mode");
  if (training !== undefined && numbers(training).some((mode) => mode !== 0))
    refuse("it is in training mode", "Export the model for inference.");
  return ctx.input(node, 0);
}

export function identity(ctx: Lowering, node: OnnxNode): Value {
  return ctx.input(node, 0);
}

export function constant(_ctx: Lowering, node: OnnxNode): Value {
  const [entry] = [...node.attributes];
  const [name, attribute] = entry ?? refuse("it holds no value", "Export the model again.");
  const make = (tensor: OnnxTensor): Value => ({ kind: "constant", tensor });
  if (attribute.kind === "tensor") return make(attribute.value);
  if (attribute.kind === "int") return make(makeTensor("int64", [], [BigInt(attribute.value)]));
  if (attribute.kind === "float") return make(makeTensor("float32", [], [attribute.value]));
  if (attribute.kind === "ints") {
    return make(makeTensor("int64", [attribute.value.length], attribute.value.map(BigInt)));
  }
  if (attribute.kind === "floats")
    return make(makeTensor("float32", [attribute.value.length], attribute.value));
  refuse(`its attribute ${name} is of kind ${attribute.kind}`, "Use a tensor or numbers.");
}
