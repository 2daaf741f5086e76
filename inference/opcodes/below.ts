/** LOOKUP below: an element of a table by how far a number is below the largest of its row, among the places that count.
 *  Source: docs/EXACT.md, section 3. */
import { elementBytes, lastDim, NONE, type Step, type TensorData } from "../program/form.ts";
import { bitsOf } from "../program/tensor.ts";
import { orPlain } from "../wasm.ts";
import { broadcastElement, broadcastMap, readWord } from "./broadcast.ts";
import type { Kernel, OperandSource, PreparedOperand, Read } from "./opcode.ts";
import { type LookUpRow, MOST_ENTRIES, wasmLookUpRow } from "./wasm-below.ts";

const LEAST = -(2 ** 31);

/** The largest of `length` numbers from `at` on whose place counts, or LEAST. @param start of the mask's row */
function largestOf(
  numbers: Int32Array,
  at: number,
  length: number,
  mask: Uint8Array | undefined,
  start: number,
): number {
  let most = LEAST;
  for (let i = 0; i < length; i++)
    if ((mask === undefined || mask[start + i] !== 0) && (numbers[at + i] as number) > most)
      most = numbers[at + i] as number;
  return most;
}

/** In plain JavaScript: the definition. */
const lookUpRow: LookUpRow = ({ numbers, at, length, counts, start }, entries, nothing, out) => {
  const last = entries.length - 1;
  const most = largestOf(numbers, at, length, counts, start);
  for (let i = 0; i < length; i++)
    out[at + i] =
      counts !== undefined && counts[start + i] === 0
        ? nothing
        : (entries[Math.min(most - (numbers[at + i] as number), last)] as number);
};

/** Numbers of a row from which WebAssembly is faster, the copies into its memory and out of it included. */
const LEAST_FOR_WASM = 64;

/** One for all kernels: each memory of WebAssembly's reserves addresses by the gigabyte. */
const FASTEST = orPlain(wasmLookUpRow, () => lookUpRow);

/** @param table of rows of one element @param mask absent: each place counts */
export function prepareBelow(
  { type, dims }: Step,
  table: PreparedOperand,
  mask: PreparedOperand | undefined,
): Kernel {
  const raw = (data: TensorData): TensorData => (elementBytes(type) === 4 ? bitsOf(data) : data);
  const entries = raw(table.constant as TensorData);
  const length = lastDim(dims);
  const nothing = type === "s8" ? 128 : 0;
  /** By row of the output, the mask's; undefined: the same. */
  const maskRows = mask && broadcastMap(dims.slice(0, -1), mask.dims.slice(0, -1));
  const isForWasm = length >= LEAST_FOR_WASM && entries.length <= MOST_ENTRIES;
  const lookUp = isForWasm ? FASTEST : lookUpRow;
  return (out, a, _b, c, from = 0, to = out.length) => {
    const [numbers, counts, target] = [a as Int32Array, c as Uint8Array | undefined, raw(out)];
    for (let at = from; at < to; at += length) {
      const row = at / length;
      const start = length * (maskRows?.[row] ?? row);
      lookUp({ numbers, at, length, counts, start }, entries, nothing, target);
    }
  };
}

/** The row, the mask's row, and where the place counts the table's word. */
export function belowReads(step: Step, element: number, source: OperandSource): Read[] {
  const { dims, a, b, c } = step;
  const length = lastDim(dims);
  const row = Math.floor(element / length);
  const column = element % length;
  const read: Read[] = [{ operand: a, row }];
  const mask = c === NONE ? undefined : (source.data(c) as Uint8Array);
  const start = mask === undefined ? 0 : broadcastElement(dims, source.shape(c).dims, element) - column;
  if (mask !== undefined) {
    read.push({ operand: c, row: start / length });
    if (mask[start + column] === 0) return read;
  }
  const numbers = source.data(a) as Int32Array;
  const distance = largestOf(numbers, row * length, length, mask, start) - (numbers[element] as number);
  const table = source.weights(b);
  const last = (table.dims[0] as number) - 1;
  read.push(readWord(b, table.type, table.dims, Math.min(distance, last)));
  return read;
}
