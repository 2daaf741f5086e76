/** Ids of a derived language model as the numbers of 16 bits that its calldata and return data hold. */

import { decodeAbi } from "../codecs/abi.ts";
import { readInt16s } from "../codecs/int16s.ts";
import { fail } from "../onnx/fail.ts";

/** Numbers of 16 bits hold an id less this. */
export const ID_OFFSET = 32_768;
/** In the place of an id: nothing. In front of a prompt that is shorter than others, and behind the end of an answer. */
export const NO_ID = 32_767;

const SELECTOR_BYTES = 4;

/** What calldata hold of a prompt. @param size of the model's prompt, at least as many as there are ids */
export const promptNumbers = (ids: readonly number[], size: number): number[] => [
  ...new Array<number>(size - ids.length).fill(NO_ID),
  ...ids.map((id) => id - ID_OFFSET),
];

/** The ids of an answer, or of a classifier's text, without the nothing behind its end. Nothing that stands elsewhere is an
 *  id that no token has: without it, other data would read the same.
 *  @param numbers that return data hold */
export const answerIds = (numbers: ArrayLike<number>): number[] => {
  const all = Array.from(numbers);
  return idsOf(all.slice(0, all.findLastIndex(isId) + 1));
};

/** The ids of a prompt, without the nothing in front, as `answerIds`. */
export const promptIds = (numbers: ArrayLike<number>): number[] => {
  const all = Array.from(numbers);
  const first = all.findIndex(isId);
  return first < 0 ? [] : idsOf(all.slice(first));
};

const isId = (number: number): boolean => number !== NO_ID;
const idsOf = (numbers: readonly number[]): number[] => numbers.map((number) => number + ID_OFFSET);

/** The numbers that calldata hold. @param calldata with their selector @param size of the model's input
 *  @throws CALLDATA_NOT_CANONICAL, INT16S_INVALID */
export const askedNumbers = (calldata: Uint8Array, size: number): Int16Array =>
  numbersIn(calldata.subarray(SELECTOR_BYTES), size);

/** The numbers that return data hold, or arguments. @throws CALLDATA_NOT_CANONICAL, INT16S_INVALID */
export function numbersIn(data: Uint8Array, size: number): Int16Array {
  const [words] = decodeAbi(["uint256[]"], data) as [Uint8Array];
  return readInt16s(words, size);
}

/** @param count of the model's ids */
export const unknownId = (id: number, count: number) =>
  fail(
    "ID_UNKNOWN",
    `The id ${id} is no token's: the model has the ids 0 to ${count - 1}.`,
    "Take the ids that this model gave.",
    { id, limit: count - 1 },
  );
