import { describe, expect, test } from "vitest";
import { determinism, givenWires } from "../../../../prover/proof/groth16/determinism.ts";
import { FIELD_ORDER, type LinearCombination, type R1cs } from "../../../../prover/proof/groth16/r1cs.ts";

type Terms = Readonly<Record<number, number | bigint>>;

const combination = (terms: Terms): LinearCombination =>
  Object.entries(terms).map(([wire, x]) => [Number(wire), (BigInt(x) + FIELD_ORDER) % FIELD_ORDER] as const);

/** Wire 1 is the input, wire 2 another one. */
function system(wires: number, ...constraints: readonly (readonly [Terms, Terms, Terms])[]): R1cs {
  const rows = constraints.map(([a, b, c], i) => ({
    a: combination(a),
    b: combination(b),
    c: combination(c),
    note: `constraint ${i}`,
  }));
  return { wires, publicWires: 2, constraints: rows };
}

const boolean = (wire: number): readonly [Terms, Terms, Terms] => [
  { [wire]: 1 },
  { [wire]: 1 },
  { [wire]: 1 },
];
const freeOf = (r1cs: R1cs): readonly number[] => determinism(r1cs, [1, 2]).free;

describe("determinism", () => {
  test("default: products and sums of earlier wires", () => {
    const r1cs = system(5, [{ 1: 1 }, { 2: 1 }, { 3: 1 }], [{}, {}, { 3: 5, 1: -1, 4: 2 }]);
    expect(determinism(r1cs, [1, 2])).toEqual({ free: [], idle: [] });
  });

  test("behavior: two unknown wires of one sum are free", () => {
    expect(freeOf(system(5, [{}, {}, { 1: 1, 3: -1, 4: -2 }]))).toEqual([3, 4]);
  });

  test("behavior: bits need booleans, distinct sums, and no wrap around the field", () => {
    const bits = (x: number | bigint, y: number | bigint): R1cs =>
      system(5, boolean(3), boolean(4), [{}, {}, { 1: 1, 3: x, 4: y }]);
    expect(freeOf(bits(-1, -2))).toEqual([]);
    expect(freeOf(bits(-2, -2))).toEqual([3, 4]);
    expect(freeOf(bits(1n, FIELD_ORDER / 2n))).toEqual([]);
    expect(freeOf(system(5, boolean(3), [{}, {}, { 1: 1, 3: -1, 4: -2 }]))).toEqual([3, 4]);
    const wide = system(6, boolean(3), boolean(4), boolean(5), [
      {},
      {},
      { 1: 1, 3: 1, 4: FIELD_ORDER / 4n, 5: FIELD_ORDER / 2n },
    ]);
    expect(freeOf(wide)).toEqual([]);
    const wraps = Object.fromEntries(Array.from({ length: 254 }, (_, i) => [3 + i, 1n << BigInt(i)]));
    const booleans = Array.from({ length: 254 }, (_, i) => boolean(3 + i));
    expect(freeOf(system(257, ...booleans, [{}, {}, { 1: -1, ...wraps }]))).toHaveLength(254);
  });

  test("behavior: a product with a factor that it should fix is free", () => {
    expect(freeOf(system(4, [{ 3: 1 }, { 1: 1 }, { 2: 1 }]))).toEqual([3]);
  });

  test("behavior: division needs a bounded remainder", () => {
    // 3·d − … with d = 1 + bit 3; quotient bits 4, 5; remainder bit 6; d − 1 − r = bit 7.
    const divide = (bound: readonly [Terms, Terms, Terms]): R1cs =>
      system(
        8,
        ...[3, 4, 5, 6, 7].map(boolean),
        [{}, {}, { 2: 1, 3: -1 }],
        [
          { 4: 1, 5: 2 },
          { 0: 1, 3: 1 },
          { 1: 1, 6: -1 },
        ],
        bound,
      );
    expect(freeOf(divide([{}, {}, { 3: 1, 6: -1, 7: -1 }]))).toEqual([]);
    // r ≤ d + 1 instead of d − 1; and a bound of another number.
    expect(freeOf(divide([{}, {}, { 0: 2, 3: 1, 6: -1, 7: -1 }]))).toEqual([4, 5, 6, 7]);
    expect(freeOf(divide([{}, {}, { 3: 1, 4: -1, 7: -1 }]))).toEqual([4, 5, 6, 7]);
  });

  test("behavior: a zero test needs all three of its constraints", () => {
    const rows = [
      [{ 1: 1 }, { 3: 1 }, { 0: 1, 4: -1 }],
      [{ 1: 1 }, { 4: 1 }, {}],
      [{ 3: 1 }, { 4: 1 }, {}],
    ] as const;
    expect(determinism(system(5, ...rows), [1, 2])).toEqual({ free: [], idle: [] });
    for (const dropped of rows) {
      expect(freeOf(system(5, ...rows.filter((row) => row !== dropped)))).toEqual([3, 4]);
    }
  });

  test("behavior: a constraint that fixes nothing is idle", () => {
    const r1cs = system(4, [{ 1: 1 }, { 2: 1 }, { 3: 1 }], [{ 2: 1 }, { 1: 1 }, { 3: 1 }]);
    expect(determinism(r1cs, [1, 2]).idle).toEqual([1]);
  });
});

describe("givenWires", () => {
  test("default: the inputs and the binding", () => {
    expect(givenWires(2, [5, 8])).toEqual([1, 2, 5, 8]);
  });
});
