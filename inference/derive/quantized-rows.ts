/** Rows of weights as signed bytes, each row with its own scale, by exact integers. */
import { type Gguf, type GgufTensor, HALF_UNIT, invalid, readRow } from "./gguf.ts";

/** [rows, length], row by row: a weight is its value times its row's scale. */
export interface QuantizedRows {
  readonly length: number;
  readonly values: Int8Array;
  readonly scales: Float64Array;
}

/** Largest value of a byte; -128 is left out, so that each value has its negative. */
const MOST = 127;
/** Twice a number times MOST, plus a row's largest number, is an exact binary64 integer. */
const MOST_INTEGER = 2 ** 44;

/** The rows of a tensor of rank 2: `round(127 · w / max|w|)` of the row, ties away from zero. A row of zeros has the least
 *  scale of the others. @throws GGUF_INVALID */
export function quantizedRows(file: Gguf, tensor: GgufTensor): QuantizedRows {
  const [rows, length] = tensor.dims as [number, number];
  const row = new Float64Array(length);
  const values = new Int8Array(rows * length);
  const scales = new Float64Array(rows);
  for (let n = 0; n < rows; n++) {
    readRow(file, tensor, n, row);
    let most = 0;
    for (let i = 0; i < length; i++) most = Math.max(most, Math.abs(row[i] as number));
    if (most > MOST_INTEGER) {
      throw invalid(
        `row ${n} of tensor ${tensor.name} holds ${most * HALF_UNIT}, at most ${MOST_INTEGER * HALF_UNIT} is quantized`,
      );
    }
    scales[n] = (most / MOST) * HALF_UNIT;
    for (let i = 0; i < length && most > 0; i++) {
      const x = row[i] as number;
      const size = Math.floor((2 * MOST * Math.abs(x) + most) / (2 * most));
      values[n * length + i] = x < 0 ? -size : size;
    }
  }
  const least = scales.reduce((found, scale) => (scale > 0 && scale < found ? scale : found), Infinity);
  if (!Number.isFinite(least)) throw invalid(`tensor ${tensor.name} holds nothing but zeros`);
  return { length, values, scales: scales.map((scale) => (scale === 0 ? least : scale)) };
}

/** Chosen rows, in the order given. */
export function chosenRows(
  { length, values, scales }: QuantizedRows,
  rows: readonly number[],
): QuantizedRows {
  const chosen = new Int8Array(rows.length * length);
  rows.forEach((row, n) => {
    chosen.set(values.subarray(row * length, (row + 1) * length), n * length);
  });
  return { length, values: chosen, scales: Float64Array.from(rows, (row) => scales[row] as number) };
}

/** The same rows for an operand of which elements changed their sign. */
export function withSigns(rows: QuantizedRows, signs: readonly (1 | -1)[]): QuantizedRows {
  const { length, values } = rows;
  const signed = new Int8Array(values.length);
  for (let i = 0; i < values.length; i++) signed[i] = (values[i] as number) * (signs[i % length] as number);
  return { ...rows, values: signed };
}

/** The byte that a signed 0 is stored as. */
export const BYTE_MIDDLE = 128;

/** Values as s8 is stored. */
export function storedValues({ values }: QuantizedRows): Uint8Array {
  const stored = new Uint8Array(values.length);
  for (let i = 0; i < values.length; i++) stored[i] = (values[i] as number) + BYTE_MIDDLE;
  return stored;
}

export const rowsBetween = (
  { length, values, scales }: QuantizedRows,
  from: number,
  to: number,
): QuantizedRows => ({
  length,
  values: values.subarray(from * length, to * length),
  scales: scales.slice(from, to),
});

/** Each row cut into parts of its columns: the first part of every row, then the second of every row, and so on. */
export function cutRows(all: QuantizedRows, parts: number): QuantizedRows {
  if (parts === 1) return all;
  const { length, values, scales } = all;
  const part = length / parts;
  const rows = scales.length;
  const cut = new Int8Array(values.length);
  for (let p = 0; p < parts; p++) {
    for (let n = 0; n < rows; n++) {
      const from = n * length + p * part;
      cut.set(values.subarray(from, from + part), (p * rows + n) * part);
    }
  }
  const repeated = Float64Array.from({ length: parts * rows }, (_, i) => scales[i % rows] as number);
  return { length: part, values: cut, scales: repeated };
}

export function joinedRows(all: readonly QuantizedRows[]): QuantizedRows {
  const [{ length }] = all as [QuantizedRows];
  const values = new Int8Array(all.reduce((sum, rows) => sum + rows.values.length, 0));
  let at = 0;
  for (const rows of all) {
    values.set(rows.values, at);
    at += rows.values.length;
  }
  return { length, values, scales: Float64Array.from(all.flatMap(({ scales }) => [...scales])) };
}
