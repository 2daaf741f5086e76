/** The residual: what each part of a layer adds to, s32. */
import type { ProgramBuilder } from "../onnx/builder.ts";
import type { Operand } from "../program/form.ts";
import { cutRows, type QuantizedRows } from "./quantized-rows.ts";
import { clamped, moved, product, sizeOf, type Wide } from "./steps.ts";

/** It is in units of 2^-11, and clamped to ±2^15 where the length of a row could leave s32 otherwise. Rows of up to 1,023
 *  numbers of that size fit. */
export const RESIDUAL_BITS = 11;
/** Fraction bits of a normalized number. */
export const NORMAL_BITS = 20;
/** Of the residual, and of each product that is added to it. */
const MOST_BITS = 26;
/** A product that is added is kept up to so many times the largest one that was measured: it costs nothing, and one that is
 *  cut is wrong in all layers to come. */
const ROOM = 2;
/** Of the length of a row, with room for what is added under its root. */
const MOST_LENGTH = 2 ** 31 - 4;

export interface Added {
  readonly parts?: number;
  readonly biases?: ArrayLike<number>;
  readonly most?: number | undefined;
}

/** State plus a product.
 *  @param state [places, width] @param x in `parts` parts a row, of each of which there is a product
 *  @param biases what is added to each of the width's channels @param most the largest product that was measured */
export function added(
  builder: ProgramBuilder,
  state: Operand,
  x: Wide,
  weights: QuantizedRows,
  { parts = 1, biases, most = Number.POSITIVE_INFINITY }: Added = {},
): Operand {
  const [places, width] = builder.shape(state).dims as [number, number];
  // A bias is added once.
  const all =
    biases === undefined ? undefined : Float64Array.from({ length: parts * width }, (_, i) => biases[i] ?? 0);
  // Parts of a product can be larger than their sum, of which alone the size was measured.
  const known = parts === 1 ? Math.ceil(Math.log2(ROOM * most)) + RESIDUAL_BITS : MOST_BITS;
  const result = { unit: 2 ** -RESIDUAL_BITS, bits: Math.min(MOST_BITS, known) };
  const cut = cutRows(weights, parts);
  const terms = product(builder, x, cut, [places], result, parts, all, parts === 1 ? state : undefined);
  const beside = (): Operand =>
    moved(
      builder,
      terms,
      [places, width, parts],
      [
        [places, [[0, 1]]],
        [parts, [[2, 1]]],
        [width, [[1, 1]]],
      ],
    );
  const sum =
    parts === 1
      ? terms
      : builder.arith("add", "s32", state, builder.reduce("sum", beside(), [places, width]));
  if (sizeOf(builder, sum) <= MOST_LENGTH / Math.sqrt(width)) return sum;
  return clamped(builder, sum, -(2 ** MOST_BITS), 2 ** MOST_BITS);
}
