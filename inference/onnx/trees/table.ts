/** The table that LOOKUP sums up: a row for each bin of each feature, a column for each leaf; 1 where the bin keeps
 *  the input from the leaf. A leaf is reached where the rows of all features have 0. */

import { MAX_DOT_LENGTH } from "../../program/check.ts";
import type { Budget } from "../budget.ts";
import { refuse } from "../refusal.ts";
import type { Column } from "./columns.ts";
import { cutsOf, type Domain, meets } from "./cuts.ts";
import type { Test } from "./ensemble.ts";

/** A feature's bins inside of a group of columns. */
export interface Axis {
  readonly feature: number;
  readonly cuts: readonly number[];
}

/** Columns that are looked up together, in one row of ids. */
export interface Group {
  readonly columns: readonly Column[];
  /** By feature; one that parts nothing is not there. */
  readonly axes: ReadonlyMap<number, Axis>;
}

/** A table of at most so many bytes is published at once, for some 26 million gas. */
const HANDY_BYTES = 2 ** 17;
const MOST_BYTES = 2 ** 24;
const WIDTHS = [MAX_DOT_LENGTH, 512, 256, 128, 64, 32];

/** Parts the columns into groups: the widest whose tables are handy, else those with the smallest tables. */
export function grouped(columns: readonly Column[], domains: readonly Domain[], budget: Budget): Group[] {
  let best: { readonly groups: Group[]; readonly bytes: number } | undefined;
  for (const width of WIDTHS) {
    const count = Math.ceil(columns.length / width);
    const even = Math.ceil(columns.length / count);
    budget.spend(64 * columns.length);
    const groups = Array.from({ length: Math.ceil(columns.length / even) }, (_, g) =>
      groupOf(columns.slice(g * even, (g + 1) * even), domains),
    );
    const rows = groups.reduce((sum, group) => sum + rowsOf(group), 1);
    const bytes = rows * 32 * Math.ceil(even / 32);
    if (best === undefined || bytes < best.bytes) best = { groups, bytes };
    if (bytes <= HANDY_BYTES) break;
  }
  if (best === undefined || best.bytes > MOST_BYTES) {
    refuse(
      `its leaves need a table of ${best?.bytes} bytes, at most ${MOST_BYTES} are made`,
      "Train fewer or smaller trees, or on features that are rounded.",
    );
  }
  return best.groups;
}

const rowsOf = ({ axes }: Group): number =>
  [...axes.values()].reduce((sum, { cuts }) => sum + cuts.length + 1, 0);

function groupOf(columns: readonly Column[], domains: readonly Domain[]): Group {
  const tests = new Map<number, Set<Test>>();
  for (const { conditions } of columns) {
    for (const [feature, list] of conditions) {
      const found = tests.get(feature) ?? new Set<Test>();
      tests.set(feature, found);
      for (const { test } of list) found.add(test);
    }
  }
  const axes = new Map<number, Axis>();
  for (const feature of [...tests.keys()].sort((a, b) => a - b)) {
    const cuts = cutsOf(tests.get(feature) as Set<Test>, domains[feature] as Domain);
    if (cuts.length > 0) axes.set(feature, { feature, cuts });
  }
  return { columns, axes };
}

/** One row of a table for each value of a feature, in order.
 *  @returns [values][width], 1 where the value keeps an input from the column's leaf */
export function rowsFor(
  { columns }: Group,
  feature: number,
  values: readonly number[],
  width: number,
  budget: Budget,
): Int8Array {
  const rows = new Int8Array(values.length * width);
  columns.forEach(({ conditions }, c) => {
    const list = conditions.get(feature);
    if (list === undefined) return;
    budget.spend(values.length * list.length * 4);
    values.forEach((value, row) => {
      if (!meets(list, value)) rows[row * width + c] = 1;
    });
  });
  return rows;
}
