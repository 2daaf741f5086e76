/** Probabilities of fixed-point scores. e^-z of z ≥ 0 is a product of three numbers from tables of a byte each, so that
 *  z counts in units of 2^-19 up to 32; the rest is FLOAT. */

import type { Operand } from "../../program/form.ts";
import { expOfMinusInteger } from "../lower/exponentials.ts";
import type { Lowering } from "../lower/lowering.ts";
import type { TensorValue } from "../lower/values.ts";

/** Fraction bits of z. */
const Z_BITS = 19;
const BYTE = 256;
/** Fraction bits of scores that are transformed: z cuts off more than these. */
export const MOST_SCALE_BITS = 40;

/** What the functions below add to the distance from the real function of the same score, at most. */
export const LOGISTIC_BOUND = 2 ** -21;
export const softmaxBound = (classes: number): number => 2 ** -19 + classes * 2 ** -24;

/** e^-(size · 2^-scaleBits), f32. @param size s32 ≥ 0, which intervals do not always know */
function expOfMinus(ctx: Lowering, size: Operand, scaleBits: number): Operand {
  const { builder } = ctx;
  const value = builder.arith("max", "s32", size, builder.s32(0));
  const most = BYTE ** 3 - 1;
  const shift = 2 ** Math.abs(Z_BITS - scaleBits);
  let z: Operand;
  if (scaleBits <= Z_BITS) {
    const clamped = builder.arith("min", "s32", value, builder.s32(Math.floor(most / shift)));
    z = shift === 1 ? clamped : builder.arith("mul", "s32", clamped, builder.s32(shift));
  } else {
    const raised = builder.arith("add", "s32", value, builder.s32(shift / 2));
    z = builder.arith(
      "min",
      "s32",
      builder.arith("div", "s32", raised, builder.s32(shift)),
      builder.s32(most),
    );
  }
  return expOfMinusInteger(ctx, z, 3, Z_BITS);
}

/** 1 / (1 + e^-s), of a negative s as e^s / (1 + e^s). */
export function logistic(ctx: Lowering, scores: TensorValue, scaleBits: number): TensorValue {
  const { builder } = ctx;
  const { operand } = scores;
  const minus = builder.arith("sub", "s32", builder.s32(0), operand);
  const size = builder.arith("max", "s32", operand, minus);
  const e = expOfMinus(ctx, size, scaleBits);
  const one = builder.f32(1);
  const high = builder.float("div", "f32", one, builder.float("add", "f32", e, one));
  const low = builder.float("mul", "f32", e, high);
  const isNegative = builder.arith("lt", "bool", operand, builder.s32(0));
  return { ...scores, operand: builder.select(isNegative, low, high), type: "f32", onnx: "float32" };
}

/** Softmax along the last axis. The sum of the exponentials is one of integers, so no order of it matters. */
export function softmax(ctx: Lowering, scores: TensorValue, scaleBits: number): TensorValue {
  const { builder } = ctx;
  const [rows, classes] = scores.dims as [number, number];
  const scores2 = ctx.reshape(scores.operand, [rows, classes]);
  const top = builder.reduce("max", scores2, [rows, 1]);
  const e = expOfMinus(ctx, builder.arith("sub", "s32", top, scores2), scaleBits);
  const unit = 2 ** Math.min(24, 30 - Math.ceil(Math.log2(classes)));
  const scaled = builder.float("mul", "f32", e, builder.f32(unit));
  const sum = builder.reduce("sum", builder.float("toint", "s32", scaled), [rows, 1]);
  // The largest score's exponential is 1, so the sum is at least one unit.
  const positive = builder.arith("max", "s32", sum, builder.s32(unit));
  const operand = builder.float("div", "f32", scaled, builder.float("tofloat", "f32", positive));
  return { ...scores, operand, type: "f32", onnx: "float32" };
}
