/** Steps that every part of a derived model is made of. */
import { coordinates, reshapeCoordinates } from "../onnx/axes.ts";
import type { Changed, ProgramBuilder } from "../onnx/builder.ts";
import { fixedPoint } from "../onnx/lower/wide.ts";
import { refuse } from "../onnx/refusal.ts";
import { highest, lowest } from "../profile/range.ts";
import { MAX_PLANES_LENGTH } from "../program/check.ts";
import type { Operand } from "../program/form.ts";
import { type ChannelParameters, packDot } from "../program/weights.ts";
import { BYTE_MIDDLE, type QuantizedRows, storedValues, withSigns } from "./quantized-rows.ts";

/** An operand of a product: planes of numbers of 16 bits. */
export interface Wide {
  readonly planes: number;
  /** what 1 of a number stands for */
  readonly unit: number;
  /** whether the number in each column has the other sign */
  readonly signs?: readonly (1 | -1)[];
}

/** Of numbers of 16 bits: the one that stands for 0, and the largest distance from it. */
export const MIDDLE = 32_768;
export const MOST = 32_767;
/** Scores of a vocabulary are compared in rows of so many. */
export const SCORE_ROW = 256;
/** Of what is added to sums of products. */
const MOST_BIAS = 2 ** 31 - 1;
/** Of what RESCALE makes before it is clamped to 16 bits. */
const MOST_SCALED = 2 ** 30;

/** The largest size of an element, by intervals. */
export function sizeOf(builder: ProgramBuilder, x: Operand): number {
  const range = builder.range(x);
  return Math.max(Math.abs(lowest(range)), Math.abs(highest(range)));
}

/** RESCALE's parameters for `round(x·factor) + zero`, halves up.
 *  @param size of x @param zeros one for all, or one a factor */
export const channelsOf = (
  factors: ArrayLike<number>,
  size: number,
  zeros: number | readonly number[] = 0,
): ChannelParameters[] =>
  Array.from(factors, (factor, n) =>
    fixedPoint(factor, size, typeof zeros === "number" ? zeros : (zeros[n] as number)),
  );

/** The largest size of x of which what RESCALE computes stays inside s32. */
const limitOf = (factors: ArrayLike<number>): number => Math.floor(MOST_SCALED / largest(factors));

/** What RESCALE computes on the way from x stays inside s32.
 *  @param factors of at most 2^14 times each other, so that what is clamped is beyond 16 bits in each channel */
function inside(builder: ProgramBuilder, x: Operand, factors: ArrayLike<number>): Operand {
  const all = Array.from(factors);
  const limit = limitOf(all);
  if (sizeOf(builder, x) <= limit) return x;
  const least = all.filter((factor) => factor > 0).reduce((a, b) => Math.min(a, b));
  if (limit * least < 2 * MIDDLE)
    refuse(
      `its channels are scaled by ${least} to ${largest(all)}`,
      "Take scales that were measured on these weights.",
    );
  return clamped(builder, x, -limit, limit);
}

/** `round(x·factor) + zero` of s32; beyond 16 bits it can be clamped. @param factors one, or one a channel */
export function scaled(
  builder: ProgramBuilder,
  x: Operand,
  factors: ArrayLike<number>,
  zeros: number | readonly number[] = 0,
): Operand {
  const kept = inside(builder, x, factors);
  return builder.rescale(kept, channelsOf(factors, sizeOf(builder, kept), zeros));
}

/** Numbers of 16 bits: `round(x·factor) + zero`, clamped.
 *  @param factors one, or one a channel @param unit of the result @param zeros one a channel
 *  @param dims in which x's elements are read, default x's own */
export const wide = (
  builder: ProgramBuilder,
  x: Operand,
  factors: ArrayLike<number>,
  unit: number,
  zeros?: readonly number[],
  dims?: readonly number[],
): Wide => {
  const kept = inside(builder, x, factors);
  const middles = zeros === undefined ? MIDDLE : zeros.map((zero) => MIDDLE + zero);
  return { planes: builder.planes(kept, channelsOf(factors, sizeOf(builder, kept), middles), dims), unit };
};

/** What `wide` makes of x once it is changed, in the same step where what it becomes cannot be too large for it.
 *  @param changed divisors: one for each row of x @param size of what x is changed to @param dims in which x's elements are read, default x's own */
export function changedWide(
  builder: ProgramBuilder,
  x: Operand,
  changed: Changed,
  size: number,
  factors: ArrayLike<number>,
  unit: number,
  dims?: readonly number[],
): Wide {
  if (size > limitOf(factors)) {
    const { by, multiplier } = changed;
    const apart =
      multiplier === undefined ? builder.arith("mul", "s32", x, by) : builder.ratio(x, by, multiplier);
    return wide(builder, apart, factors, unit, undefined, dims);
  }
  return { planes: builder.planes(x, channelsOf(factors, size, MIDDLE), dims, changed), unit };
}

/** What the sums of a product become. */
export interface Result {
  /** what 1 of its numbers stands for: of all, or of each channel */
  readonly unit: number | readonly number[];
  /** s32 from -2^bits to 2^bits - 1, clamped; absent: signed bytes */
  readonly bits?: number;
  /** the number that stands for 0; of bytes 0 */
  readonly zero?: number;
}

/** The product of an operand and rows of weights.
 *  @param rows leading dims of the result @param groups as DOT's k @param biases what is added to each channel
 *  @param added to the result, of its dims */
export function product(
  builder: ProgramBuilder,
  { planes, unit, signs }: Wide,
  weights: QuantizedRows,
  rows: readonly number[],
  result: Result,
  groups = 1,
  biases?: ArrayLike<number>,
  added?: Operand,
): Operand {
  const signed = signs === undefined ? weights : withSigns(weights, signs);
  const { length, values, scales } = signed;
  const { bits, zero = 0 } = result;
  const stored = bits === undefined ? { zeroPoint: BYTE_MIDDLE, lower: 0, upper: 255 } : { upper: bits };
  const channels = Array.from(scales, (scale, n): ChannelParameters => {
    const [sum, sizes] = sumsOf(values.subarray(n * length, (n + 1) * length));
    const own = biases === undefined ? 0 : Math.round((biases[n] as number) / (scale * unit));
    const bias = own - MIDDLE * sum;
    if (Math.abs(bias) > MOST_BIAS)
      refuse(
        `a bias is ${biases?.[n] ?? 0} beside weights in steps of ${scale}, which leaves 32 bits`,
        "Take other weights.",
      );
    const wanted = typeof result.unit === "number" ? result.unit : (result.unit[n] as number);
    const size = MIDDLE * sizes + Math.abs(own);
    const factor = fixedPoint((scale * unit) / wanted, size, zero);
    return { ...factor, ...stored, bias, weightOffset: BYTE_MIDDLE };
  });
  const descriptor = { layout: "dot", type: "u8", dims: [scales.length, length] } as const;
  const packed = builder.weight(descriptor, packDot(storedValues(signed), length, channels));
  const type = bits === undefined ? "s8" : "s32";
  return builder.dot("rescaled", type, planes, packed, groups, rows, added);
}

/** The sum of a row's values, and that of their sizes. */
function sumsOf(values: Int8Array): readonly [sum: number, sizes: number] {
  let sum = 0;
  let sizes = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    sum += value;
    sizes += Math.abs(value);
  }
  return [sum, sizes];
}

/** Axes of a source, outermost first: its length, the output's axes that it follows, each with a factor, and where it
 *  begins. */
export type View = readonly (readonly [
  dim: number,
  terms: readonly (readonly [axis: number, factor: number])[],
  offset?: number,
])[];

export function moved(builder: ProgramBuilder, x: Operand, dims: readonly number[], view: View): Operand {
  const axes = view.map(([dim, terms, offset = 0]) => ({
    ...{ dim, offset, checked: false },
    terms: terms.map(([axis, factor]) => ({ axis, factor })),
  }));
  return builder.move(x, dims, coordinates(axes, dims));
}

export const reshaped = (builder: ProgramBuilder, x: Operand, dims: readonly number[]): Operand =>
  builder.move(x, dims, reshapeCoordinates(dims));

/** `min(max(x, low), high)` of s32, where x is not known to be inside. */
export function clamped(builder: ProgramBuilder, x: Operand, low: number, high: number): Operand {
  const range = builder.range(x);
  const raised = lowest(range) < low ? builder.arith("max", "s32", x, builder.s32(low)) : x;
  return highest(range) > high ? builder.arith("min", "s32", raised, builder.s32(high)) : raised;
}

/** The largest element. */
export const largest = (numbers: ArrayLike<number>): number =>
  Array.from(numbers).reduce((most, x) => Math.max(most, x), 0);

/** The least number of equal parts of rows of weights, each short enough for a product whose sums fit s32. */
export function partsOf({ length, values }: QuantizedRows): number {
  for (let parts = 1; parts <= length; parts++)
    if (length % parts === 0 && length / parts <= MAX_PLANES_LENGTH && areSmall(values, length / parts))
      return parts;
  return refuse(`its rows of ${length} cannot be cut`, "Take another model.");
}

/** Whether no sum of the sizes of `length` values, one after the other, is 2^16 or more. */
function areSmall(values: Int8Array, length: number): boolean {
  for (let at = 0; at < values.length; at += length)
    if (sumsOf(values.subarray(at, at + length))[1] >= 2 ** 16) return false;
  return true;
}

/** Rows of numbers as rows of parts. @param dims that x has elements for: rows, and the length of one */
export function inParts(
  builder: ProgramBuilder,
  x: Operand,
  [rows, length]: readonly [number, number],
  parts: number,
): Operand {
  const dims = parts === 1 ? [rows, length] : [rows, parts, length / parts];
  return builder.shape(x).dims.join() === dims.join() ? x : reshaped(builder, x, dims);
}

/** The least power of two that is not below it. */
export function powerOfTwo(x: number): number {
  let power = 1;
  while (power < x) power *= 2;
  while (power / 2 >= x) power /= 2;
  return power;
}

/** Functions of 16 bits are tabulated for 2^16 integers around 0. */
export const TABLE_HALF = 2 ** 15;

/** A function of integers around 0, as many as there are; those beyond the table are as its ends: LOOKUP clamps them.
 *  @param x s32, TABLE_HALF where the function is of 0 @returns s32 of the same dims */
export function tabulated(builder: ProgramBuilder, x: Operand, of: (integer: number) => number): Operand {
  const numbers = Int32Array.from({ length: 2 * TABLE_HALF }, (_, id) => Math.round(of(id - TABLE_HALF)));
  const table = builder.plain("s32", [numbers.length, 1], numbers);
  return builder.each(x, table);
}
