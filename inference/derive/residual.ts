/** The residual: what each part of a layer adds to, s32. */
import type { ProgramBuilder } from "../onnx/builder.ts";
import type { Operand } from "../program/form.ts";
import { clamped, largest, moved, type Sums, scaled, sizeOf } from "./steps.ts";

/** It is in units of 2^-11 and clamped to ±2^15: so the length of a row of up to 1,023 numbers fits s32. */
export const RESIDUAL_BITS = 11;
/** Fraction bits of a normalized number. */
export const NORMAL_BITS = 20;
const MOST_RESIDUAL = 2 ** 26;
/** What is added to it has room beside it in s32. */
const MOST_ADDED = 2 ** 30;

/** State plus a product; one that could be too large for the residual's unit is clamped in a coarser one.
 *  @param state [places, width] @param sums [places, parts · width] @param parts that are added */
export function added(builder: ProgramBuilder, state: Operand, { sums, units }: Sums, parts = 1): Operand {
  const [places, width] = builder.shape(state).dims as [number, number];
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
