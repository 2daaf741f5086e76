import { describe, expect, it } from "vitest";
import { crossing, fitNonNegative } from "../../../bench/lanes/fit.ts";

describe("fitNonNegative", () => {
  it("default: finds the coefficients of exact values", () => {
    const rows = [
      [1, 1, 10],
      [1, 2, 15],
      [1, 4, 40],
      [1, 8, 50],
    ];
    const x = fitNonNegative(
      rows,
      rows.map(([one = 0, a = 0, b = 0]) => 7 * one + 3 * a + 0.5 * b),
    );
    [7, 3, 0.5].forEach((value, i) => {
      expect(x[i]).toBeCloseTo(value, 9);
    });
  });

  it("behavior: a column that would need a negative coefficient is left out", () => {
    const xs = [1, 2, 3];
    const [base, slope] = fitNonNegative(
      xs.map((x) => [1, x]),
      xs.map((x) => 10 * x - 2),
    );
    expect(base).toBe(0);
    expect(slope).toBeGreaterThan(8);
    expect(slope).toBeLessThan(10);
  });

  it("behavior: errors count relative to the values", () => {
    // 1 of 1 and 1,100 of 1,000: the absolute fit would be 1.1.
    const [x] = fitNonNegative([[1], [1_000]], [1, 1_100]) as [number];
    expect(x).toBeGreaterThan(1.03);
    expect(x).toBeLessThan(1.07);
  });

  it("behavior: columns that say the same are not used together", () => {
    const x = fitNonNegative(
      [
        [1, 2],
        [2, 4],
      ],
      [2, 4],
    );
    expect((x[0] as number) + 2 * (x[1] as number)).toBeCloseTo(2, 9);
  });
});

describe("crossing", () => {
  it("default: power laws cross where they are equal", () => {
    const xs = [10, 100, 1_000];
    const found = crossing(
      xs,
      xs.map((x) => 2 * x),
      xs.map(() => 300),
    );
    expect(found).toBeCloseTo(150, 6);
  });

  it("behavior: undefined if one stays below the other", () => {
    expect(crossing([1, 2], [1, 2], [3, 4])).toBeUndefined();
  });

  it("behavior: a common point is a crossing", () => {
    expect(crossing([1, 2, 3], [1, 2, 3], [2, 2, 2])).toBeCloseTo(2, 9);
    expect(crossing([1, 2], [5, 2], [3, 2])).toBeCloseTo(2, 9);
  });
});
