import {
  advance,
  compileWasm,
  get,
  I32,
  leb,
  number32,
  OP,
  set,
  times,
  V128,
  type WasmFunction,
  type WasmInstance,
} from "../wasm.ts";
import type { ActivationRows, Products, ProductsOf, WeightRows } from "./products.ts";

/** Weight rows that are multiplied beside each other, and elements that one round of the inner loop takes of each. */
const BLOCK = 4;
const STRIDE = 16;
const HALF = 8;

const VECTOR = 0xfd;
const vector = (code: number, ...operands: number[]): number[] => [VECTOR, ...leb(code), ...operands];
/** Eight bytes as unsigned 16-bit SIMD lanes. */
const load8x8u = (offset: number): number[] => vector(0x02, 0, ...leb(offset));
/** Eight signed 16-bit SIMD lanes. */
const load16x8 = (offset: number): number[] => vector(0x00, 1, ...leb(offset));
const storeVector = vector(0x0b, 4, 0);
const zeros = vector(0x0c, ...times(16, () => [0]));
/** Picks four 32-bit SIMD lanes out of eight. */
const shuffle = (...parts: number[]): number[] =>
  vector(0x0d, ...parts.flatMap((part) => times(4, (byte) => [4 * part + byte])));
const addInt32s = vector(0xae);
/** Products of signed 16-bit SIMD lanes, pairs of them summed to 32 bits: unsigned bytes never saturate here. */
const dotInt16s = vector(0xba);

/** Parameters: the activation rows, their end, and bytes of one; the weights, and bytes from one row of a block to the next,
 *  from eight weights of a row to its next ones, and from one block to the next; the sums of the first row, their end,
 *  and bytes of one row's sums. Locals: an activation row, its sums, the position in it, its end, and the position in each
 *  weight row of the block; eight activations, and the sums of each weight row. */
const [A, A_END, A_BYTES, W, W_ROW, W_EIGHT, W_BLOCK, OUT, OUT_END, OUT_BYTES] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
];
const [ROW, ROW_OUT, AT, ROW_END, W_AT, X, SUM] = [10, 11, 12, 13, 14, 14 + BLOCK, 15 + BLOCK];

/** Sums the SIMD lanes of four vectors into one: pairs first, then pairs of pairs. */
function sumInt32s(): number[] {
  const pairs = (a: number, b: number): number[] => [
    ...[...get(a), ...get(b), ...shuffle(0, 4, 1, 5)],
    ...[...get(a), ...get(b), ...shuffle(2, 6, 3, 7)],
    ...addInt32s,
  ];
  const halves = [...pairs(SUM, SUM + 1), ...set(SUM), ...pairs(SUM + 2, SUM + 3), ...set(SUM + 1)];
  const both = [...get(SUM), ...get(SUM + 1)];
  return [...halves, ...both, ...shuffle(0, 1, 4, 5), ...both, ...shuffle(2, 3, 6, 7), ...addInt32s];
}

const added = (a: number, b: number[]): number[] => [...get(a), ...b, OP.add32];

/** For each block of weight rows, for each activation row: multiply, sum, store. @param size bytes of an activation: 1, or 2 of a signed number */
function body(size: 1 | 2): number[] {
  const loadEight = (half: number): number[] =>
    size === 1 ? load8x8u(HALF * half) : load16x8(2 * HALF * half);
  const eight = (half: number): number[] => [
    ...[...get(AT), ...loadEight(half), ...set(X)],
    ...times(BLOCK, (row) => [
      ...[...get(SUM + row), ...get(X), ...get(W_AT + row), ...load8x8u(0)],
      ...[...dotInt16s, ...addInt32s, ...set(SUM + row)],
      ...[...added(W_AT + row, get(W_EIGHT)), ...set(W_AT + row)],
    ]),
  ];
  return [
    ...OP.loop,
    ...[...get(A), ...set(ROW), ...get(OUT), ...set(ROW_OUT)],
    ...OP.loop,
    ...times(BLOCK, (row) => [...zeros, ...set(SUM + row)]),
    ...[...get(ROW), ...set(AT), ...added(ROW, get(A_BYTES)), ...set(ROW_END)],
    ...times(BLOCK, (row) => [
      ...(row === 0 ? get(W) : added(W_AT + row - 1, get(W_ROW))),
      ...set(W_AT + row),
    ]),
    ...OP.loop,
    ...times(STRIDE / HALF, eight),
    ...advance(AT, number32(size * STRIDE), get(ROW_END)),
    ...[...get(ROW_OUT), ...sumInt32s(), ...storeVector],
    ...[...added(ROW_OUT, get(OUT_BYTES)), ...set(ROW_OUT)],
    ...advance(ROW, get(A_BYTES), get(A_END)),
    ...[...added(W, get(W_BLOCK)), ...set(W)],
    ...advance(OUT, number32(4 * BLOCK), get(OUT_END)),
  ];
}

const products = (size: 1 | 2): WasmFunction<"products"> => ({
  name: "products",
  parameters: 10,
  locals: [
    [4 + BLOCK, I32],
    [1 + BLOCK, V128],
  ],
  body: body(size),
});

const PAGE = 65_536;
const above = (value: number, unit: number): number => unit * Math.ceil(value / unit);

/** What a number of 16 bits is above the signed one that is multiplied. */
const MIDDLE = 32_768;

/** Memory: the sums of each activation row, these rows, then the weights. Rows of a DOT weight tensor, which are read from
 *  memory once for each activation row that is alone, lie as they are read: eight bytes of each row of a block in turn.
 *  Others lie as they come, and what is read behind them is multiplied by 0 or summed for no row. */
class SimdProducts implements Products {
  readonly sums: Int32Array;
  readonly width: number;
  readonly #activations: Uint8Array | Int16Array;
  readonly #weights: Uint8Array;
  readonly #call: WasmInstance<"products">["calls"]["products"];
  readonly #rows: number;
  readonly #k: number;
  readonly #groups: number;
  readonly #isWords: boolean;
  readonly #groupBytes: number;
  /** Element i of a weight row is its byte i ^ flip. */
  readonly #flip: number;
  /** elements of an activation row in memory */
  readonly #padded: number;
  /** where the activation rows begin, and the weights */
  readonly #starts: readonly [activations: number, weights: number];
  /** Of numbers, for each weight row what MIDDLE adds to its sums; else there are none. */
  readonly #middles: Int32Array;

  constructor({ memory, calls }: WasmInstance<"products">, weights: WeightRows) {
    const { bytes, groups, rows, k, layout, activations, together } = weights;
    const isWords = layout === "words";
    this.width = above(rows + 1, BLOCK);
    this.#padded = above(k, isWords ? 32 : STRIDE);
    this.#isWords = isWords;
    this.#groupBytes = isWords ? above(rows, BLOCK) * this.#padded : rows * k;
    this.#flip = isWords ? 31 : 0;
    const sumsEnd = together * 4 * this.width;
    const end = sumsEnd + together * this.#padded * (activations === "numbers" ? 2 : 1);
    const behind = BLOCK * this.#padded;
    memory.grow(Math.ceil((end + groups * this.#groupBytes + behind) / PAGE) - 1);
    this.sums = new Int32Array(memory.buffer, 0, together * this.width);
    const Elements = activations === "numbers" ? Int16Array : Uint8Array;
    this.#activations = new Elements(memory.buffer, sumsEnd, together * this.#padded);
    this.#weights = new Uint8Array(memory.buffer, end);
    this.#middles = new Int32Array(activations === "numbers" ? groups * rows : 0);
    this.#call = calls.products;
    this.#rows = rows;
    this.#k = k;
    this.#groups = groups;
    this.#starts = [sumsEnd, end];
    this.load(bytes);
  }

  load(bytes: Uint8Array): void {
    if (this.#isWords) this.#interleave(bytes);
    else this.#weights.set(bytes);
    if (this.#middles.length === 0) return;
    for (let i = 0; i < this.#k; i++) this.#activations[i ^ this.#flip] = 1;
    for (let group = 0; group < this.#groups; group++) {
      this.#multiply(1, group);
      for (let row = 0; row < this.#rows; row++)
        this.#middles[group * this.#rows + row] = MIDDLE * (this.sums[row] as number);
    }
  }

  /** @param words of a DOT weight tensor */
  #interleave(words: Uint8Array): void {
    const isAligned = words.byteOffset % 4 === 0;
    const from = isAligned ? new Int32Array(words.buffer, words.byteOffset, words.length / 4) : toInts(words);
    const to = new Int32Array(this.#weights.buffer, this.#weights.byteOffset);
    const ints = this.#padded / 4;
    let read = 0;
    for (let group = 0; group < this.#groups; group++) {
      for (let row = 0; row < this.#rows; row++) {
        const block = (group * this.#groupBytes) / 4 + Math.floor(row / BLOCK) * BLOCK * ints;
        let at = block + 2 * (row % BLOCK);
        for (let i = 0; i < ints; i += 2, at += 2 * BLOCK) {
          to[at] = from[read + i] as number;
          to[at + 1] = from[read + i + 1] as number;
        }
        // Behind a row is its parameter word.
        read += ints + 8;
      }
    }
  }

  #multiply(count: number, group: number): void {
    const [a, w] = this.#starts;
    const activationBytes = this.#padded * this.#activations.BYTES_PER_ELEMENT;
    const rows = [a, a + count * activationBytes, activationBytes] as const;
    const k = this.#k;
    const steps = this.#isWords ? [HALF, BLOCK * HALF, BLOCK * this.#padded] : [k, HALF, BLOCK * k];
    const sums = [0, 4 * above(this.#rows, BLOCK), 4 * this.width] as const;
    this.#call(...rows, w + group * this.#groupBytes, ...steps, ...sums);
  }

  compute({ bytes, first, stride, count }: ActivationRows, group: number): void {
    const { sums, width } = this;
    for (let row = 0; row < count; row++) this.#copy(row, bytes, first + row * stride);
    this.#multiply(count, group);
    const isNumbers = this.#middles.length > 0;
    const middles = group * this.#rows;
    for (let row = 0; row < count; row++) {
      const at = row * width;
      sums[at + this.#rows] = this.#total(bytes, first + row * stride, isNumbers);
      if (!isNumbers) continue;
      for (let i = 0; i < this.#rows; i++)
        sums[at + i] = (sums[at + i] as number) + (this.#middles[middles + i] as number);
    }
  }

  #total(bytes: Uint8Array, from: number, isNumbers: boolean): number {
    const k = this.#k;
    let [high, low] = [0, 0];
    for (let i = from; i < from + k; i++) {
      high += bytes[i] as number;
      if (isNumbers) low += bytes[i + k] as number;
    }
    return isNumbers ? 256 * high + low : high;
  }

  #copy(row: number, bytes: Uint8Array, from: number): void {
    const [to, k, flip] = [row * this.#padded, this.#k, this.#flip];
    const activations = this.#activations;
    if (activations instanceof Uint8Array)
      for (let i = 0; i < k; i++) activations[to + (i ^ flip)] = bytes[from + i] as number;
    else
      for (let i = 0; i < k; i++)
        activations[to + (i ^ flip)] =
          256 * (bytes[from + i] as number) + (bytes[from + k + i] as number) - MIDDLE;
  }
}

const toInts = (bytes: Uint8Array): Int32Array => new Int32Array(new Uint8Array(bytes).buffer);

const ofBytes = compileWasm(products(1));
const ofNumbers = compileWasm(products(2));

/** Products by WebAssembly's vectors; undefined where the engine lacks them.
 *  @throws RangeError where there is no memory for the weights */
export const simdProducts: ProductsOf | undefined =
  ofBytes === undefined || ofNumbers === undefined
    ? undefined
    : (weights) => new SimdProducts(weights.activations === "numbers" ? ofNumbers() : ofBytes(), weights);
