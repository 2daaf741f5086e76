/** ezkl's row of the task, in both of its calibrations. */
import { join } from "node:path";
import { projectRoot } from "../../tools/foundry.ts";
import type { Figure } from "../report.ts";
import { grouped } from "../report.ts";
import { type EzklLaneFigures, measureEzkl } from "./ezkl.ts";
import { BLOCK_SECONDS, type LaneRow } from "./rows.ts";

/** Where `npm run test:ezkl` installs ezkl, too. */
const DATA = "build/ezkl-data";
/** The row is that of `resources`, whose circuit is the smaller one. */
const CALIBRATIONS = ["resources", "accuracy"] as const;

const UNAVAILABLE: LaneRow = {
  task: "mlp",
  lane: "ezkl",
  setupSeconds: null,
  secondsPerResult: null,
  memoryBytes: null,
  keyBytes: null,
  proofBytes: null,
  gasSetup: null,
  gasPerResult: null,
  secondsToFinality: null,
  accuracyLoss: null,
  unavailable: `ezkl is not installed: run \`assay proof ezkl install --data ${DATA}\``,
};

/** @returns a row of nulls without ezkl, and figures that the row has no field for */
export async function ezklRow(): Promise<{ row: LaneRow; figures: readonly Figure[] }> {
  const measured: EzklLaneFigures[] = [];
  for (const target of CALIBRATIONS) {
    const one = await measureEzkl(join(projectRoot, DATA), target);
    if (one !== undefined) measured.push(one);
  }
  const [first] = measured;
  if (first === undefined) return { row: UNAVAILABLE, figures: [] };
  return { row: rowOf(first), figures: measured.flatMap(figuresOf) };
}

function rowOf(one: EzklLaneFigures): LaneRow {
  const { secondsPerResult, memoryBytes, keyBytes, proofBytes } = one;
  return {
    task: "mlp",
    lane: "ezkl",
    setupSeconds: one.setupSeconds + one.srsSeconds,
    secondsPerResult,
    memoryBytes,
    keyBytes,
    proofBytes,
    gasSetup: Number(one.gasSetup),
    gasPerResult: Number(one.gasPerResult),
    secondsToFinality: secondsPerResult + BLOCK_SECONDS,
    // A float network with weights of its own: no int8 executor computes its outputs.
    accuracyLoss: null,
  };
}

function figuresOf(one: EzklLaneFigures): Figure[] {
  const figure = (name: string, value: string): Figure => ({
    name: `ezkl, calibrated for ${one.target}: ${name}`,
    value,
  });
  return [
    figure("a result", `${one.secondsPerResult.toFixed(2)} s`),
    figure("key", `${(one.keyBytes / 1e6).toFixed(1)} MB, 2^${one.logrows} rows`),
    figure("settlement", `${grouped(one.gasSettle)} gas`),
    figure("largest difference from the float network", one.largestError.toPrecision(3)),
  ];
}
