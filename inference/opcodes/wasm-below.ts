/** Rows of LOOKUP below in WebAssembly, which takes half of JavaScript's time. */
import { MAX_REDUCED_LENGTH } from "../program/check.ts";
import type { TensorData } from "../program/form.ts";
import { advance, at, compileWasm, get, I32, number32, OP, set, type WasmFunction } from "../wasm.ts";
import { copyElements } from "./copy.ts";

/** Memory: which places of a row count, its numbers, what is looked up of it, and the table. */
const COUNTS = 0;
const NUMBERS = COUNTS + MAX_REDUCED_LENGTH;
const FOUND = NUMBERS + 4 * MAX_REDUCED_LENGTH;
const TABLE = FOUND + 4 * MAX_REDUCED_LENGTH;
/** Most entries of a table here: as many as numbers of 16 bits. */
export const MOST_ENTRIES = 65_536;
/** Of 64 KB, for a table of that many words. */
const PAGES = Math.ceil((TABLE + 4 * MOST_ENTRIES) / 65_536);

/** Parameters: how many numbers, the table's last index, and what stands where a place does not count. Locals: the index
 *  in the row, the largest number that counts, and the number in hand, or how far it is below. */
const [COUNT, LAST, NOTHING, AT, MOST, X, LEAST] = [0, 1, 2, 3, 4, 5, 6];

const word = [...get(AT), ...number32(2), OP.shiftLeft32];
const number = [...word, OP.load32, ...at(NUMBERS)];
const isCounted = [...get(AT), OP.load8, ...at(COUNTS)];
const first = [...number32(0), ...set(AT)];
const next = advance(AT, number32(1), get(COUNT));

/** No number is below the first one, which stands for those that do not count. */
const largest = [
  ...OP.loop,
  ...[...number, ...get(LEAST), ...isCounted, OP.select, OP.tee, X, ...get(MOST), ...get(X), ...get(MOST)],
  ...[OP.greaterSigned32, OP.select, ...set(MOST)],
  ...next,
];

type Size = "bytes" | "words";

const ENTRY: Readonly<Record<Size, number[]>> = {
  bytes: [...get(X), OP.load8, ...at(TABLE)],
  words: [...get(X), ...number32(2), OP.shiftLeft32, OP.load32, ...at(TABLE)],
};
const PLACE: Readonly<Record<Size, number[]>> = { bytes: get(AT), words: word };
const STORE: Readonly<Record<Size, number[]>> = {
  bytes: [OP.store8, ...at(FOUND)],
  words: [OP.store32, ...at(FOUND)],
};

/** A number that does not count can be above the largest one that does: as an unsigned number it is far below. */
const lookup = (size: Size): number[] => [
  ...OP.loop,
  ...[...get(MOST), ...number, OP.subtract32, OP.tee, X, ...get(LAST), ...get(X), ...get(LAST)],
  ...[OP.less32, OP.select, ...set(X)],
  ...[...PLACE[size], ...ENTRY[size], ...get(NOTHING), ...isCounted, OP.select, ...STORE[size]],
  ...next,
];

const functionOf = (name: Size): WasmFunction<Size> => ({
  name,
  parameters: 3,
  locals: [[4, I32]],
  body: [
    ...[...number32(1), ...number32(31), OP.shiftLeft32, OP.tee, LEAST, ...set(MOST)],
    ...[...largest, ...first, ...lookup(name)],
  ],
});

const instantiate = compileWasm(functionOf("bytes"), functionOf("words"));

/** A row of `length` numbers. */
export interface NumberRow {
  readonly numbers: Int32Array;
  /** the first one */
  readonly at: number;
  readonly length: number;
  /** not 0 where a place counts, the row's from `start` on; undefined: each place counts */
  readonly counts: Uint8Array | undefined;
  readonly start: number;
}

/** Writes what is looked up of a row into a tensor of the table's type, floats as their bits.
 *  @param entries never changed once they are given; in WebAssembly at most MOST_ENTRIES
 *  @param nothing where a place does not count */
export type LookUpRow = (row: NumberRow, entries: TensorData, nothing: number, out: TensorData) => void;

/** Undefined where the engine has no WebAssembly. @throws RangeError where there is no memory */
export function wasmLookUpRow(): LookUpRow | undefined {
  if (instantiate === undefined) return undefined;
  const { memory, calls } = instantiate();
  memory.grow(PAGES - 1);
  const { buffer } = memory;
  const own = new Int32Array(buffer, NUMBERS, MAX_REDUCED_LENGTH);
  const counted = new Uint8Array(buffer, COUNTS, MAX_REDUCED_LENGTH);
  const [bytes, words] = [new Uint8Array(buffer), new Int32Array(buffer)];
  let loaded: TensorData | undefined;
  return ({ numbers, at: from, length, counts, start }, entries, nothing, out) => {
    const size = entries.BYTES_PER_ELEMENT;
    const [name, of] = size === 4 ? (["words", words] as const) : (["bytes", bytes] as const);
    if (entries !== loaded) of.set(entries, TABLE / size);
    loaded = entries;
    copyElements(own, 0, numbers, from, length);
    if (counts === undefined) counted.fill(1, 0, length);
    else copyElements(counted, 0, counts, start, length);
    calls[name](length, entries.length - 1, nothing);
    copyElements(out, from, of, FOUND / size, length);
  };
}
