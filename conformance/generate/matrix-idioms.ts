/** Two or three steps on a matrix as models have them one behind the other: where implementations are tempted to make
 *  one of several. Every length, order and type is random. */
import { type Coordinate, elementCount, lastDim, type TensorType } from "../../inference/program/form.ts";
import { packDot } from "../../inference/program/weights.ts";
import { followStep, parameterWords, reduce, requant, typesOf } from "./chain-steps.ts";
import type { ProgramBuilder, Value } from "./program-builder.ts";
import type { Rng } from "./rng.ts";
import { edgeLength, factors, shuffled, viewStep } from "./views.ts";

/** @param most elements of a tensor */
type Idiom = (b: ProgramBuilder, most: number) => Value;

const TYPES = ["s32", "s32", "s32", "s32", "u8", "s8", "f32", "bool"] as const;

/** A matrix of the request with rows or columns that are few. */
function matrix(b: ProgramBuilder, most: number, types: readonly TensorType[] = TYPES): Value {
  const { rng } = b;
  const few = rng.int(1, Math.min(9, most));
  const many = Math.min(rng.chance(0.4) ? rng.pick([32, 64, 64]) : edgeLength(rng), Math.floor(most / few));
  const dims = rng.chance(0.75) ? [many, few] : [few, many];
  return b.fresh(rng.pick(types.filter((type) => typesOf(b).includes(type))), dims);
}

const axis = (view: number, a: number, p: number, c = 0): Coordinate => ({ view, a, p, b: 0, q: 0, c });

interface Side {
  readonly before: number;
  readonly behind: number;
}
const NO_SIDE: Side = { before: 0, behind: 0 };
const side = (rng: Rng): Side => ({
  before: rng.chance(0.5) ? 0 : rng.int(1, 5),
  behind: rng.chance(0.3) ? 0 : rng.pick([1, 2, 3, 8, rng.int(1, 33)]),
});

/** Where a part begins: mostly at the beginning or the end. */
const startOf = (rng: Rng, most: number): number => rng.pick([0, 0, most, rng.int(0, most)]);

/** The matrix with its rows as columns, in one step with what else is done to it. */
function turned(b: ProgramBuilder, source: Value): Value {
  const { rng } = b;
  const columns = lastDim(source.dims);
  const rows = elementCount(source.dims) / columns;
  // Of the rows, or of the columns, a part; either may run backwards, or be strided.
  const read = (length: number): readonly [length: number, a: number, c: number] => {
    const kind = rng.int(1, 20);
    if (kind <= 6) {
      const part = rng.int(1, length);
      return [part, 1, startOf(rng, length - part)];
    }
    if (kind <= 8) return [length, -1, length - 1];
    if (kind === 9) return [Math.ceil(length / 2), 2, 0];
    return [length, 1, 0];
  };
  const [many, aRow, cRow] = read(rows);
  const [few, aColumn, cColumn] = read(columns);
  const dims = [few, many];
  if (rng.chance(0.3)) {
    // Padded on the way: only where it runs on by one.
    const [top, left] = rng.chance(0.7) ? [side(rng), NO_SIDE] : [side(rng), side(rng)];
    if (aRow === 1 && aColumn === 1) {
      return viewStep(
        b,
        source,
        [few + top.before + top.behind, many + left.before + left.behind],
        [axis(rows, 1, 1, cRow - left.before), axis(columns, 1, 0, cColumn - top.before)],
      );
    }
  }
  return viewStep(b, source, dims, [axis(rows, aRow, 1, cRow), axis(columns, aColumn, 0, cColumn)]);
}

/** The first rows as columns: what a window over a series is. */
function turnedRows(b: ProgramBuilder, source: Value): Value {
  const columns = lastDim(source.dims);
  const rows = elementCount(source.dims) / columns;
  const taken = b.rng.int(Math.ceil(rows / 2), rows);
  return viewStep(b, source, [columns, taken], [axis(rows, 1, 1), axis(columns, 1, 0)]);
}

/** Turned into three axes: the rows or the columns are two of them, in any order. */
function turnedToThree(b: ProgramBuilder, source: Value): Value {
  const { rng } = b;
  const columns = lastDim(source.dims);
  const rows = elementCount(source.dims) / columns;
  const isRows = rng.chance(0.7);
  const [outer = 1, inner = 1] = factors(rng, isRows ? rows : columns, 2);
  const order = rng.chance(0.5) ? ["other", "outer", "inner"] : shuffled(rng, ["other", "outer", "inner"]);
  const at = (name: string): number => order.indexOf(name);
  const lengths: Readonly<Record<string, number>> = { outer, inner, other: isRows ? columns : rows };
  const split = { ...axis(outer * inner, inner, at("outer")), b: 1, q: at("inner") };
  const other = axis(lengths.other as number, 1, at("other"));
  const dims = order.map((name) => lengths[name] as number);
  return viewStep(b, source, dims, isRows ? [split, other] : [other, split]);
}

const turn = (b: ProgramBuilder, source: Value): Value =>
  b.rng.chance(0.5) ? turned(b, source) : turnedToThree(b, source);

/** A part of the last axis, or of the others, which are joined. */
function slice(b: ProgramBuilder, source: Value): Value {
  const { rng } = b;
  const last = lastDim(source.dims);
  const rows = elementCount(source.dims) / last;
  const part = (length: number): readonly [number, number] => {
    const taken = rng.int(1, length);
    return [taken, startOf(rng, length - taken)];
  };
  const [columns, from] = rng.chance(0.8) ? part(last) : [last, 0];
  const [taken, first] = rng.chance(0.3) ? part(rows) : [rows, 0];
  return viewStep(b, source, [taken, columns], [axis(rows, 1, 0, first), axis(last, 1, 1, from)]);
}

const consume = (b: ProgramBuilder, value: Value, most: number): Value =>
  (b.rng.chance(0.6) ? reduce(b, value, most) : undefined) ?? followStep(b, value, most);

/** A part of a tensor that was turned, summed or gone on with. */
const turnedPart: Idiom = (b, most) => consume(b, slice(b, turn(b, matrix(b, most))), most);

/** Bytes from numbers, then turned into two axes or three. */
const requantTurned: Idiom = (b, most) => {
  const source = matrix(b, most, ["s32"]);
  const bytes = requant(b, source, most) as Value;
  const result = b.rng.chance(0.4) ? turnedRows(b, bytes) : turn(b, bytes);
  return b.rng.chance(0.3) ? consume(b, result, most) : result;
};

/** Sums and extremes of what is repeated, reversed or a column. */
const columnSums: Idiom = (b, most) => {
  const { rng } = b;
  const source = matrix(b, most, ["s32", "s32", "u8", "s8"]);
  const columns = lastDim(source.dims);
  const rows = elementCount(source.dims) / columns;
  if (rng.chance(0.5)) return consume(b, turned(b, source), most);
  const times = Math.max(1, Math.min(edgeLength(rng, 40), Math.floor(most / (rows * columns))));
  const places = shuffled(rng, [rows, columns, times]);
  const at = (length: number): number => places.indexOf(length);
  // Of equal lengths the first place is taken twice: what is left repeats.
  const repeated = viewStep(b, source, places, [axis(rows, 1, at(rows)), axis(columns, 1, at(columns))]);
  return consume(b, repeated, most);
};

/** A matrix in the middle of a larger one, turned or as it stands. */
const padded: Idiom = (b, most) => {
  const { rng } = b;
  const source = matrix(b, most);
  const columns = lastDim(source.dims);
  const rows = elementCount(source.dims) / columns;
  const [top, left] = [side(rng), rng.chance(0.6) ? NO_SIDE : side(rng)];
  const isTurned = rng.chance(0.6);
  const [down, across] = isTurned ? [columns, rows] : [rows, columns];
  const dims = [down + top.before + top.behind, across + left.before + left.behind];
  const alongDown = axis(down, 1, 0, -top.before);
  const alongAcross = axis(across, 1, 1, -left.before);
  return viewStep(b, source, dims, isTurned ? [alongAcross, alongDown] : [alongDown, alongAcross]);
};

/** Windows of an image, as a matrix for a DOT. */
const convolution: Idiom = (b, most) => {
  const { rng } = b;
  const channels = rng.int(1, 4);
  const width = Math.min(edgeLength(rng, 20), Math.max(1, Math.floor(most / 8)));
  const kernel = rng.int(1, Math.min(4, width));
  const before = rng.int(0, 1);
  const stride = rng.int(1, 2);
  const positions = Math.floor((width + 2 * before - kernel) / stride) + 1;
  const source = b.fresh(rng.pick(["u8", "s8"] as const), [width, channels]);
  const window = { ...axis(width, stride, 0, -before), b: 1, q: 1 };
  const windows = viewStep(b, source, [positions, kernel, channels], [window, axis(channels, 1, 2)]);
  const k = kernel * channels;
  const rows = viewStep(b, windows, [positions, k], [axis(positions, 1, 0), axis(k, 1, 1)]);
  const n = rng.int(1, 8);
  const words = packDot(rng.bytes(n * k), k, parameterWords(rng, n, 17));
  const weights = b.weight({ layout: "dot", type: "u8", dims: [n, k] }, words);
  const variant = rng.pick([0, 1, 1]);
  const type = variant === 0 ? "s32" : rng.pick(["u8", "s8"] as const);
  return b.step({ opcode: "dot", variant, type, dims: [positions, n], a: rows, b: weights, k: 1 });
};

const IDIOMS: readonly Idiom[] = [
  ...[turnedPart, turnedPart, turnedPart, requantTurned, requantTurned, requantTurned],
  ...[columnSums, columnSums, padded, convolution],
];

/** Some steps on a matrix of the request. @param most elements of a tensor */
export const matrixIdiom = (b: ProgramBuilder, most: number): Value => b.rng.pick(IDIOMS)(b, most);
