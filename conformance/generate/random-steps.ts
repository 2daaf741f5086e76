import {
  ARITH_VARIANTS,
  type Coordinate,
  elementCount,
  FLOAT_VARIANTS,
  lastDim,
  type Opcode,
  type TensorType,
} from "../../inference/program/form.ts";
import { packLookup } from "../../inference/program/weights.ts";
import { type ProgramBuilder, randomDims, union, type Value } from "./program-builder.ts";
import { requant, rescale } from "./random-channels.ts";
import { dot } from "./random-dot.ts";
import { reduce } from "./random-reduce.ts";
import { rotate } from "./random-rotate.ts";
import { type Range, TYPE_RANGES } from "./random-values.ts";

const INTEGERS = ["u8", "s8", "s32", "bool"] as const;
const BYTES = ["u8", "s8"] as const;
const ALL = ["u8", "s8", "s32", "f32", "bool"] as const;
const MOST = 160;

const range = (low: number, high: number, quantum = 0): Range => ({ low, high, quantum });

/** Adds one step of an opcode, with all the steps that its operands need before it. */
export const RANDOM_STEPS: Readonly<Record<Opcode, (builder: ProgramBuilder) => Value>> = {
  codec: (b) => {
    const type = b.options.inputCodec === "raw" ? b.rng.pick(ALL) : "s32";
    return b.input(type, randomDims(b.rng, MOST));
  },
  move,
  lookup,
  dot,
  requant,
  rescale,
  table,
  arith,
  float,
  reduce,
  select,
};

function move(b: ProgramBuilder): Value {
  const { rng } = b;
  const type = rng.pick(ALL);
  const source = b.value([type], randomDims(rng, MOST));
  const view = factors(b, elementCount(source.dims));
  const dims = randomDims(rng, MOST);
  const coordinates = view.map((size) => randomCoordinate(b, size, dims));
  const other = rng.chance(0.4) ? b.value([type], dims) : undefined;
  const pad = other === undefined ? b.padFor(type) : 0;
  const padded = other?.range ?? padRange(type, pad, b);
  return b.step(
    { opcode: "move", variant: 0, type, dims, a: source, coordinates, k: pad, ...(other && { b: other }) },
    union(source.range, padded),
  );
}

function padRange(type: TensorType, pad: number, b: ProgramBuilder): Range {
  if (type === "f32") return b.options.floatSane ? range(-2, 1) : TYPE_RANGES.f32;
  const number = type === "s32" ? pad | 0 : type === "s8" ? pad - 128 : pad;
  return range(number, number);
}

/** Four view dims whose product is the count. */
function factors(b: ProgramBuilder, count: number): number[] {
  const view = [1, 1, 1];
  let rest = count;
  for (let j = 0; j < 3; j++) {
    const divisors = Array.from({ length: rest }, (_, i) => i + 1).filter((d) => rest % d === 0);
    view[j] = b.rng.pick(divisors);
    rest /= view[j] as number;
  }
  return [...view, rest];
}

function randomCoordinate(b: ProgramBuilder, view: number, dims: readonly number[]): Coordinate {
  const { rng } = b;
  const factor = (): number =>
    rng.chance(0.25)
      ? 0
      : rng.chance(0.6)
        ? 1
        : rng.chance(0.97)
          ? rng.int(-4, 4)
          : rng.pick([-(2 ** 23), 2 ** 23 - 1]);
  const [x, y] = [factor(), rng.chance(0.6) ? 0 : factor()];
  const axis = (f: number): number => (f === 0 ? 0 : rng.int(0, dims.length - 1));
  const c = rng.chance(0.5)
    ? 0
    : rng.chance(0.95)
      ? rng.int(-view, view)
      : rng.pick([-(2 ** 31), 2 ** 31 - 1]);
  return { view, a: x, p: axis(x), b: y, q: axis(y), c };
}

/** An element of a table for each id. */
function each(b: ProgramBuilder): Value {
  const { rng } = b;
  const dims = randomDims(rng, MOST);
  const v = rng.chance(0.2) ? 1 : rng.int(2, rng.pick([6, 300]));
  const ids = b.clamp(b.value(["s32"], dims), range(0, v - 1));
  const type = rng.pick(ALL);
  const table = b.randomConstant(type, [v, 1]);
  return b.step({ opcode: "lookup", variant: 2, type, dims, a: ids, b: table }, table.range);
}

/** An element of a table by how far each number is below the largest of its row's places that count. */
function below(b: ProgramBuilder): Value {
  const { rng } = b;
  const dims = randomDims(rng, MOST);
  const v = rng.chance(0.2) ? 1 : rng.int(2, rng.pick([6, 300]));
  const numbers = b.value(["s32"], dims);
  const a = rng.chance(0.5) ? numbers : b.clamp(numbers, range(0, v));
  const type = rng.pick(ALL);
  const table = b.randomConstant(type, [v, 1]);
  const fields = { opcode: "lookup", variant: 3, type, dims, a, b: table } as const;
  if (rng.chance(0.25)) return b.step(fields, table.range);
  const kept = dims.slice(rng.int(0, dims.length - 1), -1).map((dim) => (rng.chance(0.3) ? 1 : dim));
  const mask = b.value(["bool"], [...kept, lastDim(dims)]);
  return b.step({ ...fields, c: mask }, union(table.range, range(0, 0)));
}

function lookup(b: ProgramBuilder): Value {
  const { rng } = b;
  if (rng.chance(0.25)) return each(b);
  if (rng.chance(0.3)) return below(b);
  const sum = rng.chance(0.6);
  const [v, d] = [rng.int(1, 24), rng.chance(0.9) ? rng.int(1, 70) : rng.int(500, 1024)];
  const rows = d > 70 ? [rng.int(1, 2)] : randomDims(rng, 12, rng.int(1, 3));
  const j = sum ? rng.int(1, 16) : 1;
  const ids = b.clamp(b.value(["s32"], [...rows, j]), range(0, v - 1));
  if (sum) {
    const words = b.options.hostile
      ? rng.bytes(v * 32 * Math.ceil(d / 32))
      : packLookup(
          Int8Array.from({ length: v * d }, (_, i) => (i < d ? 0 : rng.int(-128, 127))),
          d,
        );
    const table = b.weight({ layout: "lookup", type: "s8", dims: [v, d] }, words);
    return b.step(
      { opcode: "lookup", variant: 0, type: "s32", dims: [...rows, d], a: ids, b: table },
      range(-128 * j, 127 * j),
    );
  }
  const type = rng.pick(ALL);
  const table = b.randomConstant(type, [v, d]);
  return b.step({ opcode: "lookup", variant: 1, type, dims: [...rows, d], a: ids, b: table }, table.range);
}

function table(b: ProgramBuilder): Value {
  const types = ["u8", "s8", "bool"] as const;
  const dims = randomDims(b.rng, MOST);
  const type = b.rng.pick(types);
  const input = b.value(types, dims);
  const most = type === "bool" && !b.options.hostile ? 1 : 255;
  const entries = b.randomConstant("u8", [256], range(0, most));
  return b.step({ opcode: "table", variant: 0, type, dims, a: input, b: entries });
}

type ArithVariant = (typeof ARITH_VARIANTS)[number];

/** Operand ranges in which a result stays inside its type. */
const BOXES: Readonly<
  Record<"u8" | "s8" | "s32", Readonly<Partial<Record<ArithVariant, readonly [Range, Range]>>>>
> = {
  u8: {
    add: [range(0, 127), range(0, 127)],
    sub: [range(128, 255), range(0, 127)],
    mul: [range(0, 15), range(0, 15)],
    min: [range(0, 255), range(0, 255)],
    max: [range(0, 255), range(0, 255)],
    div: [range(0, 255), range(1, 300)],
  },
  s8: {
    add: [range(-64, 63), range(-64, 63)],
    sub: [range(-64, 63), range(-64, 63)],
    mul: [range(-11, 11), range(-11, 11)],
    min: [range(-128, 127), range(-128, 127)],
    max: [range(-128, 127), range(-128, 127)],
    div: [range(-128, 127), range(1, 300)],
  },
  s32: {
    add: [range(-(2 ** 30), 2 ** 30 - 1), range(-(2 ** 30), 2 ** 30 - 1)],
    sub: [range(-(2 ** 30), 2 ** 30 - 1), range(-(2 ** 30), 2 ** 30 - 1)],
    mul: [range(-46_340, 46_340), range(-46_340, 46_340)],
    div: [TYPE_RANGES.s32, range(1, 2 ** 31 - 1)],
  },
};

function arith(b: ProgramBuilder): Value {
  const { rng } = b;
  const variant = rng.int(0, ARITH_VARIANTS.length - 1);
  const name = ARITH_VARIANTS[variant] as ArithVariant;
  if (name === "rotate") return rotate(b);
  const dims = randomDims(rng, MOST);
  const compare = name === "lt" || name === "le" || name === "eq";
  const type = compare
    ? "bool"
    : name === "cast"
      ? rng.pick(INTEGERS)
      : rng.pick(["u8", "s8", "s32"] as const);
  const box = type === "bool" ? undefined : BOXES[type][name];
  const [boxA, boxB] = box ?? [TYPE_RANGES.s32, TYPE_RANGES.s32];
  const a = b.clamp(b.broadcast(INTEGERS, dims), name === "cast" ? TYPE_RANGES[type] : boxA);
  if (name === "cast") return b.step({ opcode: "arith", variant, type, dims, a }, a.range);
  const right = b.clamp(b.broadcast(INTEGERS, dims), boxB);
  return b.step(
    { opcode: "arith", variant, type, dims, a, b: right },
    arithRange(name, type, a.range, right.range),
  );
}

function arithRange(name: ArithVariant, type: TensorType, a: Range, b: Range): Range {
  const all = TYPE_RANGES[type];
  const corners = (f: (x: number, y: number) => number): Range => {
    const values = [f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)];
    return range(Math.max(all.low, Math.min(...values)), Math.min(all.high, Math.max(...values)));
  };
  if (name === "add") return corners((x, y) => x + y);
  if (name === "sub") return corners((x, y) => x - y);
  if (name === "mul") return corners((x, y) => x * y);
  if (name === "min") return corners(Math.min);
  if (name === "max") return corners(Math.max);
  return all;
}

function float(b: ProgramBuilder): Value {
  const { rng } = b;
  const variant = rng.int(0, FLOAT_VARIANTS.length - 1);
  const name = FLOAT_VARIANTS[variant] as (typeof FLOAT_VARIANTS)[number];
  const dims = randomDims(rng, MOST);
  const make = (type: TensorType, operands: readonly Value[], result?: Range): Value => {
    const [a, right, c] = operands;
    return b.step(
      { opcode: "float", variant, type, dims, ...(a && { a }), ...(right && { b: right }), ...(c && { c }) },
      result ?? TYPE_RANGES[type],
    );
  };
  const real = (low = -(2 ** 20), high = 2 ** 20): Value =>
    settle(b, b.broadcast(["f32"], dims), range(low, high));
  switch (name) {
    case "tofloat": {
      const a = b.broadcast(INTEGERS, dims);
      return make("f32", [a], range(Math.fround(a.range.low), Math.fround(a.range.high)));
    }
    case "toint": {
      const type = rng.pick(INTEGERS);
      return make(type, [b.clampFloat(b.broadcast(["f32"], dims), TYPE_RANGES[type])]);
    }
    case "dequant": {
      const a = b.clamp(b.broadcast(INTEGERS, dims), range(-(2 ** 24), 2 ** 24));
      const [scale, zero] = scaleAndZero(b, dims, "s32");
      const largest = (2 ** 24 + 2 ** 10) * 2;
      return make("f32", [a, scale, zero], range(-largest, largest, -10));
    }
    case "quant": {
      const type = rng.pick(BYTES);
      const a = real();
      return make(type, [a, ...scaleAndZero(b, dims, type)]);
    }
    case "lt":
    case "le":
    case "eq":
      return make("bool", [b.broadcast(["f32"], dims), b.broadcast(["f32"], dims)]);
    case "round": {
      const a = b.broadcast(["f32"], dims);
      return make("f32", [a], range(a.range.low - 1, a.range.high + 1));
    }
    case "sqrt":
      return make("f32", [real(0)], range(0, 2 ** 11, -40));
    case "div":
      return make(
        "f32",
        [real(), settle(b, b.broadcast(["f32"], dims), range(1 / 64, 2 ** 20))],
        range(-(2 ** 26), 2 ** 26, -60),
      );
    default: {
      const [a, right] = [real(), real()];
      if (name === "mul")
        return make("f32", [a, right], range(-(2 ** 40), 2 ** 40, a.range.quantum + right.range.quantum));
      return make(
        "f32",
        [a, right],
        range(-(2 ** 21), 2 ** 21, Math.min(a.range.quantum, right.range.quantum)),
      );
    }
  }
}

/** Brings a float into a range and onto a grid that is far from the subnormal numbers. */
function settle(b: ProgramBuilder, value: Value, within: Range): Value {
  if (!b.options.floatSane) return value;
  let settled = value;
  if (value.range.quantum < -50) {
    const variant = FLOAT_VARIANTS.indexOf("round");
    const rounded = range(value.range.low - 1, value.range.high + 1);
    settled = b.step({ opcode: "float", variant, type: "f32", dims: value.dims, a: value }, rounded);
  }
  return b.clampFloat(settled, within);
}

function scaleAndZero(b: ProgramBuilder, dims: readonly number[], type: "u8" | "s8" | "s32"): [Value, Value] {
  const perChannel = b.rng.chance(0.5) ? [lastDim(dims)] : [1];
  const scale = b.randomConstant("f32", perChannel, range(2 ** -8, 2, -10));
  const zero = b.options.hostile
    ? b.broadcast(["s32"], dims)
    : b.randomConstant("s32", perChannel, type === "s32" ? range(-1000, 1000) : TYPE_RANGES[type]);
  return [scale, zero];
}

function select(b: ProgramBuilder): Value {
  const dims = randomDims(b.rng, MOST);
  const type = b.rng.pick(ALL);
  const a = b.broadcast(["bool"], dims);
  const [yes, no] = [b.broadcast([type], dims), b.broadcast([type], dims)];
  return b.step({ opcode: "select", variant: 0, type, dims, a, b: yes, c: no }, union(yes.range, no.range));
}
