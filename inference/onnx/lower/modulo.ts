/** Mod of integers. */

import type { OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { makeTensor } from "./constants.ts";
import { elementwise } from "./elementwise.ts";
import { folded } from "./fold.ts";
import { intAttribute, type Lowering } from "./lowering.ts";
import { LIMITS } from "./quantization.ts";
import { TENSOR_TYPE, typeOf, type Value } from "./values.ts";

/** The remainder with the sign of the divisor, as Python's; with `fmod` that of the dividend. */
const remainder = (isTruncated: boolean, x: number, y: number): number => {
  if (y === 0) refuse("it divides constants by 0", "Correct the constants.");
  const rest = x % y;
  return isTruncated || rest === 0 || Math.sign(rest) === Math.sign(y) ? rest : rest + y;
};

/** @throws Refusal, and a problem of the proof for a divisor that can be below 1 */
export function mod(ctx: Lowering, node: OnnxNode): Value {
  const [a, b] = [ctx.input(node, 0), ctx.input(node, 1)];
  const type = typeOf(a);
  if (typeOf(b) !== type) refuse(`it mixes ${type} and ${typeOf(b)}`, "Cast to one type.");
  const isTruncated = intAttribute(node, "fmod", 0) !== 0;
  const known = folded(ctx, [a, b], type, (x = 0, y = 1) => remainder(isTruncated, x, y));
  if (known !== undefined) return known;
  if (type === "float32" || type === "bool") refuse(`it divides ${type}`, "Divide integers.");
  const signs = b.kind === "constant" ? folded(ctx, [b], "int32", (y = 1) => Math.sign(y)) : undefined;
  // As int32: int8 does not hold 128.
  const sizes = b.kind === "constant" ? folded(ctx, [b], "int32", (y = 1) => Math.abs(y)) : undefined;
  const isNegative = signs?.tensor.data.some((s) => Number(s) < 0) ?? false;
  const sign: Value = signs ?? { kind: "constant", tensor: makeTensor("int32", [], [1]) };
  return elementwise(ctx, [a, sizes ?? b, sign], type, ([x = 0, y = 0, s = 0]) => {
    const { builder } = ctx;
    const turned = !isTruncated && isNegative;
    const dividend = turned ? builder.arith("mul", "s32", x, s) : x;
    const quotient = builder.arith("div", "s32", dividend, y);
    const rest = builder.arith("sub", "s32", dividend, builder.arith("mul", "s32", quotient, y));
    const isBelow = builder.arith("lt", "bool", rest, builder.s32(0));
    const lifted = isTruncated
      ? rest
      : builder.arith("add", "s32", rest, builder.select(isBelow, asS32(ctx, y), builder.s32(0)));
    const result = turned ? builder.arith("mul", "s32", lifted, s) : lifted;
    if (TENSOR_TYPE[type] === "s32") return result;
    // A remainder is smaller than its divisor: the bounds let import see it.
    const [low, high] = LIMITS[type === "int8" ? "s8" : "u8"];
    const raised = builder.arith("max", "s32", result, builder.s32(low));
    return builder.arith("min", TENSOR_TYPE[type], raised, builder.s32(high));
  });
}

const asS32 = (ctx: Lowering, operand: number): number =>
  ctx.builder.shape(operand).type === "s32" ? operand : ctx.builder.arith("cast", "s32", operand);
