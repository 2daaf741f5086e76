import { viewOf } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";

export const LANES_PER_WORD = 16;
const LANE_MIN = -32_768;
const LANE_MAX = 32_767;

/** Reads signed 16-bit lanes from words, sixteen a word, big-endian.
 *  @param words the content of a uint256[], exactly ⌈size/16⌉ words
 *  @throws BaseError LANES_INVALID for another number of words, or when a lane beyond `size` is not zero */
export function readLanes(words: Uint8Array, size: number): Int16Array {
  const count = Math.ceil(size / LANES_PER_WORD);
  if (words.length !== 32 * count) {
    refuse("number of words", words.length / 32, `${count} for ${size} lanes`);
  }
  const view = viewOf(words);
  const lanes = new Int16Array(LANES_PER_WORD * count);
  for (let i = 0; i < lanes.length; i++) lanes[i] = view.getInt16(2 * i);
  for (let i = size; i < lanes.length; i++) {
    if (lanes[i] !== 0) refuse(`unused lane ${i}`, lanes[i] as number, "0");
  }
  return lanes.subarray(0, size);
}

function refuse(field: string, value: number, limit: string): never {
  throw new BaseError({
    code: "LANES_INVALID",
    shortMessage: `${field} is ${value}, must be ${limit}.`,
    nextStep: "Pack sixteen signed 16-bit numbers a word and leave the rest zero.",
    details: { field, value, limit },
  });
}

/** Words of lanes; numbers saturate to 16 bits. */
export function writeLanes(numbers: ArrayLike<number>): Uint8Array {
  const words = new Uint8Array(32 * Math.ceil(numbers.length / LANES_PER_WORD));
  const view = viewOf(words);
  for (let i = 0; i < numbers.length; i++) {
    view.setInt16(2 * i, Math.max(LANE_MIN, Math.min(LANE_MAX, numbers[i] as number)));
  }
  return words;
}

/** Content of a CODEC step: lanes k to k + count − 1. */
export function lanesTensor(lanes: ArrayLike<number>, out: Int32Array, k: number): void {
  for (let i = 0; i < out.length; i++) out[i] = lanes[k + i] as number;
}
