import { viewOf } from "../../base/bytes.ts";
import type { TensorData, TensorType } from "../program/form.ts";
import { bitsOf } from "../program/tensor.ts";

/** Bits of 2^20 as binary32, the largest size that a raw f32 input keeps, and of the smallest normal number. */
const LARGEST = 0x49800000;
const SMALLEST_NORMAL = 0x00800000;

/** An f32 that is not finite, subnormal or above 2^20 in size reads as +0, and −0 as +0. */
function sanitizeFloatBits(bits: number): number {
  const size = bits & 0x7fffffff;
  return size < SMALLEST_NORMAL || size > LARGEST ? 0 : bits;
}

/** Content of a CODEC step: elements from byte k on, little-endian. Source: docs/EXACT.md, section 5. */
export function rawTensor(bytes: Uint8Array, type: TensorType, out: TensorData, k: number): void {
  const view = viewOf(bytes);
  if (type === "s32" || type === "f32") {
    const bits = bitsOf(out);
    for (let i = 0; i < bits.length; i++) {
      const word = view.getInt32(k + 4 * i, true);
      bits[i] = type === "f32" ? sanitizeFloatBits(word) : word;
    }
    return;
  }
  for (let i = 0; i < out.length; i++) {
    const byte = bytes[k + i] as number;
    out[i] = type === "s8" ? byte ^ 0x80 : type === "bool" ? (byte === 0 ? 0 : 1) : byte;
  }
}

/** Elements as the raw form holds them; the bits of an f32 are kept. */
export function rawBytes(type: TensorType, data: TensorData): Uint8Array {
  if (data instanceof Uint8Array) {
    if (type === "s8") return data.map((byte) => byte ^ 0x80);
    return type === "bool" ? data.map((byte) => (byte === 0 ? 0 : 1)) : data.slice();
  }
  const bits = bitsOf(data);
  const bytes = new Uint8Array(4 * bits.length);
  const view = viewOf(bytes);
  for (let i = 0; i < bits.length; i++) view.setInt32(4 * i, bits[i] as number, true);
  return bytes;
}
