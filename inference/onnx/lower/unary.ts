/** Functions of one element: exact steps on integers and float32, tables of a byte for everything else. */

import type { Operand } from "../../program/form.ts";
import { MADE } from "../budget.ts";
import type { OnnxNode, OnnxType } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { roundHalfEven } from "../requantize/rule.ts";
import { elementwise } from "./elementwise.ts";
import { folded } from "./fold.ts";
import { FUNCTIONS } from "./functions.ts";
import type { Lowering } from "./lowering.ts";
import { mapThrough, mapWide } from "./maps.ts";
import { isWide } from "./quantization.ts";
import { REAL_STEPS } from "./real-steps.ts";
import { type TensorValue, typeOf, type Value } from "./values.ts";

const TABLE_ONLY = "Put QuantizeLinear and DequantizeLinear before it: of a byte it becomes a table.";

/** A function that no exact step computes. */
export function byteFunction(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  ctx.builder.budget.spend(MADE * 2 ** 16);
  const real = (FUNCTIONS[node.op] as (typeof FUNCTIONS)[string])(node);
  const f = (x: number): number => normal(real(x));
  return (
    mapThrough(ctx, value, f) ??
    mapWide(ctx, value, f) ??
    realSteps(ctx, node, value) ??
    refuse(`its operand is ${typeOf(value)}, not a dequantized byte tensor with one scale`, TABLE_ONLY)
  );
}

/** Steps of a float32 that is no function of a byte, where the operator has them. */
function realSteps(ctx: Lowering, node: OnnxNode, value: Value): Value | undefined {
  const steps = REAL_STEPS[node.op];
  if (steps === undefined || typeOf(value) !== "float32" || value.kind === "constant") return undefined;
  return elementwise(ctx, [value], "float32", ([x = 0]) => steps(ctx, x, node));
}

/** The number, or a zero of its sign where binary32 has only a subnormal one. */
const normal = (x: number): number => (Math.abs(x) < 2 ** -126 ? 0 * x : x);

interface Exact {
  readonly f: (x: number) => number;
  readonly float?: (ctx: Lowering, x: Operand) => Operand;
  /** On s32. */
  readonly integer?: (ctx: Lowering, x: Operand) => Operand;
}

const one = (ctx: Lowering): Operand => ctx.builder.f32(1);
const negative = (ctx: Lowering, x: Operand): Operand =>
  ctx.builder.float("mul", "f32", x, ctx.builder.f32(-1));

/** The nearest integer, less 1 where that is above x. */
function floorOf(ctx: Lowering, x: Operand): Operand {
  const { builder } = ctx;
  const near = builder.float("round", "f32", x);
  const above = builder.float("lt", "bool", x, near);
  return builder.select(above, builder.float("sub", "f32", near, one(ctx)), near);
}

const EXACT: Readonly<Record<string, Exact>> = {
  Abs: {
    f: Math.abs,
    float: (ctx, x) => ctx.builder.float("max", "f32", x, negative(ctx, x)),
    integer: (ctx, x) =>
      ctx.builder.arith("max", "s32", x, ctx.builder.arith("sub", "s32", ctx.builder.s32(0), x)),
  },
  // −floor(−x), which keeps the sign of a zero.
  Ceil: { f: Math.ceil, float: (ctx, x) => negative(ctx, floorOf(ctx, negative(ctx, x))) },
  Floor: { f: Math.floor, float: floorOf },
  Neg: {
    f: (x) => -x,
    float: negative,
    integer: (ctx, x) => ctx.builder.arith("sub", "s32", ctx.builder.s32(0), x),
  },
  Reciprocal: { f: (x) => 1 / x, float: (ctx, x) => ctx.builder.float("div", "f32", one(ctx), x) },
  // The nearest integer with the sign of x, also where it is 0.
  Round: {
    f: (x) => Math.sign(x) * Math.abs(roundHalfEven(x)),
    float: (ctx, x) => ctx.builder.float("round", "f32", x),
  },
  Sign: {
    f: (x) => Math.sign(x) + 0,
    float: (ctx, x) => {
      const { builder } = ctx;
      const zero = builder.f32(0);
      const below = builder.select(builder.float("lt", "bool", x, zero), builder.f32(-1), zero);
      return builder.select(builder.float("lt", "bool", zero, x), one(ctx), below);
    },
    integer: (ctx, x) => {
      const { builder } = ctx;
      return builder.arith("max", "s32", builder.arith("min", "s32", x, builder.s32(1)), builder.s32(-1));
    },
  },
  Sqrt: { f: Math.sqrt, float: (ctx, x) => ctx.builder.float("sqrt", "f32", x) },
};

/** Abs, Ceil, Floor, Neg, Reciprocal, Round, Sign, Sqrt. */
export function unary(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const { f, float, integer } = EXACT[node.op] as Exact;
  const type = typeOf(value);
  const known = folded(ctx, [value], type, f);
  if (known !== undefined) return known;
  if (type === "float32" && float !== undefined) {
    const mapped = mapThrough(ctx, value, f);
    if (mapped?.map.every(Number.isFinite)) return mapped;
    return elementwise(ctx, [value], type, ([x = 0]) => float(ctx, x));
  }
  if (integer === undefined) return refuse(`its operand is ${type}`, "Use float32.");
  if (type === "uint8" || type === "int8") return byteInteger(ctx, ctx.tensor(value), type, f);
  if (type === "bool" || isWide(type)) refuse(`its operand is ${type}`, "Cast to int32 first.");
  return elementwise(ctx, [value], type, ([x = 0]) => integer(ctx, x));
}

/** A function of an integer byte, which wraps as the type does. */
function byteInteger(
  ctx: Lowering,
  tensor: TensorValue,
  type: OnnxType,
  f: (x: number) => number,
): TensorValue {
  const shift = type === "int8" ? 128 : 0;
  const map = Uint8Array.from({ length: 256 }, (_, byte) => f(byte - shift) + shift);
  return ctx.like(tensor, ctx.builder.table(tensor.operand, shift === 0 ? "u8" : "s8", map), type);
}
