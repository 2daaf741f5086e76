import { viewOf } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";

export const INT16S_PER_WORD = 16;
const LEAST = -32_768;
const MOST = 32_767;

/** Reads signed 16-bit numbers from words, sixteen a word, big-endian.
 *  @param words the content of a uint256[], exactly ⌈size/16⌉ words
 *  @throws BaseError INT16S_INVALID for another number of words, or when a number beyond `size` is not zero */
export function readInt16s(words: Uint8Array, size: number): Int16Array {
  const count = Math.ceil(size / INT16S_PER_WORD);
  if (words.length !== 32 * count) {
    refuse("number of words", words.length / 32, `${count} for ${size} numbers`);
  }
  const view = viewOf(words);
  const numbers = new Int16Array(INT16S_PER_WORD * count);
  for (let i = 0; i < numbers.length; i++) numbers[i] = view.getInt16(2 * i);
  for (let i = size; i < numbers.length; i++) {
    if (numbers[i] !== 0) refuse(`unused number ${i}`, numbers[i] as number, "0");
  }
  return numbers.subarray(0, size);
}

function refuse(field: string, value: number, limit: string): never {
  throw new BaseError({
    code: "INT16S_INVALID",
    shortMessage: `${field} is ${value}, must be ${limit}.`,
    nextStep: "Pack sixteen signed 16-bit numbers a word and leave the rest zero.",
    details: { field, value, limit },
  });
}

/** Words of numbers, which saturate to 16 bits. */
export function writeInt16s(numbers: ArrayLike<number>): Uint8Array {
  const words = new Uint8Array(32 * Math.ceil(numbers.length / INT16S_PER_WORD));
  const view = viewOf(words);
  for (let i = 0; i < numbers.length; i++) {
    view.setInt16(2 * i, Math.max(LEAST, Math.min(MOST, numbers[i] as number)));
  }
  return words;
}

/** Content of a CODEC step: numbers k to k + count − 1. */
export function int16sTensor(numbers: ArrayLike<number>, out: Int32Array, k: number): void {
  for (let i = 0; i < out.length; i++) out[i] = numbers[k + i] as number;
}
