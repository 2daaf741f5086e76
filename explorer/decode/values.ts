/** Stored words as the values that they stand for. */
import { viewOf } from "../../base/bytes.ts";
import { elementBytes, lastDim, rowCount, type TensorType } from "../../inference/program/form.ts";

/** Value of one element. @param bytes in stored form @param at its first byte */
export function storedValue(type: TensorType, bytes: Uint8Array, at: number): number {
  switch (type) {
    case "s32":
      return viewOf(bytes).getInt32(at);
    case "f32":
      return viewOf(bytes).getFloat32(at);
    case "s8":
      return (bytes[at] as number) - 128;
    default:
      return bytes[at] as number;
  }
}

/** JSON has no NaN and no infinity. */
export const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);

/** Value of an element of which an event holds the stored bytes as an unsigned number; null: no finite one. */
export function valueOfStored(type: TensorType, stored: bigint): number | null {
  const size = elementBytes(type);
  const bytes = Uint8Array.from({ length: size }, (_, i) =>
    Number(BigInt.asUintN(8, stored >> BigInt(8 * (size - 1 - i)))),
  );
  return finite(storedValue(type, bytes, 0));
}

/** Elements that stand in a word. */
export const perWord = (type: TensorType): number => 32 / elementBytes(type);

/** Values of a row's words from `word` on, without padding. */
export function rowValues(
  type: TensorType,
  dims: readonly number[],
  word: number,
  words: readonly Uint8Array[],
): number[] {
  const left = Math.max(0, lastDim(dims) - word * perWord(type));
  const values = words.flatMap((bytes) =>
    Array.from({ length: perWord(type) }, (_, i) => storedValue(type, bytes, i * elementBytes(type))),
  );
  return values.slice(0, left);
}

/** Values of consecutive leaves of a tensor's tree; null where no element is.
 *  @param rowHeight log2 of the words that a row is padded to */
export function leafValues(
  type: TensorType,
  dims: readonly number[],
  rowHeight: number,
  first: number,
  words: readonly Uint8Array[],
): { readonly first: number; readonly values: (number | null)[] } {
  const [width, rows, last] = [2 ** rowHeight, rowCount(dims), lastDim(dims)];
  const values = words.flatMap((bytes, i) => {
    const [row, word] = [Math.floor((first + i) / width), (first + i) % width];
    const real = row < rows ? rowValues(type, dims, word, [bytes]) : [];
    return Array.from({ length: perWord(type) }, (_, at) => {
      const value = real[at];
      return value === undefined ? null : finite(value);
    });
  });
  return { first: Math.floor(first / width) * last + (first % width) * perWord(type), values };
}
