/** Scales, zero points and the integers that they quantize to. */

import { refuse } from "../refusal.ts";
import { roundHalfEven } from "../requantize/rule.ts";

export type ByteType = "u8" | "s8";
/** 16-bit integers are held as s32. */
export type WideType = "u16" | "s16";

interface QuantizationTo<Type> {
  readonly scale: number;
  readonly zero: number;
  readonly type: Type;
}
export type ByteQuantization = QuantizationTo<ByteType>;
export type WideQuantization = QuantizationTo<WideType>;
/** Scale and zero point of a tensor of quantized integers. */
export type Quantization = ByteQuantization | WideQuantization;

export const LIMITS = { u8: [0, 255], s8: [-128, 127], u16: [0, 65_535], s16: [-32_768, 32_767] } as const;

export const ONNX_TYPE = { u8: "uint8", s8: "int8", u16: "uint16", s16: "int16" } as const;

export const isByte = (to: Quantization): to is ByteQuantization => to.type === "u8" || to.type === "s8";

/** True for the ONNX types of 16 bits. */
export const isWide = (type: string): type is "uint16" | "int16" => type === "uint16" || type === "int16";

/** `sat(roundHalfEven(f32(x / scale)) + zero)`: the value, not the stored byte. */
export function quantized(x: number, { scale, zero, type }: Quantization): number {
  const [low, high] = LIMITS[type];
  return Math.min(Math.max(roundHalfEven(Math.fround(x / scale)) + zero, low), high);
}

/** `f32(f32(q − zero) × scale)` */
export const dequantized = (q: number, scale: number, zero: number): number =>
  Math.fround(Math.fround(q - zero) * scale);

export function checkScale(scale: number, what: string): number {
  if (!(scale >= 2 ** -100 && scale <= 2 ** 60)) {
    refuse(`its ${what} is ${scale}`, "Use scales from 2^-100 to 2^60.");
  }
  return scale;
}
