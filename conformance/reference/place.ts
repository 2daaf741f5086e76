/** What the reference judge reads: one element of a step, and the opened words that it is computed from. */
import {
  elementBytes,
  elementCount,
  type Operand,
  type Program,
  type Step,
  type TensorType,
  WEIGHT,
} from "../../inference/program/form.ts";

export interface Place {
  readonly program: Program;
  readonly step: Step;
  readonly element: number;
  /** Bytes of each opening after the output's. */
  readonly words: readonly Uint8Array[];
}

export const join = (words: readonly Uint8Array[]): Uint8Array =>
  Uint8Array.from(words.flatMap((word) => [...word]));
export const bytesOf = (place: Place, opening: number): Uint8Array => place.words[opening] as Uint8Array;
export const lastOf = (dims: readonly number[]): number => dims[dims.length - 1] as number;

export function tensorOf(program: Program, operand: Operand): { type: TensorType; dims: readonly number[] } {
  return (operand < WEIGHT ? program.steps[operand] : program.weights[operand - WEIGHT]) as Step;
}

export const unsigned = (bytes: Uint8Array): bigint =>
  bytes.reduce((all, byte) => all * 256n + BigInt(byte), 0n);

/** Stored bytes as the number that they stand for. */
export function number(type: TensorType, value: bigint): bigint {
  return type === "s8" ? value - 128n : type === "s32" ? BigInt.asIntN(32, value) : value;
}

/** `sat` of the type, as stored bytes. */
export function saturated(type: TensorType, value: bigint): bigint {
  if (type === "bool") return value === 0n ? 0n : 1n;
  if (type === "s32") return BigInt.asUintN(32, clamp(value, -(2n ** 31n), 2n ** 31n - 1n));
  return type === "s8" ? clamp(value, -128n, 127n) + 128n : clamp(value, 0n, 255n);
}

export const clamp = (value: bigint, low: bigint, high: bigint): bigint => {
  const raised = value > low ? value : low;
  return raised < high ? raised : high;
};
export const wrap = (value: bigint): bigint => BigInt.asIntN(32, value);

/** Index of the output element, axis by axis. */
export function indexOf(dims: readonly number[], element: number): number[] {
  let stride = elementCount(dims);
  let rest = element;
  return dims.map((dim) => {
    stride /= dim;
    const i = Math.floor(rest / stride);
    rest -= i * stride;
    return i;
  });
}

/** Stored bytes of the operand's element under broadcast, out of its opened word. */
export function stored(place: Place, operand: Operand, opening: number): bigint {
  const { type, dims } = tensorOf(place.program, operand);
  const index = indexOf(place.step.dims, place.element).slice(-dims.length);
  const column = lastOf(dims) === 1 ? 0 : (index[dims.length - 1] as number);
  return elementOf(bytesOf(place, opening), type, column);
}

/** Element of a row at a column, out of the word that holds it. */
export function elementOf(word: Uint8Array, type: TensorType, column: number): bigint {
  const size = elementBytes(type);
  const at = (column * size) % 32;
  return unsigned(word.subarray(at, at + size));
}
