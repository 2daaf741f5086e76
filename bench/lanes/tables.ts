/** The lanes' figures as tables, with a column a lane. */

import { EZKL } from "../peers.ts";
import { grouped, type Table } from "../report.ts";
import type { Comparison } from "./costs.ts";
import type { EzklPoint } from "./ezkl.ts";
import type { LaneRow } from "./rows.ts";

const NAMES: Readonly<Record<LaneRow["lane"], string>> = {
  execution: "execution",
  "execution-compiled": "execution, compiled",
  groth16: "Groth16",
  "groth16-batch8": "Groth16, eight at once",
  ezkl: EZKL,
  bond: "bond",
};

const nameOf = ({ lane, calibration }: LaneRow): string =>
  calibration === undefined ? NAMES[lane] : `${NAMES[lane]}, ${calibration}`;

const seconds = (value: number): string => `${Number(value.toPrecision(3))} s`;
const megabytes = (value: number): string => `${(value / 1e6).toFixed(1)} MB`;
const bytes = (value: number): string => `${grouped(value)} bytes`;

type Line = readonly [
  label: string,
  value: (row: LaneRow) => number | null | undefined,
  format: (value: number) => string,
];

/** A row a line, a column a lane; a cell is empty where nothing was measured. */
function across(rows: readonly LaneRow[], lines: readonly Line[]): Table {
  return {
    columns: ["", ...rows.map(nameOf)],
    rows: lines.map(([label, numberOf, format]) => [
      label,
      ...rows.map((row) => {
        const value = numberOf(row);
        return value === null || value === undefined ? "" : format(value);
      }),
    ]),
  };
}

export const laneGas = (rows: readonly LaneRow[]): Table =>
  across(rows, [
    ["set-up, gas", (row) => row.gasSetup, grouped],
    ["a result, gas", (row) => row.gasPerResult, grouped],
  ]);

/** @param cold seconds of a result in a process just started, by lane */
export function laneTimes(
  rows: readonly LaneRow[],
  cold: ReadonlyMap<string, number>,
  ezkl: readonly EzklPoint[],
): Table {
  const coldOf = ({ lane, calibration }: LaneRow): number | undefined =>
    calibration === undefined
      ? cold.get(lane)
      : ezkl.find(({ target }) => target === calibration)?.coldSeconds;
  return across(rows, [
    ["set-up", (row) => row.setupSeconds, seconds],
    ["a result, process warm", (row) => row.secondsPerResult, seconds],
    ["a result, process just started", coldOf, seconds],
    ["memory", (row) => row.memoryBytes, megabytes],
    ["key", (row) => row.keyBytes, megabytes],
    ["proof", (row) => row.proofBytes, bytes],
    ["to finality", (row) => row.secondsToFinality, seconds],
    ["accuracy loss", (row) => row.accuracyLoss, String],
  ]);
}

/** What belongs to ezkl alone, a column a calibration. */
export function ezklDetails(points: readonly EzklPoint[]): Table {
  const line = (label: string, numberOf: (point: EzklPoint) => string): readonly string[] => [
    label,
    ...points.map(numberOf),
  ];
  return {
    columns: ["", ...points.map(({ target }) => `${EZKL}, ${target}`)],
    rows: [
      line("set-up, gas", (one) => grouped(one.setupGas)),
      line("a result, gas", (one) => grouped(one.requestGas + one.settleGas)),
      line("of it settlement, gas", (one) => grouped(one.settleGas)),
      line("rows", (one) => grouped(one.rows)),
      line("fraction bits of the inputs", (one) => String(one.scaleBits)),
      line("largest difference from the float network", (one) => one.largestError.toPrecision(3)),
    ],
  };
}

const rounded = (value: number): string =>
  value < 100 ? String(Number(value.toPrecision(3))) : grouped(Math.round(value));

/** A table for each kind of lane, with a row a size: measured (estimated). */
export function bySize(comparisons: readonly Comparison[]): Table[] {
  const kindOf = ({ name, label }: Comparison): string => `${name.split(",")[0]} ${label === "seconds"}`;
  return [...new Set(comparisons.map(kindOf))].map((kind) => {
    const group = comparisons.filter((one) => kindOf(one) === kind);
    const labels = [...new Set(group.map(({ label }) => label))];
    const names = [...new Set(group.map(({ name }) => name))];
    const cell = (name: string, label: string): string => {
      const one = group.find((found) => found.name === name && found.label === label);
      return one === undefined ? "" : `${rounded(one.actual)} (${rounded(one.estimate)})`;
    };
    return {
      columns: ["measured (estimated)", ...labels],
      rows: names.map((name) => [name, ...labels.map((label) => cell(name, label))]),
    };
  });
}
