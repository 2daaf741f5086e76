import { viewOf } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import { elementBytes, elementCount, type Tensor, type TensorData, type TensorType } from "./form.ts";

export const CANONICAL_NAN = 0x7fc00000;

/** Zero-filled memory of a tensor. @param shared whether other threads see it */
export function newData(type: TensorType, count: number, shared = false): TensorData {
  const bytes = count * elementBytes(type);
  // Typed arrays are made of either in the same way.
  const buffer = shared ? (new SharedArrayBuffer(bytes) as unknown as ArrayBuffer) : new ArrayBuffer(bytes);
  if (type === "s32") return new Int32Array(buffer);
  return type === "f32" ? new Float32Array(buffer) : new Uint8Array(buffer);
}

/** The same memory as 32-bit words, so that copies keep the bits of a NaN. */
export function bitsOf(data: TensorData): Int32Array {
  return data instanceof Int32Array ? data : new Int32Array(data.buffer, data.byteOffset, data.length);
}

/** The binary32 number with these 32 bits. */
export function floatOfBits(bits: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, bits);
  return view.getFloat32(0);
}

/** Bits of a binary32 number, as u32. */
export function bitsOfFloat(value: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, value);
  return view.getUint32(0);
}

/** Stored bytes of a tensor's elements, packed: big-endian for s32 and f32. Source: docs/EXACT.md, section 1. */
export function storedBytes(data: TensorData): Uint8Array {
  if (data instanceof Uint8Array) return data;
  const bits = bitsOf(data);
  const bytes = new Uint8Array(4 * bits.length);
  for (let i = 0; i < bits.length; i++) {
    const word = bits[i] as number;
    bytes[4 * i] = word >>> 24;
    bytes[4 * i + 1] = word >>> 16;
    bytes[4 * i + 2] = word >>> 8;
    bytes[4 * i + 3] = word;
  }
  return bytes;
}

/** Inverse of `storedBytes`; one-byte types are copied. */
export function fromStoredBytes(type: TensorType, bytes: Uint8Array): TensorData {
  if (elementBytes(type) === 1) return bytes.slice();
  const data = newData(type, bytes.length / 4);
  const bits = bitsOf(data);
  const view = viewOf(bytes);
  for (let i = 0; i < bits.length; i++) bits[i] = view.getInt32(4 * i);
  return data;
}

/** Stored bytes of one element as an unsigned number. */
export function storedElement(data: TensorData, element: number): number {
  return data instanceof Uint8Array ? (data[element] as number) : (bitsOf(data)[element] as number) >>> 0;
}

/** @throws BaseError TENSOR_MISMATCH unless the tensor has this type and exactly these dims */
export function assertTensor(tensor: Tensor, type: TensorType, dims: readonly number[], place: string): void {
  const is = `${tensor.type} [${tensor.dims.join(", ")}] of ${tensor.data.length} elements`;
  const must = `${type} [${dims.join(", ")}]`;
  const memory = type === "s32" ? Int32Array : type === "f32" ? Float32Array : Uint8Array;
  const same =
    tensor.type === type &&
    tensor.dims.length === dims.length &&
    tensor.dims.every((dim, axis) => dim === dims[axis]) &&
    tensor.data.length === elementCount(dims) &&
    tensor.data instanceof memory;
  if (same) return;
  throw new BaseError({
    code: "TENSOR_MISMATCH",
    shortMessage: `${place} is ${is}, must be ${must} in a ${memory.name}.`,
    nextStep: "Give the tensor in the type, order and memory that the program declares.",
    details: { place, is, must },
  });
}
