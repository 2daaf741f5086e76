/** The number of each integer of a quantized tensor. */
import { MAPPED } from "../budget.ts";
import type { Lowering } from "./lowering.ts";
import { type ByteType, dequantized, isWide, LIMITS } from "./quantization.ts";
import { isDequantized, type TensorValue, type Value } from "./values.ts";

/** Real number of each stored byte. */
export function byteMap(type: ByteType, scale: number, zero: number): Float32Array {
  return Float32Array.from({ length: 256 }, (_, b) => dequantized(type === "s8" ? b - 128 : b, scale, zero));
}

/** A quantized tensor, and the number of each of its integers from the least on. */
interface NumberMap {
  readonly source: TensorValue;
  readonly map: Float32Array;
}

/** A byte tensor's map from stored bytes to numbers, and in integers that of 16 bits; undefined for anything else. */
export function mapOf(ctx: Lowering, value: Value): NumberMap | undefined {
  if (value.kind === "mapped") return value;
  if (!isDequantized(value)) return undefined;
  const { source } = value;
  if (isWide(source.onnx)) return ctx.options.arithmetic === "integers" ? wideMapOf(ctx, value) : undefined;
  const [scale = 1] = value.scale;
  const [zero = 0] = value.zero;
  return { source, map: byteMap(source.type === "s8" ? "s8" : "u8", scale, zero) };
}

/** Of 16-bit integers with one scale; undefined for anything else. */
export function wideMapOf(ctx: Lowering, value: Value): NumberMap | undefined {
  if (!isDequantized(value) || !isWide(value.source.onnx)) return undefined;
  ctx.builder.budget.spend(MAPPED * 2 ** 16);
  const { source, scale, zero } = value;
  const [least, most] = LIMITS[source.onnx === "int16" ? "s16" : "u16"];
  const map = Float32Array.from({ length: most - least + 1 }, (_, i) =>
    dequantized(least + i, scale[0] as number, zero[0] as number),
  );
  return { source, map };
}
