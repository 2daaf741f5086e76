/** 16-bit activations without an opcode of their own: held as s32, multiplied as two bytes, quantized by RESCALE (of
 *  accumulators) or FLOAT (of float32). */

import type { Operand } from "../../program/form.ts";
import type { ChannelParameters } from "../../program/weights.ts";
import { refuse } from "../refusal.ts";
import type { Lowering } from "./lowering.ts";
import { emitPlanes, emitProduct, PLAIN_CHANNEL } from "./product.ts";
import {
  isWide,
  LIMITS,
  ONNX_TYPE,
  quantized,
  type WideQuantization,
  type WideType,
} from "./quantization.ts";
import type { Product, ScaledValue, TensorValue } from "./values.ts";

/** One byte of each 16-bit integer, and the same byte of the zero point. */
export interface Half {
  readonly tensor: TensorValue;
  readonly zero: number;
}

/** By which no number of 16 bits is below 0. */
const liftOf = ({ onnx }: TensorValue): number => (onnx === "int16" ? 32_768 : 0);

/** `q − zero = 256·(high − its zero) + (low − its zero)`, both halves u8. */
export function halvesOf(ctx: Lowering, tensor: TensorValue, zero: number): { high: Half; low: Half } {
  const { builder } = ctx;
  const lift = liftOf(tensor);
  const key = `${tensor.operand} byte`;
  const lifted = (): Operand =>
    lift === 0 ? tensor.operand : builder.arith("add", "s32", tensor.operand, builder.s32(lift));
  const high = ctx.once(`${key} 1`, () => builder.arith("div", "u8", lifted(), builder.s32(256)));
  const low = ctx.once(`${key} 0`, () => {
    const rest = builder.arith("sub", "s32", lifted(), builder.arith("mul", "s32", high, builder.s32(256)));
    // It is from 0 to 255 as it is: the bounds let import see it.
    const bounded = builder.arith("max", "s32", rest, builder.s32(0));
    return builder.arith("min", "u8", bounded, builder.s32(255));
  });
  const half = (operand: Operand, byte: number): Half => ({
    tensor: ctx.like(tensor, operand, "uint8"),
    zero: byte,
  });
  return { high: half(high, (zero + lift) >> 8), low: half(low, (zero + lift) & 255) };
}

/** Accumulators in units of `unit`, a power of two. */
export interface Accumulators {
  readonly source: Product | TensorValue;
  readonly unit: number;
}

/** The product of an activation of 8 or 16 bits with constant weights.
 *  @param make the product of a byte activation; the bias belongs to one half only */
export function productOf(
  ctx: Lowering,
  activation: TensorValue,
  zero: number,
  make: (activation: TensorValue, zero: number, withBias: boolean) => Product,
): Accumulators {
  if (!isWide(activation.onnx)) return { source: make(activation, zero, true), unit: 1 };
  const { high, low } = halvesOf(ctx, activation, zero);
  const emitted = (half: Half, takesBias: boolean) => ({
    source: emitProduct(ctx, make(half.tensor, half.zero, takesBias)),
    unit: 1,
  });
  return joined(ctx, emitted(high, false), emitted(low, true));
}

/** The same of a product of matrices: of 16 bits one DOT planes, where an import asks for integers, the chain need not run
 *  it, and the sums are proven to fit s32. */
export function matricesOf(
  ctx: Lowering,
  activation: TensorValue,
  zero: number,
  make: Parameters<typeof productOf>[3],
): Accumulators {
  const { arithmetic, products } = ctx.options;
  if (isWide(activation.onnx) && arithmetic === "integers" && products !== "pairs") {
    const source = emitPlanes(ctx, make(activation, zero, true), liftOf(activation));
    if (source !== undefined) return { source, unit: 1 };
  }
  return productOf(ctx, activation, zero, make);
}

/** Sums as a tensor, in units of `unit`. */
export interface EmittedAccumulators extends Accumulators {
  readonly source: TensorValue;
}

/** `256·upper + lower` in the finest unit in which import proves that it fits s32. */
export function joined(
  ctx: Lowering,
  upper: EmittedAccumulators,
  lower: EmittedAccumulators,
): EmittedAccumulators {
  const { builder } = ctx;
  const [most, least] = [sizeOf(ctx, upper.source), sizeOf(ctx, lower.source)];
  const upperUnit = 256 * upper.unit;
  // In units of twice the coarser of the two their sum is never too large.
  const coarsest = 2 * Math.max(upperUnit, lower.unit);
  let unit = 1;
  while (unit < coarsest && (most * upperUnit + least * lower.unit) / unit + 1 >= 2 ** 31) unit *= 2;
  const raised = timesPower(ctx, upper.source.operand, Math.log2(upperUnit / unit));
  const rest = timesPower(ctx, lower.source.operand, Math.log2(lower.unit / unit));
  const sum = builder.arith("add", "s32", raised, rest);
  return { source: ctx.like(lower.source, sum, "int32"), unit };
}

/** `x·2^bits`, rounded, halves up. @param x s32 */
export function timesPower(ctx: Lowering, x: Operand, bits: number): Operand {
  const { builder } = ctx;
  if (bits === 0) return x;
  if (bits > 0) return builder.arith("mul", "s32", x, builder.s32(2 ** bits));
  const shift = -bits;
  return builder.rescale(x, [
    { ...PLAIN_CHANNEL, bias: 0, weightOffset: 0, multiplier: 1, addend: 1n << BigInt(shift - 1), shift },
  ]);
}

function sizeOf(ctx: Lowering, tensor: TensorValue): number {
  const { low, high } = ctx.rangeOf(tensor);
  return Math.max(Math.abs(low), Math.abs(high));
}

/** 16-bit integers from integers with channels on the last stored axis: `(acc·M + B) >> S` by RESCALE, then clamped.
 *  B holds the zero point and one half, so that the shift rounds. */
export function rescaleWide(
  ctx: Lowering,
  tensor: TensorValue,
  value: Pick<ScaledValue, "scale" | "factor" | "low" | "high">,
  to: WideQuantization,
): TensorValue {
  const { builder } = ctx;
  const size = sizeOf(ctx, tensor);
  const channels = value.scale.map((s) => fixedPoint((value.factor * s) / to.scale, size, to.zero));
  const shifted = builder.rescale(tensor.operand, channels);
  const { node } = builder;
  ctx.requantizations.push({ node, channels: channels.length, form: "integer", without: [], nudges: [] });
  const [least, most] = LIMITS[to.type];
  const at = (real: number, otherwise: number): number =>
    Number.isFinite(real) ? quantized(real, to) : otherwise;
  const operand = clamped(ctx, shifted, at(value.low, least), at(value.high, most));
  return ctx.like(tensor, operand, ONNX_TYPE[to.type]);
}

/** M, B and S of a scale: the largest S for which `|acc·M + B| < 2^53`.
 *  @param size bound of |acc| */
export function fixedPoint(scale: number, size: number, zero: number): ChannelParameters {
  for (let shift = 44; shift > 0; shift--) {
    const multiplier = Math.round(scale * 2 ** shift);
    const addend = (2 * zero + 1) * 2 ** (shift - 1);
    if (multiplier < 2 ** 30 && size * multiplier + Math.abs(addend) < 2 ** 53)
      return { ...PLAIN_CHANNEL, bias: 0, weightOffset: 0, multiplier, addend: BigInt(addend), shift };
  }
  return refuse(
    `its integers of up to ${size} times the scale ${scale} leave 53 bits`,
    "Use smaller weights, or a larger output scale.",
  );
}

function clamped(ctx: Lowering, operand: Operand, low: number, high: number): Operand {
  const { builder } = ctx;
  const raised = builder.arith("max", "s32", operand, builder.s32(low));
  return builder.arith("min", "s32", raised, builder.s32(high));
}

/** Beyond every zero point's reach. */
const FAR = 2 ** 17;

/** QuantizeLinear of float32 to 16 bits: `sat(roundHalfEven(f32(x / scale)) + zero)`.
 *  @param scale f32 and @param zero s32, both broadcasting against the tensor */
export function quantizeWide(
  ctx: Lowering,
  tensor: Operand,
  scale: Operand,
  zero: Operand,
  type: WideType,
): Operand {
  const { builder } = ctx;
  const near = builder.float("round", "f32", builder.float("div", "f32", tensor, scale));
  const raised = builder.float("max", "f32", near, builder.f32(-FAR));
  const whole = builder.float("toint", "s32", builder.float("min", "f32", raised, builder.f32(FAR)));
  const [least, most] = LIMITS[type];
  return clamped(ctx, builder.arith("add", "s32", whole, zero), least, most);
}
