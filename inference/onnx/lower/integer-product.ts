/** Products, element by element, of quantized tensors, and of one and constants, in integers alone. Source: docs/EXACT.md,
 *  section 6. */

import { numbers, type OnnxNode, type OnnxTensor } from "../graph.ts";
import { makeTensor } from "./constants.ts";
import { arithmetic, elementwise } from "./elementwise.ts";
import { knownTensor } from "./fold.ts";
import type { Lowering } from "./lowering.ts";
import { combinedMaps } from "./maps.ts";
import { inputsOf } from "./operands.ts";
import { centred } from "./quantize.ts";
import { isDequantized, type ScaledValue, scaledIntegers, type TensorValue, type Value } from "./values.ts";

/** Above all products, which are s32. */
const MOST = 2 ** 31;
/** Of steps that a constant's largest number may have: it then has half as many at least, and rounding adds half a unit of
 *  16 bits with a sign at most. What fits beside integers of at most 2^15. */
const LEAST_STEPS = 2 ** 16 - 2;
/** Of a constant's steps: 2^-60 to 2^60. */
const MOST_BITS = 60;

/** Integers of one scale whose zero is 0, and the largest of them by intervals. */
interface Factor {
  readonly tensor: TensorValue;
  readonly scale: number;
  readonly size: number;
}

/** Mul. What one table can hold is that. */
export function product(ctx: Lowering, node: OnnxNode): Value {
  const [a, b] = inputsOf(ctx, node, 2, 2);
  if (ctx.options.arithmetic !== "integers" || a === undefined || b === undefined)
    return arithmetic(ctx, node);
  const mapped = combinedMaps(ctx, [a, b], (x, y) => x * y);
  return mapped ?? integerProduct(ctx, a, b) ?? arithmetic(ctx, node);
}

/** @returns undefined where an operand is float32 that nobody quantized, or the products do not fit s32 */
function integerProduct(ctx: Lowering, a: Value, b: Value): ScaledValue | undefined {
  const [constantA, constantB] = [knownTensor(a), knownTensor(b)];
  if (constantB !== undefined) return timesConstant(ctx, a, constantB);
  if (constantA !== undefined) return timesConstant(ctx, b, constantA);
  const [left, right] = [factorOf(ctx, a), factorOf(ctx, b)];
  if (left === undefined || right === undefined || left.size * right.size >= MOST) return undefined;
  return multiplied(ctx, left, right.tensor, right.scale);
}

function timesConstant(ctx: Lowering, value: Value, constant: OnnxTensor): ScaledValue | undefined {
  const factor = factorOf(ctx, value);
  const reals = numbers(constant);
  const size = reals.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  if (factor === undefined || factor.size === 0 || !(size > 0 && Number.isFinite(size))) return undefined;
  // Rounding adds half a step to it.
  const steps = (MOST - 1) / factor.size - 1;
  if (steps < LEAST_STEPS) return undefined;
  const bits = Math.floor(Math.log2(steps / size));
  if (Math.abs(bits) > MOST_BITS) return undefined;
  const integers = reals.map((x) => Math.round(x * 2 ** bits));
  const tensor = makeTensor("int32", constant.dims, integers);
  return multiplied(ctx, factor, { kind: "constant", tensor }, 2 ** -bits);
}

function multiplied(ctx: Lowering, { tensor, scale }: Factor, other: Value, unit: number): ScaledValue {
  const result = elementwise(ctx, [tensor, other], "int32", ([x = 0, y = 0]) =>
    ctx.builder.arith("mul", "s32", x, y),
  );
  return scaledIntegers(result, unit, scale);
}

function factorOf(ctx: Lowering, value: Value): Factor | undefined {
  if (!isDequantized(value)) return undefined;
  const { source, scale, zero } = value;
  const tensor = inS32(ctx, centred(ctx, source, 1, zero[0] as number));
  const { low, high } = ctx.rangeOf(tensor);
  return { tensor, scale: scale[0] as number, size: Math.max(Math.abs(low), Math.abs(high)) };
}

const inS32 = (ctx: Lowering, tensor: TensorValue): TensorValue =>
  tensor.type === "s32"
    ? tensor
    : ctx.like(tensor, ctx.builder.arith("cast", "s32", tensor.operand), "int32");
