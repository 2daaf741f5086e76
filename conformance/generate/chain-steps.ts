/** Steps that go on from a tensor of the program, so that what one step does to memory, the next one reads. */

import { MAX_REDUCED_LENGTH } from "../../inference/program/check.ts";
import {
  ARITH_VARIANTS,
  elementCount,
  FLOAT_VARIANTS,
  lastDim,
  type Operand,
  rowCount,
  TENSOR_TYPES,
  type TensorType,
} from "../../inference/program/form.ts";
import { type ChannelParameters, packChannel, packDot } from "../../inference/program/weights.ts";
import type { ProgramBuilder, Value } from "./program-builder.ts";
import { hostileParameters, liveParameters, TYPE_RANGES } from "./random-values.ts";
import type { Rng } from "./rng.ts";
import { edgeLength, factors, randomView, shuffled, viewStep } from "./views.ts";

type Follow = (b: ProgramBuilder, value: Value, most: number) => Value | undefined;

const isInteger = ({ type }: Value): boolean => type !== "f32";
const isByte = ({ type }: Value): boolean => type === "u8" || type === "s8";
/** Parameter words: most of the time such as leave something of the sums.
 *  @param bits of a sum, mostly */
export function parameterWords(rng: Rng, channels: number, bits: number): ChannelParameters[] {
  const isLive = rng.chance(0.7);
  const size = rng.chance(0.75) ? bits : rng.pick([6, 9, 12, 16, 20, 24]);
  return Array.from({ length: channels }, () =>
    isLive ? liveParameters(rng, size) : hostileParameters(rng),
  );
}

/** Where an operand stands that comes first or second. */
const swapped = <T>(rng: Rng, a: T, b: T): readonly [T, T] => (rng.chance(0.5) ? [a, b] : [b, a]);

/** Another operand that broadcasts to the dims: an input, a constant, an earlier tensor, or the value itself. */
function operand(b: ProgramBuilder, types: readonly TensorType[], value: Value): Value {
  if (types.includes(value.type) && b.rng.chance(0.1)) return value;
  return b.broadcast(types, value.dims);
}

const INTEGERS = ["u8", "s8", "s32", "bool"] as const;

const CAST = ARITH_VARIANTS.indexOf("cast");

/** Types that tensors of the program may have. */
export const typesOf = ({ options }: ProgramBuilder): readonly TensorType[] =>
  options.integers ? INTEGERS : TENSOR_TYPES;

const arith: Follow = (b, value) => {
  if (!isInteger(value)) return undefined;
  // What is judged alone, rotations, stands behind them.
  const variant = b.rng.int(0, CAST);
  const name = ARITH_VARIANTS[variant] as string;
  const { dims } = value;
  if (name === "cast") {
    return b.step({ opcode: "arith", variant, type: b.rng.pick(INTEGERS), dims, a: value });
  }
  const type = ["lt", "le", "eq"].includes(name)
    ? "bool"
    : b.rng.chance(0.6)
      ? "s32"
      : b.rng.pick(["u8", "s8"] as const);
  // s32 against s32 is what has kernels of its own.
  const types = b.rng.chance(0.6) ? (["s32"] as const) : INTEGERS;
  const [left, right] = swapped(b.rng, value, operand(b, types, value));
  return b.step({ opcode: "arith", variant, type, dims, a: left, b: right });
};

/** Broadcasts the value itself: to more axes, or along those of length 1. */
const spread: Follow = (b, value, most) => {
  if (!isInteger(value)) return undefined;
  const { rng } = b;
  const dims = value.dims.map((dim) => (dim === 1 && rng.chance(0.5) ? edgeLength(rng, 33) : dim));
  while (dims.length < 6 && rng.chance(0.4)) dims.unshift(edgeLength(rng, 9));
  if (elementCount(dims) > most) return undefined;
  if (rng.chance(0.25)) {
    return b.step({ opcode: "arith", variant: CAST, type: rng.pick(INTEGERS), dims, a: value });
  }
  const other = rng.chance(0.5) ? b.value(["s32"], dims) : b.broadcast(INTEGERS, dims);
  const [left, right] = swapped(rng, value, other);
  return b.step({ opcode: "arith", variant: rng.int(0, 5), type: "s32", dims, a: left, b: right });
};

const float: Follow = (b, value) => {
  if (b.options.integers) return undefined;
  const { rng } = b;
  const { dims } = value;
  const step = (name: (typeof FLOAT_VARIANTS)[number], type: TensorType, ...rest: readonly Value[]): Value =>
    b.step({
      ...{ opcode: "float", variant: FLOAT_VARIANTS.indexOf(name), type, dims, a: value },
      ...(rest[0] && { b: rest[0] }),
      ...(rest[1] && { c: rest[1] }),
    });
  const real = (): Value => operand(b, ["f32"], value);
  const zero = (): Value => operand(b, ["s32"], value);
  if (value.type !== "f32") {
    return rng.chance(0.5) ? step("tofloat", "f32") : step("dequant", "f32", real(), zero());
  }
  const name = rng.pick(FLOAT_VARIANTS);
  switch (name) {
    case "tofloat":
    case "toint":
      return step("toint", rng.pick(INTEGERS));
    case "dequant":
    case "quant":
      return step("quant", rng.pick(["u8", "s8"] as const), real(), zero());
    case "sqrt":
    case "round":
      return step(name, "f32");
    case "lt":
    case "le":
    case "eq":
      return step(name, "bool", real());
    default:
      return step(name, "f32", real());
  }
};

/** Bits of the numbers that a tensor can hold, without the sign. */
const bitsOfRange = ({ range }: Value): number => Math.ceil(Math.log2(Math.max(-range.low, range.high, 1)));

/** @returns parameter words of one channel, or of each */
function channels(b: ProgramBuilder, value: Value): Operand {
  const { rng } = b;
  const n = rng.chance(0.6) && lastDim(value.dims) <= 600 ? lastDim(value.dims) : 1;
  const words = packChannel(parameterWords(rng, n, bitsOfRange(value)));
  if (rng.chance(0.1)) words.set(rng.bytes(words.length));
  return b.weight({ layout: "channel", type: "u8", dims: [n] }, words);
}

export const requant: Follow = (b, value) => {
  if (value.type !== "s32") return undefined;
  const variant = b.options.integers || b.rng.chance(0.75) ? 1 : 2;
  const type = b.rng.pick(["u8", "s8"] as const);
  const { dims } = value;
  return b.step({ opcode: "requant", variant, type, dims, a: value, b: channels(b, value) });
};

const rescale: Follow = (b, value) => {
  if (value.type !== "s32") return undefined;
  const { dims } = value;
  return b.step({ opcode: "rescale", variant: 0, type: "s32", dims, a: value, b: channels(b, value) });
};

const table: Follow = (b, value) => {
  if (!isInteger(value) || value.type === "s32") return undefined;
  const type = b.rng.pick(["u8", "s8", "bool"] as const);
  const entries = b.randomConstant("u8", [256]);
  return b.step({ opcode: "table", variant: 0, type, dims: value.dims, a: value, b: entries });
};

export const reduce: Follow = (b, value) => {
  const length = lastDim(value.dims);
  if (!isInteger(value) || length > MAX_REDUCED_LENGTH || length === 1) return undefined;
  const variant = b.rng.int(0, 2);
  const type = variant === 0 ? "s32" : value.type;
  const rows = value.dims.slice(0, -1);
  const dims = rows.length === 0 || b.rng.chance(0.5) ? [...rows, 1] : rows;
  return b.step({ opcode: "reduce", variant, type, dims, a: value });
};

const select: Follow = (b, value) => {
  const { rng } = b;
  const { dims } = value;
  if (value.type === "bool" && rng.chance(0.6)) {
    const type = rng.pick(typesOf(b));
    const [yes, no] = [b.broadcast([type], dims), b.broadcast([type], dims)];
    return b.step({ opcode: "select", variant: 0, type, dims, a: value, b: yes, c: no });
  }
  const condition = b.broadcast(["bool"], dims);
  const [yes, no] = swapped(rng, value, operand(b, [value.type], value));
  return b.step({ opcode: "select", variant: 0, type: value.type, dims, a: condition, b: yes, c: no });
};

/** A DOT of the value's rows. */
const dot: Follow = (b, value, most) => {
  const k = lastDim(value.dims);
  if (!isByte(value) || k > 992) return undefined;
  const { rng } = b;
  const all = rowCount(value.dims);
  const groups = rng.chance(0.6) ? 1 : (factors(rng, all, 2)[0] as number);
  const rows = all / groups;
  // Many rows are several contracts of compiled code.
  const perGroup = Math.min(rng.chance(0.15) ? 40 : rng.int(1, 9), Math.floor(most / (rows * groups)));
  if (perGroup < 1 || groups * perGroup * k > 40_000) return undefined;
  const n = groups * perGroup;
  const words = packDot(rng.bytes(n * k), k, parameterWords(rng, n, 16 + Math.ceil(Math.log2(k) / 2)));
  if (rng.chance(0.1)) words.set(rng.bytes(words.length));
  const weights = b.weight({ layout: "dot", type: "u8", dims: [n, k] }, words);
  const variant = rng.pick(b.options.integers ? [0, 1] : [0, 1, 2, 2]);
  const type = variant === 0 ? "s32" : rng.pick(["u8", "s8"] as const);
  const dims = rng.chance(0.5) ? [rows, n] : [...factors(rng, rows, 2), n];
  return b.step({ opcode: "dot", variant, type, dims, a: value, b: weights, k: groups });
};

/** A LOOKUP by the value's numbers, which may be any. */
const lookup: Follow = (b, value, most) => {
  const width = lastDim(value.dims);
  const { rng } = b;
  if (value.type === "u8" && width <= 16) {
    // Ids that are all in the table.
    const ids = b.step({ opcode: "arith", variant: CAST, type: "s32", dims: value.dims, a: value });
    const columns = Math.min(edgeLength(rng), Math.floor((most * width) / elementCount(value.dims)));
    return columns < 1 ? undefined : lookupOf(b, ids, rng.int(2, 300), columns);
  }
  if (value.type !== "s32" || width > 16) return undefined;
  if (!b.options.integers && rng.chance(0.5)) {
    // One id a row: what a row of the table is picked by.
    const dims = [...value.dims, 1];
    const count = elementCount(dims);
    if (dims.length > 5) return undefined;
    const ids = viewStep(
      b,
      value,
      dims,
      value.dims.map((view, p) => ({ view, a: 1, p, b: 0, q: 0, c: 0 })),
    );
    return pickOf(b, ids, rng.int(1, 40), Math.max(1, Math.min(edgeLength(rng), Math.floor(most / count))));
  }
  const leading = value.dims.slice(0, -1);
  const d = Math.min(edgeLength(rng), Math.floor(most / elementCount(leading)));
  if (d < 1) return undefined;
  return lookupOf(b, value, rng.int(1, 40), d);
};

/** Sums of rows of a table. @param v its rows @param d elements of one */
export function lookupOf(b: ProgramBuilder, ids: Value, v: number, d: number): Value {
  const dims = [...ids.dims.slice(0, -1), d];
  const words = b.rng.bytes(v * 32 * Math.ceil(d / 32));
  const rows = b.weight({ layout: "lookup", type: "s8", dims: [v, d] }, words);
  return b.step({ opcode: "lookup", variant: 0, type: "s32", dims, a: ids, b: rows });
}

/** The row of a table that each id names. */
function pickOf(b: ProgramBuilder, ids: Value, v: number, d: number): Value {
  const type = b.rng.pick(TENSOR_TYPES);
  const rows = b.randomConstant(type, [v, d]);
  const dims = [...ids.dims.slice(0, -1), d];
  return b.step({ opcode: "lookup", variant: 1, type, dims, a: ids, b: rows });
}

/** A matrix that turns, or whose columns become axes of their own. */
const turn: Follow = (b, value, most) => {
  const { rng } = b;
  const count = elementCount(value.dims);
  const last = lastDim(value.dims);
  const [rows, columns] = rng.chance(0.6)
    ? [count / last, last]
    : (factors(rng, count, 2) as [number, number]);
  if (count > most) return undefined;
  const flat = (view: number, a: number, p: number) => ({ view, a, p, b: 0, q: 0, c: 0 });
  if (rng.chance(0.5)) return viewStep(b, value, [columns, rows], [flat(rows, 1, 1), flat(columns, 1, 0)]);
  // The rows, or the columns, are two axes of the result.
  const [outer = 1, inner = 1] = factors(rng, rng.chance(0.5) ? rows : columns, 2);
  const isRows = outer * inner === rows;
  const axes = shuffled(rng, ["outer", "inner", "other"] as const);
  const lengths = { outer, inner, other: isRows ? columns : rows };
  const split = {
    view: outer * inner,
    a: inner,
    p: axes.indexOf("outer"),
    b: 1,
    q: axes.indexOf("inner"),
    c: 0,
  };
  const other = flat(lengths.other, 1, axes.indexOf("other"));
  const dims = axes.map((axis) => lengths[axis]);
  return viewStep(b, value, dims, outer * inner === rows ? [split, other] : [other, split]);
};

const view: Follow = (b, value, most) => randomView(b, value, most);

/** As often as it stands here. */
const FOLLOWS: readonly Follow[] = [
  ...Array<Follow>(7).fill(view),
  ...Array<Follow>(4).fill(turn),
  ...Array<Follow>(4).fill(arith),
  ...Array<Follow>(2).fill(requant),
  rescale,
  ...Array<Follow>(3).fill(reduce),
  ...Array<Follow>(2).fill(dot),
  spread,
  table,
  select,
  lookup,
];

/** What programs with binary32 have besides. */
const WITH_FLOATS: readonly Follow[] = [float, float, float, dot, lookup, lookup, requant];

/** A step of any opcode that takes the value. @param most elements of the result */
export function followStep(b: ProgramBuilder, value: Value, most: number): Value {
  for (let attempt = 0; ; attempt++) {
    const follow = !b.options.integers && b.rng.chance(0.3) ? b.rng.pick(WITH_FLOATS) : b.rng.pick(FOLLOWS);
    const made = attempt < 40 ? follow(b, value, most) : arithOr(b, value);
    if (made !== undefined) return made;
  }
}

/** What always fits. */
const arithOr = (b: ProgramBuilder, value: Value): Value =>
  b.step({
    ...{ opcode: "select", variant: 0, type: value.type, dims: value.dims },
    ...{ a: b.broadcast(["bool"], [1]), b: value, c: value },
  });

/** All of a program's loose ends in one tensor: what nothing reads would not be seen. @param ends at least one */
export function joinEnds(b: ProgramBuilder, ends: readonly Value[]): Value {
  const type =
    ends.length === 1
      ? (ends[0] as Value).type
      : b.rng.pick(b.options.integers ? (["s32"] as const) : (["s32", "s32", "f32"] as const));
  const lines = ends.map((end) => ({ value: convertTo(b, end, type), count: elementCount(end.dims) }));
  let joined = lines[0] as (typeof lines)[number];
  for (const { value, count } of lines.slice(1)) {
    const dims = [joined.count + count];
    const at = (view: number, c: number) => [{ view, a: 1, p: 0, b: 0, q: 0, c }];
    const coordinates = at(count, -joined.count);
    const behind = b.step({
      ...{ opcode: "move", variant: 0, type, dims, a: value, k: b.padFor(type) },
      coordinates: fourth(coordinates),
    });
    const both = b.step({
      ...{ opcode: "move", variant: 0, type, dims, a: joined.value, b: behind },
      coordinates: fourth(at(joined.count, 0)),
    });
    joined = { value: both, count: joined.count + count };
  }
  return joined.value;
}

const fourth = <T>(coordinates: readonly T[]) => [
  ...Array.from({ length: 3 }, () => ({ view: 1, a: 0, p: 0, b: 0, q: 0, c: 0 })),
  ...coordinates,
];

function convertTo(b: ProgramBuilder, value: Value, type: "s32" | "f32" | TensorType): Value {
  if (value.type === type) return value;
  const { dims } = value;
  if (type === "f32") {
    return b.step({ opcode: "float", variant: FLOAT_VARIANTS.indexOf("tofloat"), type, dims, a: value });
  }
  const [opcode, variant] =
    value.type === "f32" ? (["float", FLOAT_VARIANTS.indexOf("toint")] as const) : (["arith", CAST] as const);
  return b.step({ opcode, variant, type: "s32", dims, a: value }, TYPE_RANGES.s32);
}
