/** Sums and differences of quantized tensors, of products, and of constants, in integers alone: RESCALE to one unit, then
 *  ARITH. Source: docs/EXACT.md, section 6. */

import { numbers, type OnnxNode, type OnnxTensor } from "../graph.ts";
import { makeTensor } from "./constants.ts";
import { arithmetic, elementwise } from "./elementwise.ts";
import { knownTensor } from "./fold.ts";
import type { Lowering } from "./lowering.ts";
import { masked } from "./masked.ts";
import { inputsOf } from "./operands.ts";
import { channelsLast } from "./quantize.ts";
import {
  isDequantized,
  isDequantizedByte,
  type ScaledValue,
  scaledIntegers,
  type TensorValue,
  typeOf,
  type Value,
} from "./values.ts";
import { fixedPoint } from "./wide.ts";

/** Bits of an integer that holds a sum. */
const SUM_BITS = 24;

/** How much larger than what is computed a sum may be: its integers keep 20 bits of that. */
const MOST_TIMES = 16;

/** How much larger than what is computed a sum may be where that is not constant: its integers keep 14 bits of each. */
const MOST_TIMES_COMPUTED = 1_024;

/** `(integer − zero)·scale` */
interface Integers {
  readonly tensor: TensorValue;
  /** one, or one for each index of the last stored axis */
  readonly scale: readonly number[];
  readonly zero: number;
  /** what the sum has to keep of it: all of its steps, 14 bits of its size, or what is left, as no float32 can hold it */
  readonly kept: "steps" | "size" | "rest";
}

/** An operand with the largest size that its numbers can have. */
type Term = { readonly size: number } & ({ readonly integers: Integers } | { readonly constant: OnnxTensor });

/** Add and Sub. What one table, or the bias of a product, can hold is that. */
export function sum(ctx: Lowering, node: OnnxNode): Value {
  const name = node.op === "Add" ? "add" : "sub";
  const [a, b] = inputsOf(ctx, node, 2, 2);
  if (ctx.options.arithmetic !== "integers" || a === undefined || b === undefined)
    return arithmetic(ctx, node);
  if (isOneTable(a, b) || (name === "add" && (isBias(a, b) || isBias(b, a)))) return arithmetic(ctx, node);
  const mask = () => (name === "add" ? maskedSum(ctx, node, a, b) : undefined);
  return integerSum(ctx, name, [a, b]) ?? mask() ?? arithmetic(ctx, node);
}

function maskedSum(ctx: Lowering, node: OnnxNode, a: Value, b: Value): Value | undefined {
  const sum = (): TensorValue => ctx.tensor(arithmetic(ctx, node));
  for (const [value, mask] of [
    [a, knownTensor(b)],
    [b, knownTensor(a)],
  ] as const) {
    const found = mask && masked(ctx, value, mask, sum);
    if (found !== undefined) return found;
  }
  return undefined;
}

const isOneTable = (a: Value, b: Value): boolean => {
  const bytes = [a, b].filter(isDequantizedByte);
  const [first, second] = bytes;
  if (second === undefined)
    return first !== undefined && [a, b].some((value) => knownTensor(value)?.data.length === 1);
  return first?.source.operand === second.source.operand;
};

const isBias = (value: Value, bias: Value): boolean =>
  value.kind === "scaled" &&
  value.source.kind === "dot" &&
  bias.kind === "dequantized" &&
  bias.source.kind === "constant" &&
  bias.source.tensor.type === "int32";

/** @returns undefined where an operand is float32 that nobody quantized, or is clamped, or is far smaller than the sum */
function integerSum(
  ctx: Lowering,
  name: "add" | "sub",
  values: readonly [Value, Value],
): ScaledValue | undefined {
  const [a, b] = values.map((value) => termOf(ctx, value));
  if (a === undefined || b === undefined) return undefined;
  const terms = [a, b] as const;
  const computed = terms.flatMap((term) => ("integers" in term ? [term] : []));
  const most = a.size + b.size;
  // An attention's mask leaves nothing of what it is added to: masked.ts.
  if (most > MOST_TIMES * Math.max(...computed.map(({ size }) => size))) return undefined;
  const bits = most === 0 ? 0 : Math.floor(SUM_BITS - Math.log2(most));
  const isKept = ({ size, integers: { kept, scale } }: (typeof computed)[number]): boolean =>
    size === 0 ||
    kept === "rest" ||
    (most <= MOST_TIMES_COMPUTED * size && (kept === "size" || scale.every((s) => s * 2 ** bits >= 1)));
  if (!computed.every(isKept)) return undefined;
  const operands = terms.map((term): Value => {
    // What is 0 as a whole has no size that its scale would belong to.
    if ("integers" in term) return inUnits(ctx, term.integers, term.size === 0 ? 0 : 2 ** bits);
    const { dims } = term.constant;
    const integers = numbers(term.constant).map((x) => Math.round(x * 2 ** bits));
    return { kind: "constant", tensor: makeTensor("int32", dims, integers) };
  });
  const { builder } = ctx;
  const result = elementwise(ctx, operands, "int32", ([x = 0, y = 0]) => builder.arith(name, "s32", x, y));
  return scaledIntegers(result, 2 ** -bits);
}

function termOf(ctx: Lowering, value: Value): Term | undefined {
  if (typeOf(value) !== "float32") return undefined;
  const constant = knownTensor(value);
  if (constant !== undefined) {
    const size = numbers(constant).reduce((most, x) => Math.max(most, Math.abs(x)), 0);
    return Number.isFinite(size) ? { size, constant } : undefined;
  }
  const integers = integersOf(ctx, value);
  if (integers === undefined) return undefined;
  const { tensor, scale, zero } = integers;
  const { low, high } = ctx.rangeOf(tensor);
  const largest = scale.reduce((most, s) => Math.max(most, s), 0);
  return { size: largest * Math.max(Math.abs(low - zero), Math.abs(high - zero)), integers };
}

function integersOf(ctx: Lowering, value: Value): Integers | undefined {
  if (isDequantized(value))
    return { tensor: value.source, scale: value.scale, zero: value.zero[0] as number, kept: "size" };
  if (value.kind !== "scaled" || Number.isFinite(value.low) || Number.isFinite(value.high)) return undefined;
  const scale = value.scale.map((s) => value.factor * s);
  if (!scale.every((s) => s > 0)) return undefined;
  const kept = !value.fused ? "steps" : value.source.kind === "dot" ? "rest" : "size";
  return { tensor: channelsLast(ctx, value), scale, zero: 0, kept };
}

/** Integers in units of 1 / perOne: `((q − zero)·M + 2^(S−1)) >> S`, so that what stands for 0 becomes 0. */
function inUnits(ctx: Lowering, { tensor, scale, zero }: Integers, perOne: number): TensorValue {
  const { builder } = ctx;
  const { low, high } = ctx.rangeOf(tensor);
  const size = Math.max(Math.abs(low), Math.abs(high)) + Math.abs(zero);
  const wide = tensor.type === "s32" ? tensor.operand : builder.arith("cast", "s32", tensor.operand);
  const channels = scale.map((s) => {
    const found = fixedPoint(s * perOne, size, 0);
    return { ...found, addend: found.addend - BigInt(zero) * BigInt(found.multiplier) };
  });
  return ctx.like(tensor, builder.rescale(wide, channels), "int32");
}
