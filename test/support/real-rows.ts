/** Rows of float32 where sums, norms and exponentials are hardest. */
import type { Rng } from "./rng.ts";

const row = (n: number, at: (i: number) => number): number[] =>
  Array.from({ length: n }, (_, i) => Math.fround(at(i)));

/** The next number of binary32 away from 0. */
const next = (x: number): number => Math.fround(x * (1 + 2 ** -23));

/** By kind: all numbers are at most 2^16 in size. */
export function realRows(rng: Rng, n: number): Readonly<Record<string, readonly number[][]>> {
  const at = rng.int(0, n - 1);
  const normal = (): number => [1, 2, 3, 4].reduce((sum) => sum + rng.int(-1000, 1000) / 2000, 0);
  return {
    flat: [row(n, () => 1000.7), row(n, () => -0.3), row(n, () => 0)],
    "one ulp apart": [
      row(n, (i) => (i === at ? next(1000.7) : 1000.7)),
      row(n, (i) => (i === 0 ? next(-7.3) : -7.3)),
      row(n, (i) => (i % 2 === 0 ? next(3.1) : 3.1)),
    ],
    "far from 0": [row(n, () => 3000 + normal()), row(n, (i) => 900 + i / n)],
    outlier: [
      row(n, (i) => (i === 0 ? 60_000 : normal())),
      row(n, (i) => (i === at ? -500 : normal())),
      row(n, (i) => (i === n - 1 ? 40 : 0)),
    ],
    cancelling: [
      row(n, (i) => (i % 2 === 0 ? 1 : -1) * (1 + (i >> 1) / n)),
      row(n, (i) => (2 * i < n ? 700.1 : -700.1)),
    ],
    ramp: [row(n, (i) => (20 * i) / n - 12), row(n, (i) => 2 ** (-i % 40))],
    random: [row(n, normal), row(n, () => 5 * normal()), row(n, () => normal() * 2 ** rng.int(-18, 6))],
  };
}
