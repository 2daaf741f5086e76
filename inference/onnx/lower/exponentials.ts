/** Exponentials: e^-z of z ≥ 0 as a product of numbers from tables of a byte each, e^x of any x by whole and rest. */

import { elementCount, type Operand } from "../../program/form.ts";
import { bounded, summable } from "./held.ts";
import type { Lowering } from "./lowering.ts";
import { EXPONENTIAL, tabulated } from "./tabulated.ts";

const BYTE = 256;

/** e^-(q·2^-bits), f32, of integers 0 ≤ q < 256^digits. @param isCut true where the last entry of the first table is 0 */
export function expOfMinusInteger(
  ctx: Lowering,
  q: Operand,
  digits: 2 | 3,
  bits: number,
  isCut = false,
): Operand {
  const { builder } = ctx;
  const { dims } = builder.shape(q);
  let result: Operand | undefined;
  let rest = q;
  for (let place = digits - 1; place >= 0; place--) {
    const power = BYTE ** place;
    const digit = power === 1 ? rest : builder.arith("div", "s32", rest, builder.s32(power));
    const table = Float32Array.from({ length: BYTE }, (_, i) => Math.exp(-(i * power) / 2 ** bits));
    if (isCut && result === undefined) table[BYTE - 1] = 0;
    const ids = ctx.reshape(digit, [...dims, 1]);
    const factor = builder.lookup("pick", ids, builder.plain("f32", [BYTE, 1], table), dims);
    const flat = ctx.reshape(factor, dims);
    result = result === undefined ? flat : builder.float("mul", "f32", result, flat);
    if (power > 1) {
      const whole = builder.arith("mul", "s32", digit, builder.s32(power));
      rest = builder.arith("sub", "s32", rest, whole);
    }
  }
  return result as Operand;
}

/** Fraction bits of the part of z that tables hold. */
const TABLE_BITS = 11;
/** z from 31.875 on gives 0. */
const MOST_Z = 32 - 2 ** -TABLE_BITS;

/** e^-z, f32 in 0..1, within 2^-21 of itself or 2^-45; exactly 1 at 0.
 *  `T·(1 − r)` with the tables' number T of the nearest multiple of 2^-11 and the rest r. @param z f32 */
export function expOfMinus(ctx: Lowering, z: Operand): Operand {
  const { builder } = ctx;
  const positive = builder.float("max", "f32", z, builder.f32(0));
  const inside = builder.float("min", "f32", positive, builder.f32(MOST_Z));
  const units = builder.float("mul", "f32", inside, builder.f32(2 ** TABLE_BITS));
  const near = builder.float("round", "f32", units);
  // No rest is above 1/2: the bounds change nothing, and let import see it.
  const above = builder.float("max", "f32", builder.float("sub", "f32", units, near), builder.f32(-0.5));
  const rest = builder.float("min", "f32", above, builder.f32(0.5));
  const step = builder.float("mul", "f32", rest, builder.f32(-(2 ** -TABLE_BITS)));
  const factor = builder.float("add", "f32", step, builder.f32(1));
  const tabled = expOfMinusInteger(ctx, builder.float("toint", "s32", near), 2, TABLE_BITS, true);
  return builder.float("mul", "f32", tabled, factor);
}

/** e^x of these is normal and finite. */
const [LEAST_X, MOST_X] = [-86, 88];

/** e^x within 2^-21 of itself, of x from −86 to 88: a table's number for the nearest integer times e^rest. */
export function exponential(ctx: Lowering, x: Operand): Operand {
  const { builder } = ctx;
  const { dims } = builder.shape(x);
  const elements = elementCount(dims);
  const above = builder.float("max", "f32", summable(ctx, bounded(ctx, x, 2 ** 20)), builder.f32(LEAST_X));
  const inside = builder.float("min", "f32", above, builder.f32(MOST_X));
  const whole = builder.float("round", "f32", inside);
  const rest = tabulated(ctx, builder.float("sub", "f32", inside, whole), EXPONENTIAL);
  const id = builder.float("toint", "s32", builder.float("sub", "f32", whole, builder.f32(LEAST_X)));
  const rows = MOST_X - LEAST_X + 1;
  const table = Float32Array.from({ length: rows }, (_, i) => Math.exp(i + LEAST_X));
  const ids = ctx.reshape(id, [elements, 1]);
  const picked = builder.lookup("pick", ids, builder.plain("f32", [rows, 1], table), [elements]);
  return builder.float("mul", "f32", ctx.reshape(picked, dims), rest);
}
