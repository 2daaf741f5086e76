/** The residual: what each part of a layer reads, normalized, and adds to. */
import type { Operand } from "../../program/form.ts";
import { reals } from "../gguf.ts";
import type { Context, Wide } from "./context.ts";
import { clamped, largest, MOST, moved, type Sums, scaled, sizeOf, wide } from "./emit.ts";
import { tensorOf } from "./shape.ts";

/** It is in units of 2^-11 and clamped to ±2^15: so the length of a row of up to 1,023 numbers fits s32. */
export const RESIDUAL_BITS = 11;
const MOST_RESIDUAL = 2 ** 26;
/** What is added to it has room beside it in s32. */
const MOST_ADDED = 2 ** 30;
/** Fraction bits of a normalized number. */
const NORMAL_BITS = 20;

/** Rows divided by their root mean square, times the gain; where a gain is negative, with the other sign.
 *  @param most largest size that is kept */
export function normalized(
  { builder, file, shape: { width, epsilon }, places }: Context,
  state: Operand,
  gainName: string,
  most: number,
): Wide {
  const gains = reals(file, tensorOf(file, gainName));
  const addend = Math.max(1, Math.round(width * epsilon * 4 ** RESIDUAL_BITS));
  const length = builder.norm(state, addend, [places, 1]);
  const normal = builder.ratio(state, length, Math.round(Math.sqrt(width) * 2 ** NORMAL_BITS));
  const unit = most / MOST;
  const factors = Array.from(gains, (gain) => Math.abs(gain) / unit / 2 ** NORMAL_BITS);
  return { ...wide(builder, normal, factors, unit), signs: Array.from(gains, (gain) => (gain < 0 ? -1 : 1)) };
}

/** State plus a product; one that could be too large for the residual's unit is clamped in a coarser one.
 *  @param product [places, parts · width] @param parts that are added */
export function added(
  { builder, shape: { width }, places }: Context,
  state: Operand,
  { sums, units }: Sums,
  parts = 1,
): Operand {
  const size = parts * largest(units) * sizeOf(builder, sums);
  let bits = RESIDUAL_BITS;
  while (size * 2 ** bits >= MOST_ADDED) bits -= 1;
  const terms = scaled(
    builder,
    sums,
    units.map((unit) => unit * 2 ** bits),
  );
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
  const whole = parts === 1 ? terms : builder.reduce("sum", beside(), [places, width]);
  const steps = 2 ** (RESIDUAL_BITS - bits);
  const term =
    steps === 1
      ? whole
      : builder.arith(
          "mul",
          "s32",
          clamped(builder, whole, -MOST_RESIDUAL / steps, MOST_RESIDUAL / steps),
          builder.s32(steps),
        );
  return clamped(builder, builder.arith("add", "s32", state, term), -MOST_RESIDUAL, MOST_RESIDUAL);
}
