/** float32 operands, held where intervals prove that what follows is finite and not subnormal. */

import { gridOf, highest, lowest } from "../../profile/range.ts";
import { isStep, type Operand } from "../../program/form.ts";
import type { FloatName } from "../builder.ts";
import { refuse } from "../refusal.ts";
import type { Lowering } from "./lowering.ts";
import { type TensorValue, typeOf, type Value } from "./values.ts";

/** Fraction bits that numbers keep at least. */
export const GRID_BITS = 50;
/** Sums of 2^20 products of two numbers of four times this size are finite. */
const MOST = 2 ** 50;
const LARGEST = 3.4028234663852886e38;

/** A value as a float32 tensor. */
export function realTensor(ctx: Lowering, value: Value): TensorValue {
  const type = typeOf(value);
  return type === "float32" ? ctx.tensor(value) : refuse(`its operand is ${type}`, "Cast to float32 first.");
}

export function sizeOf(ctx: Lowering, x: Operand): number {
  const range = ctx.builder.realRange(x);
  return Math.max(Math.abs(lowest(range)), Math.abs(highest(range)));
}

/** The number, at most `most` in size: what is known to be there stays as it is. */
export function bounded(ctx: Lowering, x: Operand, most: number): Operand {
  if (sizeOf(ctx, x) <= most) return x;
  return ctx.once(`${x} within ${most}`, () => {
    const { builder } = ctx;
    return builder.float("min", "f32", builder.float("max", "f32", x, builder.f32(-most)), builder.f32(most));
  });
}

/** The nearest multiple of 2^-bits: what is known to be one stays as it is. */
export function onGrid(ctx: Lowering, x: Operand, bits = GRID_BITS): Operand {
  const { builder } = ctx;
  if (gridOf(builder.realRange(x)) >= 2 ** -bits) return x;
  return ctx.once(`${x} on 2^-${bits}`, () => scaledToGrid(ctx, bounded(ctx, x, 2 ** (126 - bits)), 1, bits));
}

/** The multiple of 2^-bits that is nearest to `x · factor`. */
export function scaledToGrid(ctx: Lowering, x: Operand, factor: number, bits = GRID_BITS): Operand {
  const { builder } = ctx;
  const scaled = builder.float("mul", "f32", x, builder.f32(factor * 2 ** bits));
  return builder.float("mul", "f32", builder.float("round", "f32", scaled), builder.f32(2 ** -bits));
}

/** What sums of products, norms and exponentials take: a multiple of 2^-50 of at most 2^50 in size. */
export const held = (ctx: Lowering, x: Operand): Operand => onGrid(ctx, bounded(ctx, x, MOST));

/** Of what is only added, compared and divided by counts: the same where it could be finer than 2^-100, or above 2^100. */
export function summable(ctx: Lowering, x: Operand): Operand {
  const inside = bounded(ctx, x, 2 ** 100);
  return gridOf(ctx.builder.realRange(inside)) >= 2 ** -100 ? inside : onGrid(ctx, inside);
}

/** A sum, difference, product or quotient; its operands are held where it could be infinite or subnormal. */
export function safely(ctx: Lowering, name: FloatName, a: Operand, b: Operand): Operand {
  const { builder } = ctx;
  if (builder.proves(name, a, b)) return builder.float(name, "f32", a, b);
  const [x, y] = name === "div" ? [a, b] : finiteOperands(ctx, name, a, b);
  const again = (operand: Operand): Operand => (isStep(operand) ? onGrid(ctx, operand) : operand);
  return builder.proves(name, x, y)
    ? builder.float(name, "f32", x, y)
    : builder.float(name, "f32", again(x), name === "div" ? y : again(y));
}

/** Operands of a finite result: a computed one gives way to a constant. */
function finiteOperands(ctx: Lowering, name: FloatName, a: Operand, b: Operand): [Operand, Operand] {
  const [sizeA, sizeB] = [sizeOf(ctx, a), sizeOf(ctx, b)];
  const isProduct = name === "mul";
  if (isProduct ? sizeA * sizeB <= LARGEST : sizeA + sizeB <= LARGEST) return [a, b];
  const most = (other: Operand, size: number): number => {
    if (!isProduct) return LARGEST / 2;
    return isStep(other) ? 2 ** 63 : roundedDown(LARGEST / size);
  };
  const operands = [
    isStep(a) ? bounded(ctx, a, most(b, sizeB)) : a,
    isStep(b) ? bounded(ctx, b, most(a, sizeA)) : b,
  ] as [Operand, Operand];
  const limits = operands.flatMap((operand) => (operand === a || operand === b ? [] : sizeOf(ctx, operand)));
  if (limits.length > 0) {
    ctx.notes.push(
      `${ctx.builder.node}: an operand is held inside ±${Math.max(...limits)}, so that its result is finite`,
    );
  }
  return operands;
}

/** The largest number of binary32 that is not above x. */
function roundedDown(x: number): number {
  const near = Math.fround(x);
  return near <= x ? near : Math.fround(near * (1 - 2 ** -24));
}
