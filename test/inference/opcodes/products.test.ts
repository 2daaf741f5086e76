import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  fastestProducts,
  type Products,
  type ProductsOf,
  plainProducts,
  type WeightRows,
} from "../../../inference/opcodes/products.ts";
import { simdProducts } from "../../../inference/opcodes/simd-products.ts";
import { createRng } from "../../support/rng.ts";

const vectors = simdProducts as ProductsOf;

/** Any shape that a DOT step may have; the extreme bytes as often as all others. */
const cases = fc.record({
  groups: fc.integer({ min: 1, max: 4 }),
  rows: fc.integer({ min: 1, max: 21 }),
  k: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 992 })),
  at: fc.integer({ min: 0, max: 9 }),
  seed: fc.nat(),
});

function content(seed: number, count: number): Uint8Array {
  const rng = createRng(seed);
  return Uint8Array.from({ length: count }, () => (rng.chance(0.5) ? rng.pick([0, 255]) : rng.int(0, 255)));
}

/** Σ a·w of each weight row of a group, and Σ a, as the definition says it. */
function defined({ bytes, rows, k }: WeightRows, a: Uint8Array, group: number): number[] {
  const row = (weights: (i: number) => number): number =>
    a.reduce((sum, activation, i) => sum + activation * weights(i), 0);
  const sums = Array.from({ length: rows }, (_, r) =>
    row((i) => bytes[(group * rows + r) * k + i] as number),
  );
  return [...sums, row(() => 1)];
}

const computed = (products: Products, { rows }: WeightRows, a: Uint8Array, at: number, group: number) => {
  const total = products.compute(a, at, group);
  return [...products.sums.subarray(0, rows), total];
};

describe.each([
  ["plain", plainProducts],
  ["vectors", vectors],
])("products, %s", (_name, productsOf) => {
  it("behavior: the sums of the definition, whatever was computed before", () => {
    fc.assert(
      fc.property(cases, ({ groups, rows, k, at, seed }) => {
        const weights = { bytes: content(seed, groups * rows * k), groups, rows, k };
        const products = productsOf(weights);
        for (let group = 0; group < groups; group++) {
          const a = content(seed + group + 1, at + k + 3);
          expect(computed(products, weights, a, at, group)).toEqual(
            defined(weights, a.subarray(at, at + k), group),
          );
        }
      }),
      { numRuns: 60 },
    );
  });

  it("behavior: the largest sums do not saturate", () => {
    const [rows, k] = [5, 992];
    const weights = { bytes: new Uint8Array(rows * k).fill(255), groups: 1, rows, k };
    const a = new Uint8Array(k).fill(255);
    const largest = k * 255 * 255;
    expect(computed(productsOf(weights), weights, a, 0, 0)).toEqual([...Array(rows).fill(largest), k * 255]);
  });
});

describe("fastestProducts", () => {
  const weights = { bytes: content(1, 8 * 32), groups: 1, rows: 8, k: 32 };
  const a = content(2, 32);
  const expected = defined(weights, a, 0);

  it("default: vectors, where the row is long enough for them", () => {
    const used: number[] = [];
    const noticed: ProductsOf = (rows) => {
      used.push(rows.k);
      return vectors(rows);
    };
    const products = fastestProducts(noticed);
    expect(computed(products(weights), weights, a, 0, 0)).toEqual(expected);
    products({ bytes: content(3, 9), groups: 1, rows: 1, k: 9 });
    expect(used).toEqual([32]);
  });

  it("behavior: plain products where the engine has no vectors or no memory for them", () => {
    const noMemory: ProductsOf = () => {
      throw new RangeError("WebAssembly.Instance(): Out of memory");
    };
    for (const missing of [undefined, noMemory]) {
      expect(computed(fastestProducts(missing)(weights), weights, a, 0, 0)).toEqual(expected);
    }
  });

  it("error: any other fault of the vectors is not hidden", () => {
    const broken: ProductsOf = () => {
      throw new TypeError("broken");
    };
    expect(() => fastestProducts(broken)(weights)).toThrow(TypeError);
  });
});
