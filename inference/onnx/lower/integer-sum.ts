/** Sums and differences of quantized tensors, of products, and of constants, in integers alone: RESCALE to one unit, then
 *  ARITH. Source: docs/EXACT.md, section 6. */

import { numbers, type OnnxNode, type OnnxTensor } from "../graph.ts";
import { isDequantized, isDequantizedByte } from "./average.ts";
import { makeTensor } from "./constants.ts";
import { arithmetic, elementwise } from "./elementwise.ts";
import { knownTensor } from "./fold.ts";
import { scaledIntegers } from "./integer-normalize.ts";
import type { Lowering } from "./lowering.ts";
import { inputsOf } from "./operands.ts";
import { channelsLast } from "./quantize.ts";
import { type ScaledValue, type TensorValue, typeOf, type Value } from "./values.ts";
import { fixedPoint } from "./wide.ts";

/** Bits of an integer that holds a sum. */
const SUM_BITS = 24;

/** How much larger than what is computed a sum may be: its integers keep 20 bits of that. */
const MOST_TIMES = 16;

/** `(integer − zero)·scale` */
interface Integers {
  readonly tensor: TensorValue;
  /** one, or one for each index of the last stored axis */
  readonly scale: readonly number[];
  readonly zero: number;
}

type Term = Integers | OnnxTensor;
const isConstant = (term: Term): term is OnnxTensor => "data" in term;

/** Add and Sub. What one table, or the bias of a product, can hold is that. */
export function sum(ctx: Lowering, node: OnnxNode): Value {
  const name = node.op === "Add" ? "add" : "sub";
  const [a, b] = inputsOf(ctx, node, 2, 2);
  if (ctx.options.arithmetic !== "integers" || a === undefined || b === undefined)
    return arithmetic(ctx, node);
  if (isOneTable(a, b) || isBias(a, b) || isBias(b, a)) return arithmetic(ctx, node);
  return integerSum(ctx, name, [a, b]) ?? arithmetic(ctx, node);
}

const isOneTable = (a: Value, b: Value): boolean => {
  const bytes = [a, b].filter(isDequantizedByte);
  const [first, second] = bytes;
  if (second === undefined)
    return first !== undefined && [a, b].some((value) => knownTensor(value)?.data.length === 1);
  return first?.source.operand === second.source.operand;
};

const isBias = (value: Value, bias: Value): boolean =>
  value.kind === "scaled" && value.source.kind === "dot" && isKnown(bias);

const isKnown = (value: Value): boolean => knownTensor(value) !== undefined;

/** @returns undefined where an operand is float32 that nobody quantized, or is clamped, or a constant is far larger */
function integerSum(
  ctx: Lowering,
  name: "add" | "sub",
  values: readonly [Value, Value],
): ScaledValue | undefined {
  const [a, b] = values.map((value) => termOf(ctx, value));
  if (a === undefined || b === undefined || (isConstant(a) && isConstant(b))) return undefined;
  const sizes = [a, b].map((term) => sizeOf(ctx, term));
  const most = sizes.reduce((x, y) => x + y);
  const computed = Math.max(...sizes.filter((_, i) => !isConstant([a, b][i] as Term)));
  // An attention's mask leaves nothing of what it is added to.
  if (most > MOST_TIMES * computed) return undefined;
  const bits = most === 0 ? 0 : Math.floor(SUM_BITS - Math.log2(most));
  const operands = [a, b].map((term): Value => {
    if (!isConstant(term)) return inUnits(ctx, term, bits);
    const integers = numbers(term).map((x) => Math.round(x * 2 ** bits));
    return { kind: "constant", tensor: makeTensor("int32", term.dims, integers) };
  });
  const { builder } = ctx;
  const result = elementwise(ctx, operands, "int32", ([x = 0, y = 0]) => builder.arith(name, "s32", x, y));
  return scaledIntegers(result, 2 ** -bits);
}

function termOf(ctx: Lowering, value: Value): Term | undefined {
  if (typeOf(value) !== "float32") return undefined;
  const known = knownTensor(value);
  if (known !== undefined) return numbers(known).every(Number.isFinite) ? known : undefined;
  if (isDequantized(value))
    return { tensor: value.source, scale: value.scale, zero: value.zero[0] as number };
  if (value.kind !== "scaled" || Number.isFinite(value.low) || Number.isFinite(value.high)) return undefined;
  const scale = value.scale.map((s) => value.factor * s);
  if (!scale.every((s) => s > 0)) return undefined;
  return { tensor: channelsLast(ctx, value), scale, zero: 0 };
}

/** Bound of a term's numbers. */
function sizeOf(ctx: Lowering, term: Term): number {
  if (isConstant(term)) return numbers(term).reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  const { low, high } = ctx.rangeOf(term.tensor);
  const scale = term.scale.reduce((most, s) => Math.max(most, s), 0);
  return scale * Math.max(Math.abs(low - term.zero), Math.abs(high - term.zero));
}

/** Integers in units of 2^-bits. */
function inUnits(ctx: Lowering, { tensor, scale, zero }: Integers, bits: number): TensorValue {
  const { builder } = ctx;
  const { low, high } = ctx.rangeOf(tensor);
  const size = Math.max(Math.abs(low), Math.abs(high));
  const wide = tensor.type === "s32" ? tensor.operand : builder.arith("cast", "s32", tensor.operand);
  const channels = scale.map((s) => fixedPoint(s * 2 ** bits, size, Math.round(-zero * s * 2 ** bits)));
  return ctx.like(tensor, builder.rescale(wide, channels), "int32");
}
