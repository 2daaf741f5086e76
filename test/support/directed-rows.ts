/** Rows of bytes where sums, means and exponentials are hardest. */
import type { Rng } from "./rng.ts";

const row = (n: number, at: (i: number) => number): number[] => Array.from({ length: n }, (_, i) => at(i));

/** Distances from the largest element at which exponentials are small, large, and in between. */
const BELOW = [1, 3, 17, 60, 120, 255];

/** Flat rows; rows with one element, or half of them, off by one or by more; ramps; random rows. Bytes as uint8. */
export function directedRows(rng: Rng, n: number): Readonly<Record<string, readonly number[][]>> {
  const at = rng.int(0, n - 1);
  return {
    flat: [0, 127, 255].map((v) => row(n, () => v)),
    "one off by one": [
      row(n, (i) => (i === at ? 254 : 255)),
      row(n, (i) => (i === at ? 255 : 254)),
      row(n, (i) => (i === at ? 1 : 0)),
      row(n, (i) => (i === at ? 127 : 128)),
    ],
    "half off by one": [row(n, (i) => 200 + (i % 2)), row(n, (i) => (2 * i < n ? 255 : 254))],
    "one above": BELOW.map((d) => row(n, (i) => (i === at ? 255 : 255 - d))),
    "one below": BELOW.map((d) => row(n, (i) => (i === at ? 255 - d : 255))),
    ramp: [row(n, (i) => Math.floor((255 * i) / n)), row(n, (i) => 7 + ((5 * i) % 11))],
    random: [row(n, () => rng.int(0, 255)), row(n, () => rng.int(100, 140))],
  };
}
