/** ezkl's rows of the task, one for each of its calibrations. */
import type { CalibrationTarget } from "../../prover/proof/ezkl/worker.ts";
import { MLP_DIMS, type MlpDims } from "../tasks/mlp.ts";
import { EZKL_DATA, type EzklPoint, measureEzkl } from "./ezkl.ts";
import { BLOCK_SECONDS, COMPARED, type LaneRow, ROUNDS } from "./rows.ts";

export const CALIBRATIONS: readonly CalibrationTarget[] = ["resources", "accuracy"];

export const UNAVAILABLE = `ezkl is not installed: run \`assay proof ezkl install --data ${EZKL_DATA}\``;
const NOT_MEASURED = {
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
  unavailable: UNAVAILABLE,
} as const satisfies LaneRow;

/** @returns no points without ezkl */
export async function measureTask(): Promise<EzklPoint[]> {
  const points: EzklPoint[] = [];
  for (const target of CALIBRATIONS) {
    const one = await measureEzkl({ dims: MLP_DIMS, target, rounds: ROUNDS, compared: COMPARED });
    if (one !== undefined) points.push(one);
  }
  return points;
}

/** One with fewer inputs, one whose circuit has more rows. */
const SIZES: readonly MlpDims[] = [
  [64, 14, 8, 2],
  [256, 300, 128, 2],
];

/** The task, and networks of other sizes. @returns no points without ezkl */
export async function measureEzklSizes(): Promise<EzklPoint[]> {
  const points: EzklPoint[] = [];
  for (const dims of [...SIZES, MLP_DIMS]) {
    const one = await measureEzkl({ dims, target: "resources", rounds: 2, compared: 1 });
    if (one !== undefined) points.push(one);
  }
  return points;
}

/** @returns rows of nulls without ezkl */
export const ezklRows = (points: readonly EzklPoint[]): LaneRow[] =>
  CALIBRATIONS.map((calibration) => {
    const one = points.find(({ target }) => target === calibration);
    return { ...(one === undefined ? NOT_MEASURED : rowOf(one)), calibration };
  });

const rowOf = (one: EzklPoint): LaneRow => ({
  task: "mlp",
  lane: "ezkl",
  setupSeconds: one.setupSeconds + one.srsSeconds,
  secondsPerResult: one.warmSeconds,
  memoryBytes: one.memoryBytes,
  keyBytes: one.keyBytes,
  proofBytes: one.proofBytes,
  gasSetup: one.setupGas,
  gasPerResult: one.requestGas + one.settleGas,
  secondsToFinality: one.warmSeconds + BLOCK_SECONDS,
  accuracyLoss: one.accuracyLoss,
});
