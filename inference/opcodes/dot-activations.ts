import { BYTE_TYPES, MAX_ACTIVATIONS_LENGTH, type StepCheck } from "../program/check.ts";
import { lastDim, rowCount, type Step, type TensorType } from "../program/form.ts";
import { copyElements } from "./copy.ts";
import type { Kernel, PreparedOperand, Read } from "./opcode.ts";
import { MOST_TOGETHER, type ProductsOf } from "./products.ts";

/** DOT activations: rows of a times rows of b, both computed; k rows of a share one matrix of N rows of b. Sums of at
 *  most 1,024 products of two bytes never leave s32. Source: docs/EXACT.md, section 3. */

/** What a stored byte of the type is above its value. */
const zeroOf = (type: TensorType): number => (type === "s8" ? 128 : 0);

export function prepareActivations(
  step: Step,
  [a, b]: readonly (PreparedOperand | undefined)[],
  productsOf: ProductsOf,
): Kernel {
  const { type: aType } = a as PreparedOperand;
  const { type: bType, dims } = b as PreparedOperand;
  const [aZero, bZero] = [zeroOf(aType), zeroOf(bType)];
  const [n, k] = [lastDim(step.dims), lastDim(dims)];
  const together = Math.min(MOST_TOGETHER, step.k);
  const starts = new Int32Array(n);
  const offsets = new Int32Array(n).fill(bZero);
  const weights = { bytes: new Uint8Array(n * k), starts, offsets, groups: 1, rows: n, k } as const;
  const products = productsOf({ ...weights, layout: "rows", activations: "bytes", zero: aZero, together });
  const { sums, width } = products;
  return (out, left, right, _c, from = 0, to = out.length) => {
    let loaded = -1;
    for (let row = from / n, count = 0; row < to / n; row += count) {
      const inMatrix = row % step.k;
      if (row - inMatrix !== loaded) {
        loaded = row - inMatrix;
        const first = (loaded / step.k) * n * k;
        products.load((right as Uint8Array).subarray(first, first + n * k), starts);
      }
      count = Math.min(together, step.k - inMatrix, to / n - row);
      products.compute({ bytes: left as Uint8Array, first: row * k, stride: k, count }, 0);
      for (let i = 0; i < count; i++) copyElements(out, (row + i) * n, sums, i * width, n);
    }
  };
}

export function activationReads(step: Step, element: number): Read[] {
  const n = lastDim(step.dims);
  const row = Math.floor(element / n);
  return [
    { operand: step.a, row },
    { operand: step.b, row: Math.floor(row / step.k) * n + (element % n) },
  ];
}

export function activationRules(check: StepCheck): void {
  const { step } = check;
  check.type("s32");
  const left = check.plain("a", ...BYTE_TYPES);
  const right = check.plain("b", ...BYTE_TYPES);
  check.none("c");
  const [rows, n] = [rowCount(step.dims), lastDim(step.dims)];
  const isDivisor = step.k >= 1 && rows % step.k === 0;
  check.must(isDivisor, "k (rows a matrix)", step.k, `>= 1 and a divisor of the ${rows} rows`);
  check.rows("a", left, rows);
  if (isDivisor) check.rows("b", right, (rows / step.k) * n);
  if (left === undefined || right === undefined) return;
  const [k, own] = [lastDim(left.dims), lastDim(right.dims)];
  check.must(k <= MAX_ACTIVATIONS_LENGTH, "last dim of operand a", k, `<= ${MAX_ACTIVATIONS_LENGTH}`);
  check.must(own === k, "last dim of operand b", own, `K = ${k}, that of operand a`);
}
