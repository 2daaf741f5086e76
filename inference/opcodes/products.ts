import { unpackDot } from "../program/weights.ts";
import { orPlain } from "../wasm.ts";

/** Activation rows that are multiplied in one call. */
export interface ActivationRows {
  readonly bytes: Uint8Array;
  /** first byte of the first row */
  readonly first: number;
  /** bytes from one row's first byte to the next one's */
  readonly stride: number;
  readonly count: number;
}

/** Sums of products of activation rows with the weight rows of a group: what a DOT step spends its time on. */
export interface Products {
  /** For each activation row of the call `width` numbers, the first of which are `Σ (a − zero)·(w − offset) + start` for
   *  each weight row of the group, modulo 2^32. */
  readonly sums: Int32Array;
  readonly width: number;
  /** Other weight rows of the same number and length in place of the first ones, and what their sums start from. */
  load(bytes: Uint8Array, starts: Int32Array): void;
  /** Fills `sums`. @param activations at most `together` of them */
  compute(activations: ActivationRows, group: number): void;
}

/** Weight rows of a DOT step: `groups` times `rows` of `k` stored bytes each, k ≤ 2,016. Sums of products of
 *  bytes stay below 2,016 · 255² < 2^31, whatever the bytes: no order of additions gives another result. */
export interface WeightRows {
  readonly bytes: Uint8Array;
  /** of each weight row */
  readonly starts: Int32Array;
  readonly offsets: Int32Array;
  readonly groups: number;
  readonly rows: number;
  readonly k: number;
  /** "words": the bytes are a DOT weight tensor's, as `Model.weights` holds them; "rows": row-major without anything
   *  between. */
  readonly layout: "words" | "rows";
  /** An activation row is k bytes, or k numbers u of 16 bits: their high bytes, and behind them their low ones. */
  readonly activations: "bytes" | "numbers";
  /** what a stored byte of an activation is above its value; of numbers 0, as their starts have it */
  readonly zero: number;
  /** most activation rows of a call */
  readonly together: number;
}

export type ProductsOf = (weights: WeightRows) => Products;

/** Activation rows that share a weight row while it is in the processor's cache. */
export const MOST_TOGETHER = 16;

/** Products in plain JavaScript: the definition. Those of numbers are 256 times the ones of high bytes, and those of low
 *  ones. */
export const plainProducts: ProductsOf = (shape) => {
  const { groups, rows, k, layout, activations, zero, together, offsets } = shape;
  const rowMajor = (stored: Uint8Array): Uint8Array =>
    layout === "words" ? unpackDot(stored, groups * rows, k) : stored;
  const width = rows + 1;
  const sums = new Int32Array(together * width);
  const low = new Int32Array(width);
  /** What sums of stored activations start from: zero counts for each weight. */
  const startsOf = (stored: Uint8Array, given: Int32Array): Int32Array =>
    zero === 0
      ? given
      : given.map((start, n) => {
          const sum = sumOf(stored.subarray(n * k, (n + 1) * k));
          return start - zero * (sum - k * (offsets[n] as number));
        });
  let weights = rowMajor(shape.bytes);
  let starts = startsOf(weights, shape.starts);
  return {
    sums,
    width,
    load: (otherBytes, otherStarts) => {
      weights = rowMajor(otherBytes);
      starts = startsOf(weights, otherStarts);
    },
    compute({ bytes: a, first, stride, count }, group) {
      for (let row = 0; row < count; row++) {
        const own = sums.subarray(row * width, (row + 1) * width);
        const at = first + row * stride;
        accumulate(own, a, at, weights, group * rows * k, k);
        if (activations === "numbers") {
          accumulate(low, a, at + k, weights, group * rows * k, k);
          for (let i = 0; i < width; i++) own[i] = ((own[i] as number) << 8) + (low[i] as number);
        }
        const total = own[rows] as number;
        for (let i = 0, n = group * rows; i < rows; i++, n++) {
          const offset = Math.imul(offsets[n] as number, total);
          own[i] = (own[i] as number) - offset + (starts[n] as number);
        }
      }
    },
  };
};

const sumOf = (bytes: Uint8Array): number => bytes.reduce((sum, byte) => sum + byte, 0);

/** Multiply-accumulates of one group from which vectors are faster, the call into WebAssembly included. */
const LEAST_FOR_VECTORS = 64;

/** Products by vectors where they are faster and can be had: this engine has them, and memory for the weights. */
export function fastestProducts(vectors: ProductsOf | undefined): ProductsOf {
  return (weights) => {
    if (vectors === undefined || weights.rows * weights.k < LEAST_FOR_VECTORS) return plainProducts(weights);
    return orPlain(
      () => vectors(weights),
      () => plainProducts(weights),
    );
  };
}

/** Σ a·w of a row of bytes with each weight row, and Σ a. */
function accumulate(
  sums: Int32Array,
  a: Uint8Array,
  aAt: number,
  w: Uint8Array,
  wAt: number,
  k: number,
): void {
  const rows = sums.length - 1;
  let total = 0;
  for (let i = 0; i < k; i++) total += a[aAt + i] as number;
  let row = 0;
  // Four rows at once share each load of the activation.
  for (; row + 4 <= rows; row += 4) {
    const w0 = wAt + row * k;
    const w1 = w0 + k;
    const w2 = w1 + k;
    const w3 = w2 + k;
    let s0 = 0;
    let s1 = 0;
    let s2 = 0;
    let s3 = 0;
    for (let i = 0; i < k; i++) {
      const x = a[aAt + i] as number;
      s0 = (s0 + x * (w[w0 + i] as number)) | 0;
      s1 = (s1 + x * (w[w1 + i] as number)) | 0;
      s2 = (s2 + x * (w[w2 + i] as number)) | 0;
      s3 = (s3 + x * (w[w3 + i] as number)) | 0;
    }
    sums[row] = s0;
    sums[row + 1] = s1;
    sums[row + 2] = s2;
    sums[row + 3] = s3;
  }
  for (; row < rows; row++) {
    const w0 = wAt + row * k;
    let s = 0;
    for (let i = 0; i < k; i++) s = (s + (a[aAt + i] as number) * (w[w0 + i] as number)) | 0;
    sums[row] = s;
  }
  sums[rows] = total;
}
