/** Steps that every part of a language model is made of. */
import { coordinates, reshapeCoordinates } from "../../onnx/axes.ts";
import type { ProgramBuilder } from "../../onnx/builder.ts";
import { PLAIN_CHANNEL } from "../../onnx/lower/product.ts";
import { fixedPoint } from "../../onnx/lower/wide.ts";
import { refuse } from "../../onnx/refusal.ts";
import { highest, lowest } from "../../profile/range.ts";
import type { Operand } from "../../program/form.ts";
import { type ChannelParameters, packDot } from "../../program/weights.ts";
import { BYTE_MIDDLE, type QuantizedRows, storedValues, withSigns } from "../quantized-rows.ts";
import type { Wide } from "./context.ts";

/** Of numbers of 16 bits: the one that stands for 0, and the largest distance from it. */
export const MIDDLE = 32_768;
export const MOST = 32_767;
/** Of what RESCALE makes before it is clamped to 16 bits. */
const MOST_SCALED = 2 ** 30;

/** The largest size of an element, by intervals. */
export function sizeOf(builder: ProgramBuilder, x: Operand): number {
  const range = builder.range(x);
  return Math.max(Math.abs(lowest(range)), Math.abs(highest(range)));
}

/** RESCALE's parameters for `round(x·factor) + zero`, halves up. @param size of x */
export const channelsOf = (factors: ArrayLike<number>, size: number, zero = 0): ChannelParameters[] =>
  Array.from(factors, (factor) => fixedPoint(factor, size, zero));

/** What RESCALE computes on the way from x stays inside s32.
 *  @param factors of at most 2^14 times each other, so that what is clamped is beyond 16 bits in each channel */
function inside(builder: ProgramBuilder, x: Operand, factors: ArrayLike<number>): Operand {
  const all = Array.from(factors);
  const limit = Math.floor(MOST_SCALED / largest(all));
  if (sizeOf(builder, x) <= limit) return x;
  const least = all.filter((factor) => factor > 0).reduce((a, b) => Math.min(a, b));
  if (limit * least < 2 * MIDDLE)
    refuse(
      `its channels are scaled by ${least} to ${largest(all)}`,
      "Take scales that were measured on these weights.",
    );
  return clamped(builder, x, -limit, limit);
}

/** `round(x·factor)` of s32; beyond 16 bits it can be clamped. @param factors one, or one a channel */
export function scaled(builder: ProgramBuilder, x: Operand, factors: ArrayLike<number>): Operand {
  const kept = inside(builder, x, factors);
  return builder.rescale(kept, channelsOf(factors, sizeOf(builder, kept)));
}

/** Numbers of 16 bits: `round(x·factor)`, clamped. @param factors one, or one a channel @param unit of the result */
export const wide = (builder: ProgramBuilder, x: Operand, factors: ArrayLike<number>, unit: number): Wide => {
  const kept = inside(builder, x, factors);
  return { planes: builder.planes(kept, channelsOf(factors, sizeOf(builder, kept), MIDDLE)), unit };
};

/** `round(x·factor)` as signed bytes, clamped. @param factors one, or one a channel */
export function bytes(builder: ProgramBuilder, x: Operand, factors: ArrayLike<number>): Operand {
  const stored = { zeroPoint: BYTE_MIDDLE, lower: 0, upper: 255 };
  const channels = channelsOf(factors, sizeOf(builder, x)).map((channel) => ({ ...channel, ...stored }));
  return builder.requant(x, "integer", "s8", channels);
}

/** Sums of products, and what 1 of each channel's stands for. */
export interface Sums {
  readonly sums: Operand;
  readonly units: Float64Array;
}

/** The product of an operand and rows of weights. @param rows leading dims of the result @param groups as DOT's k */
export function product(
  builder: ProgramBuilder,
  { planes, unit, signs }: Wide,
  weights: QuantizedRows,
  rows: readonly number[],
  groups = 1,
): Sums {
  const signed = signs === undefined ? weights : withSigns(weights, signs);
  const { length, values, scales } = signed;
  const channels = Array.from(scales, (_, n): ChannelParameters => {
    let sum = 0;
    for (let i = n * length; i < (n + 1) * length; i++) sum += values[i] as number;
    return { ...PLAIN_CHANNEL, bias: -MIDDLE * sum, weightOffset: BYTE_MIDDLE };
  });
  const descriptor = { layout: "dot", type: "u8", dims: [scales.length, length] } as const;
  const packed = builder.weight(descriptor, packDot(storedValues(signed), length, channels));
  return {
    sums: builder.dot("planes", "s32", planes, packed, groups, rows),
    units: scales.map((scale) => scale * unit),
  };
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
