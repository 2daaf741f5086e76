import type { Opening } from "../../inference/commit/openings.ts";
import {
  ARITH_VARIANTS,
  elementBytes,
  elementCount,
  FLOAT_VARIANTS,
  NONE,
  type Operand,
  type Program,
  REDUCE_VARIANTS,
  type Step,
} from "../../inference/program/form.ts";
import * as binary32 from "./binary32.ts";
import {
  bytesOf,
  clamp,
  elementOf,
  indexOf,
  join,
  lastOf,
  number,
  type Place,
  saturated,
  stored,
  tensorOf,
  unsigned,
  wrap,
} from "./place.ts";

/** One element of a step by docs/EXACT.md, section 3, from the opened words alone: BigInt, one element at a time,
 *  no code shared with the executor. What a judge contract computes.
 *  @param openings in the order of docs/PROTOCOL.md, section 4; the first, the output's word, is not looked at
 *  @returns stored bytes as an unsigned number */
export function judge(
  program: Program,
  stepIndex: number,
  element: number,
  openings: readonly Opening[],
): bigint {
  const step = program.steps[stepIndex] as Step;
  const place: Place = {
    program,
    step,
    element,
    words: openings.slice(1).map((opening) => join(opening.words)),
  };
  switch (step.opcode) {
    case "codec":
      throw new Error("a codec step is judged whole");
    case "move":
      return move(place);
    case "lookup":
      return lookup(place);
    case "dot":
      return dot(place);
    case "requant":
      return channel(place);
    case "rescale":
      return step.variant === 1 ? ratio(place) : step.variant === 2 ? plane(place) : channel(place);
    case "table":
      return BigInt(bytesOf(place, 1)[Number(stored(place, step.a, 0)) % 32] as number);
    case "arith":
      return arith(place);
    case "float":
      return float(place);
    case "reduce":
      return reduce(place);
    case "select":
      return stored(place, step.a, 0) !== 0n ? stored(place, step.b, 1) : stored(place, step.c, 2);
  }
}

function move(place: Place): bigint {
  const { step, program, element } = place;
  const index = indexOf(step.dims, element).map(BigInt);
  const s = step.coordinates.map(
    ({ a, p, b, q, c }) => BigInt(a) * (index[p] as bigint) + BigInt(b) * (index[q] as bigint) + BigInt(c),
  );
  const inside = step.coordinates.every(
    ({ view }, j) => (s[j] as bigint) >= 0n && (s[j] as bigint) < BigInt(view),
  );
  if (inside) {
    const flat = step.coordinates.reduce((all, { view }, j) => all * BigInt(view) + (s[j] as bigint), 0n);
    const { type, dims } = tensorOf(program, step.a);
    return elementOf(bytesOf(place, 0), type, Number(flat % BigInt(lastOf(dims))));
  }
  if (step.b === NONE) return BigInt(step.k);
  return elementOf(bytesOf(place, 0), step.type, element % lastOf(step.dims));
}

function lookup(place: Place): bigint {
  const { step, element, words } = place;
  if (step.variant === 3) return below(place);
  if (step.variant === 2) return elementOf(bytesOf(place, 1), step.type, 0);
  const column = element % lastOf(step.dims);
  if (step.variant === 1) return elementOf(bytesOf(place, 1), step.type, column);
  const item = column % 32;
  const byte = 4 * (item % 8) + 3 - Math.floor(item / 8);
  const sum = words.slice(1).reduce((all, word) => all + BigInt(word[byte] as number) - 128n, 0n);
  return BigInt.asUintN(32, sum);
}

/** Variant 3 of LOOKUP. Behind the row of a, and the mask's, the table's word holds the entry for the distance. */
function below({ step, element, words }: Place): bigint {
  const isOut = step.c !== NONE && words[1]?.[element % lastOf(step.dims)] === 0;
  if (isOut) return step.type === "s8" ? 128n : 0n;
  return elementOf(words.at(-1) as Uint8Array, step.type, 0);
}

interface Parameters {
  readonly bias: bigint;
  readonly m: bigint;
  readonly b: bigint;
  readonly s: bigint;
  readonly scale: number;
  readonly zero: bigint;
  readonly lower: bigint;
  readonly upper: bigint;
  readonly offset: bigint;
}

function parametersOf(word: Uint8Array): Parameters {
  const field = (from: number, to: number): bigint => unsigned(word.subarray(from, to));
  return {
    bias: wrap(field(0, 4)),
    m: field(4, 8),
    b: BigInt.asIntN(64, field(8, 16)),
    s: field(16, 17) % 64n,
    scale: Number(field(17, 21)),
    zero: field(21, 22),
    lower: field(22, 23),
    upper: field(23, 24),
    offset: field(24, 26),
  };
}

/** Variants 0 to 2 of DOT; 1 and 2 are REQUANT's too. */
function finish(variant: number, acc: bigint, p: Parameters): bigint {
  if (variant === 0) return BigInt.asUintN(32, acc);
  const q =
    variant === 1
      ? BigInt.asIntN(64, acc * p.m + p.b) >> p.s
      : binary32.quantize(binary32.multiply(binary32.fromInteger(acc), p.scale));
  return clamp(q + p.zero, p.lower, p.upper);
}

/** Variant 3 of DOT. */
function dotOfActivations({ program, step, words }: Place): bigint {
  const [left, right] = [tensorOf(program, step.a), tensorOf(program, step.b)];
  let sum = 0n;
  for (let i = 0; i < lastOf(left.dims); i++) {
    const x = number(left.type, BigInt(words[0]?.[i] as number));
    sum += x * number(right.type, BigInt(words[1]?.[i] as number));
  }
  return BigInt.asUintN(32, sum);
}

function dot(place: Place): bigint {
  if (place.step.variant === 3) return dotOfActivations(place);
  const [a, b] = [bytesOf(place, 0), bytesOf(place, 1)];
  const { dims } = tensorOf(place.program, place.step.b);
  const k = lastOf(dims);
  const p = parametersOf(b.subarray(b.length - 32));
  const isPlanes = place.step.variant >= 4;
  let acc = p.bias;
  for (let i = 0; i < k; i++) {
    const byte = BigInt(a[i] as number);
    const x = isPlanes ? 256n * byte + BigInt(a[k + i] as number) : byte;
    const w = BigInt(b[32 * Math.floor(i / 32) + 31 - (i % 32)] as number);
    acc += x * (w - p.offset);
  }
  if (place.step.variant === 5) return rescaledSum(place, wrap(acc), p);
  return finish(isPlanes ? 0 : place.step.variant, wrap(acc), p);
}

/** Variant 5 of DOT: a byte as in variant 1, or a number of so many bits as the upper clamp says, added to another. */
function rescaledSum(place: Place, acc: bigint, p: Parameters): bigint {
  const { step, element } = place;
  if (step.type !== "s32") return finish(1, acc, p);
  const limit = 2n ** (p.upper % 32n);
  const shifted = BigInt.asIntN(64, acc * p.m + p.b) >> p.s;
  const added = step.c === NONE ? 0n : elementOf(bytesOf(place, 2), "s32", element % lastOf(step.dims));
  return BigInt.asUintN(32, clamp(shifted, -limit, limit - 1n) + added);
}

function channel(place: Place): bigint {
  const { step, element } = place;
  const p = parametersOf(bytesOf(place, 1));
  const value = wrap(elementOf(bytesOf(place, 0), "s32", element % lastOf(step.dims)));
  const acc = wrap(value + p.bias);
  if (step.opcode === "requant") return finish(step.variant, acc, p);
  return BigInt.asUintN(32, BigInt.asIntN(64, acc * p.m + p.b) >> p.s);
}

/** Variant 2 of RESCALE. */
function plane(place: Place): bigint {
  const { step, program, element } = place;
  const k = lastOf(step.dims) / 2;
  const [row, column] = [Math.floor(element / (2 * k)), element % (2 * k)];
  const at = (row * k + (column % k)) % lastOf(tensorOf(program, step.a).dims);
  const p = parametersOf(bytesOf(place, 1));
  const x = number("s32", elementOf(bytesOf(place, 0), "s32", at));
  const taken = step.c === NONE ? x : changed(place, x, row, column % k);
  const acc = wrap(taken + p.bias);
  const u = clamp(wrap(BigInt.asIntN(64, acc * p.m + p.b) >> p.s), 0n, 65_535n);
  return column < k ? u / 256n : u % 256n;
}

/** By the factor or the divisor in the third opening. @param index of the number in its row */
function changed({ step, program, words }: Place, x: bigint, row: number, index: number): bigint {
  const { dims } = tensorOf(program, step.c);
  const k = lastOf(step.dims) / 2;
  const parts = step.k === 0 ? k : (k * elementCount(dims) * 2) / elementCount(step.dims);
  const at = (row * parts + Math.floor((index * parts) / k)) % lastOf(dims);
  const by = number("s32", elementOf(words[2] as Uint8Array, "s32", at));
  if (step.k === 0) return wrap(x * by);
  return number("s32", saturated("s32", nearestQuotient(x * BigInt(step.k), by)));
}

/** `⌊(2·n + d) / 2·d⌋`, 0 of a divisor below 1. */
function nearestQuotient(n: bigint, d: bigint): bigint {
  if (d < 1n) return 0n;
  const numerator = 2n * n + d;
  const rest = ((numerator % (2n * d)) + 2n * d) % (2n * d);
  return (numerator - rest) / (2n * d);
}

/** Variant 1 of RESCALE. */
function ratio(place: Place): bigint {
  const { step, program, element } = place;
  const [a, b] = [tensorOf(program, step.a), tensorOf(program, step.b)];
  const [row, column] = [Math.floor(element / lastOf(step.dims)), element % lastOf(step.dims)];
  const x = number(a.type, elementOf(bytesOf(place, 0), a.type, column));
  const d = number(b.type, elementOf(bytesOf(place, 1), b.type, row % lastOf(b.dims)));
  return saturated(step.type, nearestQuotient(x * BigInt(step.k), d));
}

function arith(place: Place): bigint {
  const { step, program } = place;
  const name = ARITH_VARIANTS[step.variant];
  if (name === "rotate") return rotated(place);
  const x = number(tensorOf(program, step.a).type, stored(place, step.a, 0));
  if (name === "cast") return saturated(step.type, wrap(x));
  const y = number(tensorOf(program, step.b).type, stored(place, step.b, 1));
  switch (name) {
    case "add":
      return saturated(step.type, wrap(x + y));
    case "sub":
      return saturated(step.type, wrap(x - y));
    case "mul":
      return saturated(step.type, wrap(x * y));
    case "min":
      return saturated(step.type, lesser(x, y));
    case "max":
      return saturated(step.type, -lesser(-x, -y));
    case "div":
      return saturated(step.type, y < 1n ? 0n : x / y);
    case "lt":
      return x < y ? 1n : 0n;
    case "le":
      return x <= y ? 1n : 0n;
    default:
      return x === y ? 1n : 0n;
  }
}

/** Variant 10 of ARITH. */
function rotated(place: Place): bigint {
  const { step, element } = place;
  const column = element % lastOf(step.dims);
  const pair = column - (column % 2);
  const [x, y, c, s] = [0, 1].flatMap((operand) =>
    [pair, pair + 1].map((at) => number("s32", elementOf(bytesOf(place, operand), "s32", at))),
  ) as [bigint, bigint, bigint, bigint];
  const value = column === pair ? x * c - y * s : x * s + y * c;
  const unit = 2n ** BigInt(step.k + 1);
  const numerator = 2n * value + unit / 2n;
  const rest = ((numerator % unit) + unit) % unit;
  return saturated(step.type, (numerator - rest) / unit);
}

function float(place: Place): bigint {
  const { step, program } = place;
  const bits = (operand: Operand, opening: number): number => Number(stored(place, operand, opening));
  const integer = (operand: Operand, opening: number): bigint =>
    number(tensorOf(program, operand).type, stored(place, operand, opening));
  const name = FLOAT_VARIANTS[step.variant] as (typeof FLOAT_VARIANTS)[number];
  switch (name) {
    case "sqrt":
      return BigInt(binary32.squareRoot(bits(step.a, 0)));
    case "round":
      return BigInt(binary32.round(bits(step.a, 0)));
    case "tofloat":
      return BigInt(binary32.fromInteger(integer(step.a, 0)));
    case "toint":
      return saturated(step.type, binary32.truncate(bits(step.a, 0)));
    case "dequant": {
      const difference = wrap(integer(step.a, 0) - integer(step.c, 2));
      return BigInt(binary32.multiply(binary32.fromInteger(difference), bits(step.b, 1)));
    }
    case "quant": {
      const q = binary32.quantize(binary32.divide(bits(step.a, 0), bits(step.b, 1)));
      return saturated(step.type, q + integer(step.c, 2));
    }
    default:
      return binaryFloat(name, bits(step.a, 0), bits(step.b, 1));
  }
}

function binaryFloat(name: string, x: number, y: number): bigint {
  const order = binary32.compare(x, y);
  switch (name) {
    case "add":
      return BigInt(binary32.add(x, y));
    case "sub":
      return BigInt(binary32.subtract(x, y));
    case "mul":
      return BigInt(binary32.multiply(x, y));
    case "div":
      return BigInt(binary32.divide(x, y));
    case "min":
      return BigInt(binary32.extreme(x, y, -1));
    case "max":
      return BigInt(binary32.extreme(x, y, 1));
    case "lt":
      return order === -1 ? 1n : 0n;
    case "le":
      return order === -1 || order === 0 ? 1n : 0n;
    default:
      return order === 0 ? 1n : 0n;
  }
}

function reduce(place: Place): bigint {
  const { step, program } = place;
  const { type, dims } = tensorOf(program, step.a);
  const row = bytesOf(place, 0);
  const size = elementBytes(type);
  const values = Array.from({ length: lastOf(dims) }, (_, i) =>
    number(type, unsigned(row.subarray(i * size, (i + 1) * size))),
  );
  const name = REDUCE_VARIANTS[step.variant];
  if (name === "sum") {
    return BigInt.asUintN(
      32,
      values.reduce((all, value) => all + value, 0n),
    );
  }
  if (name === "norm") {
    const total = values.reduce((all, value) => all + value * value, BigInt(step.k));
    return lesser(root(total), 2n ** 31n - 1n);
  }
  const best = values.reduce((all, value) => ((name === "min" ? value < all : value > all) ? value : all));
  return type === "s8" ? best + 128n : BigInt.asUintN(32, best);
}

/** ⌊√x⌋, bit by bit. */
function root(x: bigint): bigint {
  let found = 0n;
  for (let bit = 1n << 40n; bit > 0n; bit >>= 1n) if ((found + bit) ** 2n <= x) found += bit;
  return found;
}

function lesser(x: bigint, y: bigint): bigint {
  if (x < y) return x;
  return y;
}
