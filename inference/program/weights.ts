import { viewOf } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import type { Model } from "./form.ts";
import { weightBytes } from "./shape.ts";

/** What one output channel of DOT, REQUANT and RESCALE is computed with: the parameter word.
 *  Zero point and clamps are in stored form (s8 value + 128). Source: docs/EXACT.md, section 2. */
export interface ChannelParameters {
  /** s32 added to the sum. */
  readonly bias: number;
  /** Multiplier of the integer form, u32. */
  readonly multiplier: number;
  /** Addend of the integer form, s64. */
  readonly addend: bigint;
  /** Right shift of the integer form, u8. */
  readonly shift: number;
  /** binary32 scale as its 32 bits, because hostile weights hold NaN payloads too. */
  readonly scaleBits: number;
  readonly zeroPoint: number;
  readonly lower: number;
  readonly upper: number;
  /** What is subtracted from every stored weight byte, u16. */
  readonly weightOffset: number;
}

/** The 32 bytes of one parameter word, written into `words` at `offset`. */
function writeParameters(words: Uint8Array, offset: number, parameters: ChannelParameters): void {
  const view = viewOf(words);
  view.setInt32(offset, parameters.bias);
  view.setUint32(offset + 4, parameters.multiplier);
  view.setBigInt64(offset + 8, parameters.addend);
  view.setUint8(offset + 16, parameters.shift);
  view.setUint32(offset + 17, parameters.scaleBits);
  view.setUint8(offset + 21, parameters.zeroPoint);
  view.setUint8(offset + 22, parameters.lower);
  view.setUint8(offset + 23, parameters.upper);
  view.setUint16(offset + 24, parameters.weightOffset);
}

export const readParameters = (words: Uint8Array, offset: number): ChannelParameters =>
  parametersAt(viewOf(words), offset);

/** Bytes 26 to 31 of the word are not read: no opcode depends on them. */
export function parametersAt(view: DataView, offset: number): ChannelParameters {
  return {
    bias: view.getInt32(offset),
    multiplier: view.getUint32(offset + 4),
    addend: view.getBigInt64(offset + 8),
    shift: view.getUint8(offset + 16),
    scaleBits: view.getUint32(offset + 17),
    zeroPoint: view.getUint8(offset + 21),
    lower: view.getUint8(offset + 22),
    upper: view.getUint8(offset + 23),
    weightOffset: view.getUint16(offset + 24),
  };
}

/** Words of a CHANNEL weight tensor. */
export function packChannel(channels: readonly ChannelParameters[]): Uint8Array {
  const words = new Uint8Array(32 * channels.length);
  channels.forEach((channel, n) => {
    writeParameters(words, 32 * n, channel);
  });
  return words;
}

/** Byte of element i inside a DOT row: each word is byte-reversed. */
const dotByte = (i: number): number => (i & ~31) + 31 - (i & 31);

/** Byte of element i inside a LOOKUP row: interleaved in SIMD lanes of 32 bits. */
const lookupByte = (i: number): number => (i & ~31) + 4 * (i & 7) + 3 - ((i >> 3) & 3);

/** Words of a DOT weight tensor.
 *  @param bytes stored weight bytes (value + weight offset), row-major [N, K]
 *  @param channels one for each of the N rows */
export function packDot(bytes: Uint8Array, k: number, channels: readonly ChannelParameters[]): Uint8Array {
  const rowBytes = 32 * (Math.ceil(k / 32) + 1);
  const words = new Uint8Array(rowBytes * channels.length);
  channels.forEach((channel, n) => {
    for (let i = 0; i < k; i++) words[n * rowBytes + dotByte(i)] = bytes[n * k + i] as number;
    writeParameters(words, (n + 1) * rowBytes - 32, channel);
  });
  return words;
}

/** Stored weight bytes, row-major [N, K]: inverse of `packDot`. */
export function unpackDot(words: Uint8Array, n: number, k: number): Uint8Array {
  const rowBytes = 32 * (Math.ceil(k / 32) + 1);
  const bytes = new Uint8Array(n * k);
  for (let row = 0; row < n; row++) {
    for (let i = 0; i < k; i++) bytes[row * k + i] = words[row * rowBytes + dotByte(i)] as number;
  }
  return bytes;
}

/** Words of a LOOKUP weight tensor.
 *  @param values s8 values, row-major [V, D] */
export function packLookup(values: Int8Array, d: number): Uint8Array {
  const rowBytes = 32 * Math.ceil(d / 32);
  const rows = values.length / d;
  const words = new Uint8Array(rowBytes * rows);
  for (let row = 0; row < rows; row++) {
    for (let i = 0; i < d; i++) words[row * rowBytes + lookupByte(i)] = (values[row * d + i] as number) + 128;
  }
  return words;
}

/** s8 values, row-major [V, D]: inverse of `packLookup`. */
export function unpackLookup(words: Uint8Array, v: number, d: number): Int8Array {
  const rowBytes = 32 * Math.ceil(d / 32);
  const values = new Int8Array(v * d);
  for (let row = 0; row < v; row++) {
    for (let i = 0; i < d; i++) values[row * d + i] = (words[row * rowBytes + lookupByte(i)] as number) - 128;
  }
  return values;
}

/** @throws BaseError WEIGHTS_MISMATCH when a weight tensor is absent or has another length than its descriptor */
export function assertWeightLengths(model: Model): void {
  const { weights } = model.program;
  const expected = weights.map(weightBytes);
  if (model.weights.length !== weights.length) {
    mismatch("number of weight tensors", model.weights.length, weights.length);
  }
  model.weights.forEach((bytes, i) => {
    if (bytes.length !== expected[i])
      mismatch(`bytes of weight tensor ${i}`, bytes.length, expected[i] as number);
  });
}

function mismatch(field: string, value: number, limit: number): never {
  throw new BaseError({
    code: "WEIGHTS_MISMATCH",
    shortMessage: `${field} is ${value}, the program needs ${limit}.`,
    nextStep: "Load the weights that were written together with this program.",
    details: { field, value, limit },
  });
}
