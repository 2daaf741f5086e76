/** Leaves as integers: weight ≈ integer · 2^-scaleBits. A leaf counts what it has more than the least leaf of its tree,
 *  so that no count is negative; the least ones are added once, as an offset. */

import { refuse } from "../refusal.ts";
import type { Column } from "./columns.ts";
import type { Ensemble } from "./ensemble.ts";

/** A leaf's count has at most three digits of base 256. */
const MOST_COUNT = 2 ** 24;
/** Sums stay below, with room for what a classifier adds to them. */
const MOST_SUM = 2 ** 30;

export interface FixedPoint {
  readonly scaleBits: number;
  /** [column][target] */
  readonly counts: readonly Float64Array[];
  /** By target. */
  readonly offsets: readonly number[];
  /** How far the fixed-point sum of a target can be from the sum of the file's numbers. */
  readonly bound: number;
}

/** @param most largest scaleBits */
export function fixedPoint(ensemble: Ensemble, columns: readonly Column[], most: number): FixedPoint {
  const exact = exactBits(ensemble, columns);
  if (exact <= most) {
    const found = attempt(ensemble, columns, exact);
    if (found !== undefined) return found;
  }
  for (let bits = Math.min(most, exact, roomFor(ensemble, columns)); bits >= -100; bits--) {
    const found = attempt(ensemble, columns, bits);
    if (found !== undefined) return found;
  }
  return refuse("its leaves are too large for fixed point", "Scale the target before training.");
}

function attempt(
  { trees, targets, base, divisor }: Ensemble,
  columns: readonly Column[],
  scaleBits: number,
): FixedPoint | undefined {
  const scale = 2 ** scaleBits;
  const reals = columns.map((column) => realsOf(column, targets, divisor));
  const integers = reals.map((row) => row.map((weight) => roundEven(weight * scale)));
  const perTree = (start: number): Float64Array[] => trees.map(() => new Float64Array(targets).fill(start));
  const [least, errors] = [perTree(Number.POSITIVE_INFINITY), perTree(0)];
  columns.forEach(({ tree }, i) => {
    const [low, error] = [least[tree] as Float64Array, errors[tree] as Float64Array];
    for (let c = 0; c < targets; c++) {
      const [integer, real] = [integers[i]?.[c] as number, reals[i]?.[c] as number];
      low[c] = Math.min(low[c] as number, integer);
      error[c] = Math.max(error[c] as number, Math.abs(integer / scale - real));
    }
  });
  const counts = integers.map((row, i) =>
    row.map((v, c) => v - (least[columns[i]?.tree as number]?.[c] as number)),
  );
  if (counts.some((row) => row.some((count) => count >= MOST_COUNT))) return undefined;
  const sums = Array.from({ length: targets }, (_, c) =>
    counts.reduce((sum, row) => sum + (row[c] as number), 0),
  );
  const constants = Array.from({ length: targets }, (_, c) => base[c] ?? 0);
  const offsets = constants.map((value, c) =>
    least.reduce((sum, row) => sum + (row[c] as number), roundEven(value * scale)),
  );
  if (offsets.some((v, c) => v <= -MOST_SUM || v + (sums[c] as number) >= MOST_SUM)) return undefined;
  const bounds = constants.map((value, c) =>
    errors.reduce((sum, row) => sum + (row[c] as number), Math.abs(roundEven(value * scale) / scale - value)),
  );
  return { scaleBits, counts, offsets, bound: Math.max(...bounds) };
}

/** No larger scaleBits leave room for the counts. */
function roomFor({ trees, targets, divisor }: Ensemble, columns: readonly Column[]): number {
  const rows = (fill: number): Float64Array[] => trees.map(() => new Float64Array(targets).fill(fill));
  const [low, high] = [rows(Number.POSITIVE_INFINITY), rows(Number.NEGATIVE_INFINITY)];
  let spread = 0;
  for (const column of columns) {
    const [least, most] = [low[column.tree] as Float64Array, high[column.tree] as Float64Array];
    realsOf(column, targets, divisor).forEach((real, c) => {
      least[c] = Math.min(least[c] as number, real);
      most[c] = Math.max(most[c] as number, real);
      spread = Math.max(spread, (most[c] as number) - (least[c] as number));
    });
  }
  return spread === 0 ? Infinity : Math.ceil(Math.log2(MOST_COUNT / spread)) + 1;
}

/** What a leaf adds to each target, as a real number. */
function realsOf({ leaf }: Column, targets: number, divisor: number): Float64Array {
  const row = new Float64Array(targets);
  for (const { target, weight } of leaf.weights) row[target] = weight / divisor;
  return row;
}

/** The least scaleBits ≥ 0 with which every number is an integer. */
function exactBits({ base, divisor }: Ensemble, columns: readonly Column[]): number {
  let bits = 0;
  const include = (value: number): void => {
    while (bits < 150 && !Number.isInteger(value * 2 ** bits)) bits++;
  };
  base.forEach(include);
  for (const { leaf } of columns) for (const { weight } of leaf.weights) include(weight / divisor);
  return bits;
}

export function roundEven(x: number): number {
  const floor = Math.floor(x);
  const rest = x - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor;
}
