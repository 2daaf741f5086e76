import {
  advance,
  compileWasm,
  get,
  I32,
  leb,
  OP,
  set,
  signedLeb,
  times,
  V128,
  type WasmFunction,
  type WasmInstance,
} from "../wasm.ts";
import type { Products, ProductsOf, WeightRows } from "./products.ts";

/** Weight rows that are multiplied beside each other, and bytes that one round of the inner loop takes of each. */
const BLOCK = 4;
const STRIDE = 16;
const HALF = 8;

const VECTOR = 0xfd;
const vector = (code: number, ...operands: number[]): number[] => [VECTOR, ...leb(code), ...operands];
/** Eight bytes as unsigned 16-bit SIMD lanes. */
const load8x8u = (offset: number): number[] => vector(0x02, 0, ...leb(offset));
const storeVector = vector(0x0b, 4, 0);
const zeros = vector(0x0c, ...times(16, () => [0]));
/** Picks four 32-bit SIMD lanes out of eight. */
const shuffle = (...parts: number[]): number[] =>
  vector(0x0d, ...parts.flatMap((part) => times(4, (byte) => [4 * part + byte])));
const addInt32s = vector(0xae);
/** Products of signed 16-bit SIMD lanes, pairs of them summed to 32 bits: unsigned bytes never saturate here. */
const dotInt16s = vector(0xba);

/** Parameters: the activation row and its end, the weights, the sums and their end; locals: position in the
 *  activation row, eight activations, and the sums of each weight row. */
const [A, A_END, W, OUT, OUT_END, AT, X, SUM] = [0, 1, 2, 3, 4, 5, 6, 7];

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

/** For each block of weight rows: multiply, sum, store. Weights lie in the order in which they are read. */
function body(): number[] {
  const eight = (half: number): number[] => [
    ...[...get(AT), ...load8x8u(HALF * half), ...set(X)],
    ...times(BLOCK, (row) => [
      ...[...get(SUM + row), ...get(X), ...get(W), ...load8x8u(HALF * (half * BLOCK + row))],
      ...[...dotInt16s, ...addInt32s, ...set(SUM + row)],
    ]),
  ];
  return [
    ...OP.loop,
    ...times(BLOCK, (row) => [...zeros, ...set(SUM + row)]),
    ...[...get(A), ...set(AT)],
    ...OP.loop,
    ...times(STRIDE / HALF, eight),
    ...[...get(W), OP.const32, ...signedLeb(BLOCK * STRIDE), OP.add32, ...set(W)],
    ...advance(AT, STRIDE, get(A_END)),
    ...[...get(OUT), ...sumInt32s(), ...storeVector],
    ...advance(OUT, 4 * BLOCK, get(OUT_END)),
  ];
}

const FUNCTION: WasmFunction = {
  name: "products",
  parameters: 5,
  locals: [
    [1, I32],
    [1 + BLOCK, V128],
  ],
  body: body(),
};

const PAGE = 65_536;
const above = (value: number, unit: number): number => unit * Math.ceil(value / unit);

/** Memory: the sums, the activation row, then for each group its blocks of weight rows. A row of ones behind the
 *  weight rows makes Σ a; what fills up the last block and the last stride is 0. */
class SimdProducts implements Products {
  readonly sums: Int32Array;
  readonly #activations: Uint8Array;
  readonly #weights: Uint8Array;
  readonly #call: WasmInstance["call"];
  readonly #rows: number;
  readonly #k: number;
  readonly #groups: number;
  readonly #groupBytes: number;
  /** Ends of the sums and of the activation row. */
  readonly #ends: readonly [sums: number, activations: number];

  constructor({ memory, call }: WasmInstance, { bytes, groups, rows, k }: WeightRows) {
    const padded = above(k, STRIDE);
    const sumsEnd = 4 * above(rows + 1, BLOCK);
    const end = sumsEnd + padded;
    this.#groupBytes = (sumsEnd / 4) * padded;
    memory.grow(Math.ceil((end + groups * this.#groupBytes) / PAGE) - 1);
    this.sums = new Int32Array(memory.buffer, 0, sumsEnd / 4);
    this.#activations = new Uint8Array(memory.buffer, sumsEnd, padded);
    this.#weights = new Uint8Array(memory.buffer, end);
    this.#call = call;
    this.#rows = rows;
    this.#k = k;
    this.#groups = groups;
    this.#ends = [sumsEnd, end];
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
    const block = Math.floor(row / BLOCK) * BLOCK * above(this.#k, STRIDE);
    const to = group * this.#groupBytes + block + HALF * (row % BLOCK);
    const weights = this.#weights;
    for (let i = 0; i < this.#k; i++) {
      weights[to + BLOCK * (i - (i % HALF)) + (i % HALF)] = bytes[from + i] as number;
    }
  }

  compute(a: Uint8Array, at: number, group: number): number {
    const [sums, end] = this.#ends;
    this.#activations.set(a.subarray(at, at + this.#k));
    this.#call(sums, end, end + group * this.#groupBytes, 0, sums);
    return this.sums[this.#rows] as number;
  }
}

const instantiate = compileWasm(FUNCTION);

/** Products by WebAssembly's vectors; undefined where the engine lacks them.
 *  @throws RangeError where there is no memory for the weights */
export const simdProducts: ProductsOf | undefined =
  instantiate === undefined ? undefined : (weights) => new SimdProducts(instantiate(), weights);
