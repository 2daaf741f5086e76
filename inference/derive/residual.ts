/** The residual: what each part of a layer adds to, s32. */
import type { ProgramBuilder } from "../onnx/builder.ts";
import type { Operand } from "../program/form.ts";
import { cutRows, type QuantizedRows } from "./quantized-rows.ts";
import { clamped, moved, product, type Wide } from "./steps.ts";

/** It is in units of 2^-11 and clamped to ±2^15: so the length of a row of up to 1,023 numbers fits s32. */
export const RESIDUAL_BITS = 11;
/** Fraction bits of a normalized number. */
export const NORMAL_BITS = 20;
/** Of the residual, and of each product that is added to it. */
const MOST_BITS = 26;

/** State plus a product.
 *  @param state [places, width] @param x in `parts` parts a row, of each of which there is a product
 *  @param biases what is added to each of the width's channels */
export function added(
  builder: ProgramBuilder,
  state: Operand,
  x: Wide,
  weights: QuantizedRows,
  { parts = 1, biases }: { readonly parts?: number; readonly biases?: ArrayLike<number> } = {},
): Operand {
  const [places, width] = builder.shape(state).dims as [number, number];
  // A bias is added once.
  const all =
    biases === undefined ? undefined : Float64Array.from({ length: parts * width }, (_, i) => biases[i] ?? 0);
  const result = { unit: 2 ** -RESIDUAL_BITS, bits: MOST_BITS };
  const terms = product(builder, x, cutRows(weights, parts), [places], result, parts, all);
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
  const term = parts === 1 ? terms : builder.reduce("sum", beside(), [places, width]);
  return clamped(builder, builder.arith("add", "s32", state, term), -(2 ** MOST_BITS), 2 ** MOST_BITS);
}
