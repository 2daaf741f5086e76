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

/** Parameters: the activation rows, their end, and bytes of one; the weights; the sums of the first row, their end, and
 *  bytes of one row's sums. Locals: an activation row, its sums, the position in it, its end, and the position in the
 *  block of weight rows; eight activations, and the sums of each weight row. */
const [A, A_END, A_BYTES, W, OUT, OUT_END, OUT_BYTES] = [0, 1, 2, 3, 4, 5, 6];
const [ROW, ROW_OUT, AT, ROW_END, W_AT, X, SUM] = [7, 8, 9, 10, 11, 12, 13];

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

/** For each block of weight rows, for each activation row: multiply, sum, store. Weights lie in the order in which they
 *  are read. @param size bytes of an activation: 1, or 2 of a signed number */
function body(size: 1 | 2): number[] {
  const loadEight = (half: number): number[] =>
    size === 1 ? load8x8u(HALF * half) : load16x8(2 * HALF * half);
  const eight = (half: number): number[] => [
    ...[...get(AT), ...loadEight(half), ...set(X)],
    ...times(BLOCK, (row) => [
      ...[...get(SUM + row), ...get(X), ...get(W_AT), ...load8x8u(HALF * (half * BLOCK + row))],
      ...[...dotInt16s, ...addInt32s, ...set(SUM + row)],
    ]),
  ];
  return [
    ...OP.loop,
    ...[...get(A), ...set(ROW), ...get(OUT), ...set(ROW_OUT)],
    ...OP.loop,
    ...times(BLOCK, (row) => [...zeros, ...set(SUM + row)]),
    ...[...get(ROW), ...set(AT), ...added(ROW, get(A_BYTES)), ...set(ROW_END), ...get(W), ...set(W_AT)],
    ...OP.loop,
    ...times(STRIDE / HALF, eight),
    ...[...added(W_AT, number32(BLOCK * STRIDE)), ...set(W_AT)],
    ...advance(AT, number32(size * STRIDE), get(ROW_END)),
    ...[...get(ROW_OUT), ...sumInt32s(), ...storeVector],
    ...[...added(ROW_OUT, get(OUT_BYTES)), ...set(ROW_OUT)],
    ...advance(ROW, get(A_BYTES), get(A_END)),
    ...[...get(W_AT), ...set(W)],
    ...advance(OUT, number32(4 * BLOCK), get(OUT_END)),
  ];
}

const products = (size: 1 | 2): WasmFunction => ({
  name: "products",
  parameters: 7,
  locals: [
    [5, I32],
    [1 + BLOCK, V128],
  ],
  body: body(size),
});

const PAGE = 65_536;
const above = (value: number, unit: number): number => unit * Math.ceil(value / unit);

/** What a number of 16 bits is above the signed one that is multiplied. */
const MIDDLE = 32_768;

/** Memory: the sums of each activation row, these rows, then for each group its blocks of weight rows. A row of ones
 *  behind the weight rows makes Σ a; what fills up the last block and the last stride is 0. */
class SimdProducts implements Products {
  readonly sums: Int32Array;
  readonly width: number;
  readonly #activations: Uint8Array | Int16Array;
  readonly #weights: Uint8Array;
  readonly #call: WasmInstance["call"];
  readonly #rows: number;
  readonly #k: number;
  readonly #groups: number;
  readonly #groupBytes: number;
  /** elements of an activation row in memory */
  readonly #padded: number;
  /** where the activation rows begin, and the weights */
  readonly #starts: readonly [activations: number, weights: number];
  /** Of numbers, for each weight row what MIDDLE adds to its sums; else there are none. */
  readonly #middles: Int32Array;

  constructor({ memory, call }: WasmInstance, { bytes, groups, rows, k, activations, together }: WeightRows) {
    this.width = above(rows + 1, BLOCK);
    this.#padded = above(k, STRIDE);
    const sumsEnd = together * 4 * this.width;
    const end = sumsEnd + together * this.#padded * (activations === "numbers" ? 2 : 1);
    this.#groupBytes = this.width * this.#padded;
    memory.grow(Math.ceil((end + groups * this.#groupBytes) / PAGE) - 1);
    this.sums = new Int32Array(memory.buffer, 0, together * this.width);
    const Elements = activations === "numbers" ? Int16Array : Uint8Array;
    this.#activations = new Elements(memory.buffer, sumsEnd, together * this.#padded);
    this.#weights = new Uint8Array(memory.buffer, end);
    this.#middles = new Int32Array(activations === "numbers" ? groups * (rows + 1) : 0);
    this.#call = call;
    this.#rows = rows;
    this.#k = k;
    this.#groups = groups;
    this.#starts = [sumsEnd, end];
    const ones = new Uint8Array(k).fill(1);
    for (let group = 0; group < groups; group++) this.#place(group, rows, ones, 0);
    this.load(bytes);
  }

  load(bytes: Uint8Array): void {
    for (let group = 0; group < this.#groups; group++) {
      for (let row = 0; row < this.#rows; row++) {
        this.#place(group, row, bytes, (group * this.#rows + row) * this.#k);
      }
    }
  }

  /** A row into its block: eight bytes of each row of the block in turn. @param from first byte of it */
  #place(group: number, row: number, bytes: Uint8Array, from: number): void {
    const block = Math.floor(row / BLOCK) * BLOCK * this.#padded;
    const to = group * this.#groupBytes + block + HALF * (row % BLOCK);
    const weights = this.#weights;
    let sum = 0;
    for (let i = 0; i < this.#k; i++) {
      const weight = bytes[from + i] as number;
      weights[to + BLOCK * (i - (i % HALF)) + (i % HALF)] = weight;
      sum += weight;
    }
    if (this.#middles.length > 0) this.#middles[group * (this.#rows + 1) + row] = MIDDLE * sum;
  }

  compute({ bytes, first, stride, count }: ActivationRows, group: number): void {
    for (let row = 0; row < count; row++) this.#copy(row, bytes, first + row * stride);
    const [a, w] = this.#starts;
    const rowBytes = this.#padded * this.#activations.BYTES_PER_ELEMENT;
    const sumBytes = 4 * this.width;
    this.#call(a, a + count * rowBytes, rowBytes, w + group * this.#groupBytes, 0, sumBytes, sumBytes);
    if (this.#middles.length === 0) return;
    const middles = group * (this.#rows + 1);
    for (let row = 0; row < count; row++) {
      const at = row * this.width;
      for (let i = 0; i <= this.#rows; i++)
        this.sums[at + i] = (this.sums[at + i] as number) + (this.#middles[middles + i] as number);
    }
  }

  #copy(row: number, bytes: Uint8Array, from: number): void {
    const [to, k] = [row * this.#padded, this.#k];
    const activations = this.#activations;
    if (activations instanceof Uint8Array) activations.set(bytes.subarray(from, from + k), to);
    else
      for (let i = 0; i < k; i++)
        activations[to + i] = 256 * (bytes[from + i] as number) + (bytes[from + k + i] as number) - MIDDLE;
  }
}

const ofBytes = compileWasm(products(1));
const ofNumbers = compileWasm(products(2));

/** Products by WebAssembly's vectors; undefined where the engine lacks them.
 *  @throws RangeError where there is no memory for the weights */
export const simdProducts: ProductsOf | undefined =
  ofBytes === undefined || ofNumbers === undefined
    ? undefined
    : (weights) => new SimdProducts(weights.activations === "numbers" ? ofNumbers() : ofBytes(), weights);
