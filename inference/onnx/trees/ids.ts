/** Ids of table rows: which bin of which feature each input falls into. */

import type { Operand } from "../../program/form.ts";
import { coordinates } from "../axes.ts";
import type { Lowering } from "../lower/lowering.ts";
import { reduceRows } from "../lower/rows.ts";
import { type Domain, valuesOf } from "./cuts.ts";
import { type Group, rowsFor } from "./table.ts";

/** LOOKUP sums so many ids. */
const MAX_IDS = 16;

/** The input as the trees read it. */
export interface Features {
  /** [rows, count]: integers, or f32. */
  readonly operand: Operand;
  readonly isInteger: boolean;
  readonly rows: number;
  readonly count: number;
}

/** Violations of each column, s32 [rows, groups, width]: 0 where the input reaches the leaf. */
export function violations(
  ctx: Lowering,
  features: Features,
  groups: readonly Group[],
  domains: readonly Domain[],
  width: number,
): Operand {
  const { builder } = ctx;
  const used = [...new Set(groups.flatMap((group) => [...group.axes.keys()]))].sort((a, b) => a - b);
  let sum: Operand | undefined;
  for (const part of partsOf(used)) {
    const table = new Table(width);
    const direct = features.isInteger ? spansOf(groups, part, width) : undefined;
    const ids =
      direct === undefined
        ? counted(ctx, features, groups, part, domains, table)
        : clamped(ctx, features, groups, part, direct, table);
    const lookup = builder.lookupTable(table.values(), table.rows, width);
    const found = builder.lookup("sum", ids, lookup, [features.rows, groups.length]);
    sum = sum === undefined ? found : builder.arith("add", "s32", sum, found);
  }
  return sum as Operand;
}

/** Features from `first` on, as many as one LOOKUP takes. */
interface Part {
  readonly first: number;
  readonly length: number;
}

function partsOf(used: readonly number[]): Part[] {
  const parts: Part[] = [];
  for (let i = 0; i < used.length; ) {
    const first = used[i] as number;
    let last = first;
    while (i < used.length && (used[i] as number) < first + MAX_IDS) last = used[i++] as number;
    parts.push({ first, length: last - first + 1 });
  }
  return parts;
}

/** Rows of a table. Row 0 counts nowhere, so it stands for a feature that parts nothing. */
class Table {
  rows = 1;
  private readonly parts: Int8Array[];

  constructor(readonly width: number) {
    this.parts = [new Int8Array(width)];
  }

  /** @returns the first row's number */
  add(rows: Int8Array, count: number): number {
    this.parts.push(rows);
    this.rows += count;
    return this.rows - count;
  }

  values(): Int8Array {
    const all = new Int8Array(this.parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of this.parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }
}

function slice(ctx: Lowering, { operand, rows, count }: Features, { first, length }: Part): Operand {
  if (length === count) return ctx.reshape(operand, [rows, 1, length]);
  const dims = [rows, 1, length];
  const axes = [
    { dim: rows, terms: [{ axis: 0, factor: 1 }], offset: 0, checked: false },
    { dim: count, terms: [{ axis: 2, factor: 1 }], offset: first, checked: false },
  ];
  return ctx.builder.move(operand, dims, coordinates(axes, dims));
}

/** A bin is the number of cuts that the feature is above. */
function counted(
  ctx: Lowering,
  features: Features,
  groups: readonly Group[],
  part: Part,
  domains: readonly Domain[],
  table: Table,
): Operand {
  const { builder } = ctx;
  const { rows, isInteger } = features;
  const cells = groups.flatMap((group) =>
    Array.from({ length: part.length }, (_, i) => ({ group, axis: group.axes.get(part.first + i) })),
  );
  const most = cells.reduce((longest, { axis }) => Math.max(longest, axis?.cuts.length ?? 0), 1);
  // What fills a list up is above everything.
  const fill = isInteger ? 2 ** 31 - 1 : 3.4028234663852886e38;
  const cuts = cells.flatMap(({ axis }) => [
    ...(axis?.cuts ?? []),
    ...new Array<number>(most - (axis?.cuts.length ?? 0)).fill(fill),
  ]);
  const firsts = cells.map(({ group, axis }) => {
    if (axis === undefined) return 0;
    const bins = valuesOf(axis.cuts, domains[axis.feature] as Domain);
    return table.add(rowsFor(group, axis.feature, bins, table.width, builder.budget), bins.length);
  });
  const shape = [groups.length, part.length];
  const constant = isInteger
    ? builder.plain("s32", [...shape, most], Int32Array.from(cuts))
    : builder.plain("f32", [...shape, most], Float32Array.from(cuts));
  const x = ctx.reshape(slice(ctx, features, part), [rows, 1, part.length, 1]);
  const isAbove = isInteger
    ? builder.arith("lt", "bool", constant, x)
    : builder.float("lt", "bool", constant, x);
  const bins = reduceRows(ctx, "sum", isAbove, [rows, ...shape]);
  return builder.arith("add", "s32", bins, builder.plain("s32", shape, Int32Array.from(firsts)));
}

/** From where to where the cuts of a feature go, in any group. */
type Spans = ReadonlyMap<number, { readonly low: number; readonly high: number }>;

/** Undefined where a row for each integer would take much more room than a row for each bin. */
function spansOf(groups: readonly Group[], { first, length }: Part, width: number): Spans | undefined {
  const spans = new Map<number, { low: number; high: number }>();
  let bins = 0;
  for (const { axes } of groups) {
    for (const [feature, { cuts }] of axes) {
      if (feature < first || feature >= first + length) continue;
      const [low, high] = [cuts[0] as number, (cuts.at(-1) as number) + 1];
      const found = spans.get(feature);
      spans.set(feature, {
        low: Math.min(low, found?.low ?? low),
        high: Math.max(high, found?.high ?? high),
      });
      bins += cuts.length + 1;
    }
  }
  const rows = [...spans.values()].reduce((sum, { low, high }) => sum + high - low + 1, 0) * groups.length;
  const isHandy = rows <= 2 * bins || rows * width <= MOST_DIRECT;
  return isHandy ? spans : undefined;
}

/** Bytes of a table that is worth the comparisons that it saves. */
const MOST_DIRECT = 2 ** 16;

/** An integer is its own bin, between the least cut and the one above the greatest. */
function clamped(
  ctx: Lowering,
  features: Features,
  groups: readonly Group[],
  part: Part,
  spans: Spans,
  table: Table,
): Operand {
  const { builder } = ctx;
  const { width } = table;
  const bounds = Array.from({ length: part.length }, (_, i) => spans.get(part.first + i));
  const longest = bounds.reduce(
    (most, span) => Math.max(most, span === undefined ? 1 : span.high - span.low + 1),
    1,
  );
  const isSparse = groups.some(({ axes }) =>
    bounds.some((span, i) => span !== undefined && !axes.has(part.first + i)),
  );
  // Rows of zeros for the features that part nothing in a group.
  if (isSparse) table.add(new Int8Array((longest - 1) * width), longest - 1);
  const offsets = groups.flatMap((group) =>
    bounds.map((span, i) => {
      if (span === undefined) return 0;
      const feature = part.first + i;
      if (!group.axes.has(feature)) return -span.low;
      const values = Array.from({ length: span.high - span.low + 1 }, (_, v) => span.low + v);
      return table.add(rowsFor(group, feature, values, width, builder.budget), values.length) - span.low;
    }),
  );
  const list = (of: (span: { low: number; high: number }) => number): Operand =>
    builder.plain(
      "s32",
      [part.length],
      Int32Array.from(bounds.map((span) => (span === undefined ? 0 : of(span)))),
    );
  const raised = builder.arith(
    "max",
    "s32",
    slice(ctx, features, part),
    list(({ low }) => low),
  );
  const inside = builder.arith(
    "min",
    "s32",
    raised,
    list(({ high }) => high),
  );
  const shape = [groups.length, part.length];
  return builder.arith("add", "s32", inside, builder.plain("s32", shape, Int32Array.from(offsets)));
}
