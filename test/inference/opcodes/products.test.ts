import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type ActivationRows,
  fastestProducts,
  MOST_TOGETHER,
  type Products,
  type ProductsOf,
  plainProducts,
  type WeightRows,
} from "../../../inference/opcodes/products.ts";
import { sharedSimdProducts, simdProducts } from "../../../inference/opcodes/simd-products.ts";
import { MAX_PLANES_LENGTH } from "../../../inference/program/check.ts";
import { unpackDot } from "../../../inference/program/weights.ts";
import { type SharedMemory, sharedMemory } from "../../../inference/wasm.ts";
import { createRng } from "../../support/rng.ts";

const vectors = simdProducts as ProductsOf;
/** What the second of two threads computes in the first one's memory, once the first has computed something else. */
const second: ProductsOf = (weights) => {
  if (weights.layout === "rows") return vectors(weights);
  const made: SharedMemory[] = [];
  const memoryOf = (pages: number) => made[made.push(sharedMemory(pages)) - 1] as SharedMemory;
  const first = (sharedSimdProducts(memoryOf, 2, 0) as ProductsOf)(weights);
  const stride = lengthOf(weights);
  const bytes = content(7, weights.together * stride);
  first.compute({ bytes, first: 0, stride, count: weights.together }, weights.groups - 1);
  return (sharedSimdProducts(() => made[0] as SharedMemory, 2, 1) as ProductsOf)(weights);
};

/** Any shape that a DOT step may have; the extreme bytes as often as all others. */
const cases = fc.record({
  groups: fc.integer({ min: 1, max: 4 }),
  rows: fc.integer({ min: 1, max: 21 }),
  k: fc.oneof(
    fc.integer({ min: 1, max: 40 }),
    fc.integer({ min: 1, max: 992 }),
    fc.integer({ min: 1, max: MAX_PLANES_LENGTH }),
  ),
  layout: fc.constantFrom("words" as const, "rows" as const),
  activations: fc.constantFrom("bytes" as const, "numbers" as const),
  zero: fc.constantFrom(0, 128),
  together: fc.integer({ min: 1, max: MOST_TOGETHER }),
  /** bytes in front of the first activation row, and between two */
  at: fc.integer({ min: 0, max: 9 }),
  seed: fc.nat(),
});

function content(seed: number, count: number): Uint8Array {
  const rng = createRng(seed);
  return Uint8Array.from({ length: count }, () => (rng.chance(0.5) ? rng.pick([0, 255]) : rng.int(0, 255)));
}

const SMALL = { groups: 2, layout: "words", zero: 0 } as const;

type Shape = Omit<WeightRows, "bytes" | "starts" | "offsets">;
const NUMBERS = [0, 1, -1, 255, 65_535, 2 ** 31 - 1, -(2 ** 31)];
const integers = (seed: number, count: number): Int32Array => {
  const rng = createRng(seed);
  return Int32Array.from({ length: count }, () => (rng.chance(0.5) ? rng.pick(NUMBERS) : rng.u32() | 0));
};
/** Weight rows, `at` bytes into their memory, with any starts and offsets. */
const weightsOf = (shape: Shape, seed: number, at = 0): WeightRows => ({
  ...shape,
  bytes: content(seed, at + sizeOf(shape)).subarray(at),
  starts: integers(seed, shape.groups * shape.rows),
  offsets: integers(seed + 1, shape.groups * shape.rows),
});

const sizeOf = ({ groups, rows, k, layout }: Shape): number =>
  groups * rows * (layout === "words" ? 32 * (Math.ceil(k / 32) + 1) : k);

const rowMajor = ({ bytes, groups, rows, k, layout }: WeightRows): Uint8Array =>
  layout === "words" ? unpackDot(bytes, groups * rows, k) : bytes;

const lengthOf = ({ activations, k }: WeightRows): number => (activations === "numbers" ? 2 * k : k);

/** For each activation row: Σ (a − zero)·(w − offset) + start of each weight row of a group, as the definition says it. */
function defined(weights: WeightRows, { bytes: a, first, stride, count }: ActivationRows, group: number) {
  const { rows, k, activations } = weights;
  const bytes = rowMajor(weights);
  return Array.from({ length: count }, (_, n) => {
    const at = first + n * stride;
    const activation = (i: number): number =>
      activations === "bytes"
        ? (a[at + i] as number)
        : 256 * (a[at + i] as number) + (a[at + k + i] as number);
    return Array.from({ length: rows }, (_, r) => {
      const row = group * rows + r;
      let sum = BigInt(weights.starts[row] as number);
      for (let i = 0; i < k; i++) {
        const weight = (bytes[row * k + i] as number) - (weights.offsets[row] as number);
        sum += BigInt(activation(i) - weights.zero) * BigInt(weight);
      }
      return Number(BigInt.asIntN(32, sum));
    });
  });
}

const computed = (products: Products, { rows }: WeightRows, a: ActivationRows, group: number) => {
  products.compute(a, group);
  const { sums, width } = products;
  return Array.from({ length: a.count }, (_, i) => [...sums.subarray(i * width, i * width + rows)]);
};

describe.each([
  ["plain", plainProducts],
  ["vectors", vectors],
  ["vectors in the memory of two threads", second],
])("products, %s", (_name, productsOf) => {
  it("behavior: the sums of the definition, whatever was computed before", () => {
    fc.assert(
      fc.property(cases, ({ at, seed, ...drawn }) => {
        const shape = drawn.activations === "bytes" ? drawn : { ...drawn, zero: 0 };
        const { groups, together } = shape;
        const weights = weightsOf(shape, seed, at);
        const products = productsOf(weights);
        const rng = createRng(seed);
        for (let group = 0; group < groups; group++) {
          const stride = lengthOf(weights) + at;
          const bytes = content(seed + group + 1, at + together * stride + 3);
          const a = { bytes, first: at, stride, count: rng.int(1, together) };
          expect(computed(products, weights, a, group)).toEqual(defined(weights, a, group));
        }
      }),
      { numRuns: 80 },
    );
  });

  it("behavior: a block of one row, wherever in a page of memory the weights end", () => {
    const k = MAX_PLANES_LENGTH;
    for (let groups = 1; k * groups <= 65_536 + k; groups++) {
      const shape = {
        groups,
        rows: 1,
        k,
        layout: "rows",
        activations: "bytes",
        zero: 0,
        together: 1,
      } as const;
      const weights = weightsOf(shape, groups);
      const a = { bytes: content(2, k), first: 0, stride: k, count: 1 };
      const products = productsOf(weights);
      expect(computed(products, weights, a, groups - 1)).toEqual(defined(weights, a, groups - 1));
    }
  });

  it("behavior: other weight rows in place of the first ones", () => {
    for (const activations of ["bytes", "numbers"] as const) {
      const shape = { ...SMALL, rows: 5, k: 19, activations, together: 2 };
      const [weights, others] = [weightsOf(shape, 1), weightsOf(shape, 2)];
      const other = { ...others, offsets: weights.offsets };
      const products = productsOf(weights);
      const stride = lengthOf(weights);
      const a = { bytes: content(3, 2 * stride), first: 0, stride, count: 2 };
      products.load(others.bytes, others.starts);
      for (const group of [0, 1])
        expect(computed(products, other, a, group)).toEqual(defined(other, a, group));
    }
  });

  it("behavior: the largest sums of bytes do not saturate, and those of numbers are modulo 2^32", () => {
    for (const activations of ["bytes", "numbers"] as const) {
      for (const [byte, weight] of [
        [255, 255],
        [0, 255],
        [255, 0],
      ] as const) {
        const [rows, k] = [5, 992];
        const bytes = new Uint8Array(rows * k).fill(weight);
        const shape = { groups: 1, rows, k, layout: "rows", activations, zero: 0, together: 1 } as const;
        const zeros = new Int32Array(rows);
        const weights = { ...shape, bytes, starts: zeros, offsets: zeros };
        const stride = lengthOf(weights);
        const a = { bytes: new Uint8Array(stride).fill(byte), first: 0, stride, count: 1 };
        expect(computed(productsOf(weights), weights, a, 0)).toEqual(defined(weights, a, 0));
      }
    }
  });
});

describe("sharedSimdProducts", () => {
  it("behavior: no thread writes where another one does", () => {
    for (const activations of ["bytes", "numbers"] as const) {
      const shape = { ...SMALL, rows: 9, k: 40, activations, together: 4 };
      const weights = weightsOf(shape, 1);
      const made: SharedMemory[] = [];
      const memoryOf = (pages: number) => (made[0] ??= sharedMemory(pages));
      const productsOf = (thread: number) => (sharedSimdProducts(memoryOf, 2, thread) as ProductsOf)(weights);
      const first = productsOf(0);
      const memory = new Uint8Array((made[0] as SharedMemory).buffer);
      const loaded = memory.slice();
      const MARK = 0xaa;
      memory.fill(MARK);
      const threads = [first, productsOf(1)];
      expect(loaded.some((byte, i) => byte !== 0 && memory[i] !== MARK)).toBe(false);
      for (const [i, byte] of loaded.entries()) if (memory[i] === MARK) memory[i] = byte;
      const stride = lengthOf(weights);
      /** how many threads wrote other bytes to an address */
      const writers = new Uint8Array(memory.length);
      // What a thread leaves is of its own group and activations.
      for (const round of [0, 1])
        for (const [thread, products] of threads.entries()) {
          const before = memory.slice();
          const bytes = content(10 * round + thread, shape.together * stride);
          products.compute({ bytes, first: 0, stride, count: shape.together }, thread);
          if (round === 0) continue;
          for (const [i, byte] of memory.entries())
            if (byte !== before[i]) writers[i] = (writers[i] as number) + 1;
        }
      expect(writers.some((count) => count === 1)).toBe(true);
      expect(writers.filter((count) => count > 1).length).toBe(0);
    }
  });
});

describe("fastestProducts", () => {
  const shape = { groups: 1, layout: "rows", activations: "bytes", zero: 0, together: 1 } as const;
  const weights = weightsOf({ ...shape, rows: 8, k: 32 }, 1);
  const a = { bytes: content(2, 32), first: 0, stride: 32, count: 1 };
  const expected = defined(weights, a, 0);

  it("default: vectors, where the row is long enough for them", () => {
    const used: number[] = [];
    const noticed: ProductsOf = (rows) => {
      used.push(rows.k);
      return vectors(rows);
    };
    const products = fastestProducts(noticed);
    expect(computed(products(weights), weights, a, 0)).toEqual(expected);
    products(weightsOf({ ...shape, rows: 1, k: 9 }, 3));
    expect(used).toEqual([32]);
  });

  it("behavior: plain products where the engine has no vectors or no memory for them", () => {
    const noMemory: ProductsOf = () => {
      throw new RangeError("WebAssembly.Instance(): Out of memory");
    };
    for (const missing of [undefined, noMemory]) {
      expect(computed(fastestProducts(missing)(weights), weights, a, 0)).toEqual(expected);
    }
  });

  it("error: any other fault of the vectors is not hidden", () => {
    const broken: ProductsOf = () => {
      throw new TypeError("broken");
    };
    expect(() => fastestProducts(broken)(weights)).toThrow(TypeError);
  });
});
