/** Where the answers of tests change: a feature's axis is cut into bins, and inside of a bin every test of the feature
 *  has one answer. Bin b holds what is above the cuts 0..b−1 and not above cut b. */

import { holds, type Test } from "./ensemble.ts";

/** What a feature can be: integers, or 0 and normal binary32 numbers (FLOAT knows no others, as import proves). */
export interface Domain {
  readonly isInteger: boolean;
  readonly low: number;
  readonly high: number;
}

const SMALLEST = 2 ** -126;

/** The largest number of the domain that is at most t. */
function atMost(t: number, { isInteger }: Domain): number {
  if (isInteger) return Math.floor(t);
  if (Math.abs(t) >= SMALLEST) return t;
  return t < 0 ? -SMALLEST : 0;
}

const WORD = new DataView(new ArrayBuffer(4));

/** The largest number of the domain below t. */
function below(t: number, domain: Domain): number {
  if (domain.isInteger) return Math.ceil(t) - 1;
  const bound = atMost(t, domain);
  if (bound < t) return bound;
  if (t === 0) return -SMALLEST;
  if (!Number.isFinite(t)) return t;
  WORD.setFloat32(0, t);
  WORD.setInt32(0, WORD.getInt32(0) + (t > 0 ? -1 : 1));
  return atMost(WORD.getFloat32(0), domain);
}

/** Ascending cuts of one feature's tests; none outside of the domain, where it would part nothing. */
export function cutsOf(tests: Iterable<Test>, domain: Domain): number[] {
  const cuts = new Set<number>();
  for (const { mode, values } of tests) {
    for (const t of values) {
      if (mode !== "lt" && mode !== "gte") cuts.add(atMost(t, domain));
      if (mode !== "leq" && mode !== "gt") cuts.add(below(t, domain));
    }
  }
  return [...cuts].filter((cut) => cut >= domain.low && cut < domain.high).sort((a, b) => a - b);
}

/** A number of each bin: its greatest. */
export const valuesOf = (cuts: readonly number[], domain: Domain): number[] => [...cuts, domain.high];

/** A test on the way to a leaf, and its answer there. */
export interface Condition {
  readonly test: Test;
  readonly answer: boolean;
}

/** Whether a value of the conditions' feature meets them all. */
export const meets = (conditions: readonly Condition[], x: number): boolean =>
  conditions.every(({ test, answer }) => holds(test, x) === answer);
