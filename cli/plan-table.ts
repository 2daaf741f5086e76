/** A plan as people read it: a table of the lanes, and what does not fit into one. */
import { formatAmount, roundUp } from "../base/amounts.ts";
import type { Plan, PlanRow } from "../protocol/chain/plan/plan.ts";

type Available = PlanRow & { readonly available: true };

/** Significant digits of estimated amounts. */
const DIGITS = 4;
const NOTHING = "-";
const DATA = "OF THAT DATA";

const amount = (wei: bigint): string => (wei === 0n ? NOTHING : formatAmount(roundUp(wei, DIGITS)));
const gas = (units: bigint): string => (units === 0n ? NOTHING : units.toLocaleString("en-US"));
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

interface Column {
  readonly title: string;
  readonly isNumber?: true;
  readonly of: (row: Available) => string;
}

const COLUMNS: readonly Column[] = [
  { title: "COST A RESULT", isNumber: true, of: ({ costWei }) => amount(costWei) },
  { title: DATA, isNumber: true, of: ({ dataFeeWei }) => amount(dataFeeWei) },
  { title: "GAS A RESULT", isNumber: true, of: ({ estimate }) => gas(estimate.gasPerResult) },
  { title: "GAS ONCE", isNumber: true, of: ({ estimate }) => gas(estimate.gasSetup) },
  { title: "FINAL AFTER", isNumber: true, of: ({ secondsToFinality: s }) => `${s.toFixed(1)} s` },
  { title: "LOCKED", isNumber: true, of: ({ lockedWei }) => amount(lockedWei) },
];

/** Lines of the table and below it; the chosen method has a star. */
export function planLines({ rows, choice }: Plan): string[] {
  const mark = ({ method }: PlanRow): string => (method === choice ? "*" : " ");
  // Most chains ask nothing for data.
  const hasData = rows.some((row) => row.available && row.dataFeeWei > 0n);
  const columns = COLUMNS.filter(({ title }) => hasData || title !== DATA);
  const cells = rows.map((row) => [
    `${mark(row)} ${row.lane}`,
    row.method,
    ...(row.available ? columns.map(({ of }) => of(row)) : []),
  ]);
  const titles = ["  LANE", "METHOD", ...columns.map(({ title }) => title)];
  const widths = titles.map((title, i) => Math.max(title.length, ...cells.map((row) => row[i]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) => {
        const width = widths[i] ?? 0;
        return columns[i - 2]?.isNumber === true ? cell.padStart(width) : cell.padEnd(width);
      })
      .join("  ");
  const table = rows.map((row, i) => {
    const named = line(cells[i] ?? []);
    return row.available ? named.trimEnd() : `${named}  not available: ${row.reason.replaceAll("\n", " ")}`;
  });
  const picked =
    choice === undefined
      ? "No lane of this model can be used."
      : `* ${choice}: the cheapest that holds this value.`;
  return [line(titles).trimEnd(), ...table, picked, ...rows.flatMap(notesOf)];
}

/** What a row says beside its figures. */
function notesOf(row: PlanRow): string[] {
  if (!row.available) return [];
  const { estimate, method, lockedWei, lockedSeconds } = row;
  const notes: string[] = [];
  if (estimate.keyBytes > 0) {
    notes.push(
      `${method}: a proof takes ${estimate.seconds.toFixed(2)} s and ${megabytes(estimate.memoryBytes)} of memory, its key ${estimate.setupSeconds.toFixed(1)} s once and ${megabytes(estimate.keyBytes)}`,
    );
  }
  if (lockedWei > 0n)
    notes.push(`${method}: ${amount(lockedWei)} are locked for ${lockedSeconds.toLocaleString("en-US")} s`);
  if (estimate.caution !== undefined) notes.push(`${method}: NOT USED: ${estimate.caution}`);
  return notes;
}
