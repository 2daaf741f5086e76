/** Finds M, B, S with `((acc·M + B) >> S)` equal to the binary32 rule on a whole range of accumulators.
 *
 *  Both sides are monotone step functions of acc, so they are equal on the range if and only if each value is
 *  reached at the same accumulator: for the threshold t of value q, `t·M + B >= q·2^S > (t−1)·M + B`. For given S and
 *  M that is an interval of B; its width is a concave function of M, so the best M is found by bisection. */

import { type Rule, requantized, type Threshold, thresholds } from "./rule.ts";

export interface IntegerForm {
  readonly m: number;
  readonly b: bigint;
  readonly s: number;
}

/** Below this, sums and products of the search are exact in doubles, and |acc·M + B| stays below 2^53. */
const EXACT = 2 ** 52;
const MAX_SHIFT = 44;

interface Search {
  readonly rule: Rule;
  readonly low: number;
  readonly high: number;
  readonly list: readonly Threshold[];
}

/** @param low least and @param high largest accumulator, s32
 *  @returns undefined if no form exists for the channel */
export function findIntegerForm(rule: Rule, low: number, high: number): IntegerForm | undefined {
  const search: Search = { rule, low, high, list: relevant(thresholds(rule, low, high), low, high) };
  const size = Math.max(Math.abs(low), Math.abs(high), 1);
  let maxShift = MAX_SHIFT;
  while (
    maxShift > 0 &&
    (rule.scale * 2 ** maxShift >= 2 ** 31 || size * rule.scale * 2 ** maxShift >= EXACT / 4)
  ) {
    maxShift--;
  }
  if (formAt(search, maxShift) === undefined) return undefined;
  for (let s = 0; s <= maxShift; s++) {
    const form = formAt(search, s);
    if (form !== undefined) return form;
  }
  return undefined;
}

/** Thresholds inside the range, the last one at or below it and the first one above it. */
function relevant(list: readonly Threshold[], low: number, high: number): Threshold[] {
  const below = list.filter((t) => t.acc <= low).slice(-1);
  const above = list.filter((t) => t.acc > high).slice(0, 1);
  return [...below, ...list.filter((t) => t.acc > low && t.acc <= high), ...above];
}

/** Interval of B for one M and S; empty if least > most. */
function interval(search: Search, m: number, s: number): { least: number; most: number } {
  const unit = 2 ** s;
  let least = Number.NEGATIVE_INFINITY;
  let most = Number.POSITIVE_INFINITY;
  for (const { q, acc } of search.list) {
    if (acc <= search.high) least = Math.max(least, q * unit - acc * m);
    if (acc > search.low) most = Math.min(most, q * unit - 1 - (acc - 1) * m);
  }
  return { least, most };
}

function formAt(search: Search, s: number): IntegerForm | undefined {
  const width = (m: number): number => {
    const { least, most } = interval(search, m, s);
    return most - least;
  };
  const ideal = search.rule.scale * 2 ** s;
  let from = Math.max(0, Math.floor(ideal - ideal / 64 - 1));
  let to = Math.min(2 ** 32 - 1, Math.ceil(ideal + ideal / 64 + 1));
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if (width(middle) < width(middle + 1)) from = middle + 1;
    else to = middle;
  }
  const { least, most } = interval(search, from, s);
  if (!(most >= least)) return undefined;
  const b = chooseBias(least, most, s);
  const form = { m: from, b: BigInt(b), s };
  const largest = Math.max(Math.abs(search.low * from + b), Math.abs(search.high * from + b));
  return largest < 2 ** 53 && holds(search, form) ? form : undefined;
}

/** Half a unit, which makes the form a rounding shift, where it is allowed; else the middle. */
function chooseBias(least: number, most: number, s: number): number {
  const half = s === 0 ? 0 : 2 ** (s - 1);
  if (half >= least && half <= most) return half;
  if (least === Number.NEGATIVE_INFINITY) return Math.min(most, half);
  if (most === Number.POSITIVE_INFINITY) return Math.max(least, half);
  return Math.floor((least + most) / 2);
}

/** Both sides of every threshold and of the range, by the rule itself. */
function holds(search: Search, form: IntegerForm): boolean {
  const { rule, low, high, list } = search;
  const points = new Set([low, high]);
  for (const { acc } of list) {
    for (const p of [acc - 1, acc]) if (p >= low && p <= high) points.add(p);
  }
  return [...points].every((acc) => integerRequantized(acc, form, rule) === requantized(acc, rule));
}

/** Stored byte by the integer form. */
export function integerRequantized(acc: number, form: IntegerForm, rule: Rule): number {
  const value = Math.floor((acc * form.m + Number(form.b)) / 2 ** form.s);
  return Math.min(Math.max(value + rule.zeroPoint, rule.lower), rule.upper);
}
