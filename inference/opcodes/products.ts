/** Sums of products of one activation row with the weight rows of a group: what a DOT step spends its time on. */
export interface Products {
  /** `Σ a·w` for each weight row of the group computed last. */
  readonly sums: Int32Array;
  /** Other rows of the same number and length in place of the first ones. */
  load(bytes: Uint8Array): void;
  /** Fills `sums`.
   *  @param at first byte of the activation row @returns Σ a */
  compute(a: Uint8Array, at: number, group: number): number;
}

/** Weight rows of a DOT step: `groups` times `rows` of `k` stored bytes each, k ≤ 1,024, row-major. Sums stay below
 *  1,024 · 255² < 2^31, whatever the bytes: no order of additions gives another result. */
export interface WeightRows {
  readonly bytes: Uint8Array;
  readonly groups: number;
  readonly rows: number;
  readonly k: number;
}

export type ProductsOf = (weights: WeightRows) => Products;

/** Products in plain JavaScript. */
export const plainProducts: ProductsOf = ({ bytes, rows, k }) => {
  const sums = new Int32Array(rows);
  let weights = bytes;
  return {
    sums,
    load: (others) => {
      weights = others;
    },
    compute: (a, at, group) => accumulate(sums, a, at, weights, group * rows * k, k),
  };
};

/** Multiply-accumulates of one group from which vectors are faster, the call into WebAssembly included. */
const LEAST_FOR_VECTORS = 64;

/** Products by vectors where they are faster and can be had: this engine has them, and memory for the weights. */
export function fastestProducts(vectors: ProductsOf | undefined): ProductsOf {
  return (weights) => {
    if (vectors === undefined || weights.rows * weights.k < LEAST_FOR_VECTORS) return plainProducts(weights);
    try {
      return vectors(weights);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return plainProducts(weights);
    }
  };
}

function accumulate(
  sums: Int32Array,
  a: Uint8Array,
  aAt: number,
  w: Uint8Array,
  wAt: number,
  k: number,
): number {
  const rows = sums.length;
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
  return total;
}
