/** The lanes side by side, and how they grow with the model. */

import { readCosts } from "../../prover/plan/costs.ts";
import { type Figure, grouped, type Measured, type Part } from "../report.ts";
import { MLP_MULTIPLICATIONS } from "../tasks/mlp.ts";
import { compare, fitCosts } from "./costs.ts";
import { crossings, flatLanes, gasChart } from "./crossings.ts";
import { type EzklPoint, measureSrs } from "./ezkl.ts";
import { ezklFigures, ezklRows, measureEzklSizes, measureTask, UNAVAILABLE } from "./ezkl-row.ts";
import { type LaneExtras, type LaneRow, measureLanes, ROUNDS } from "./rows.ts";
import { measureCircuits, measureExecutions } from "./sizes.ts";

/** What the task should take at most, and how much faster than ezkl a Groth16 proof should be. */
const TARGETS = { execution: 240_000, compiled: 95_000, settle: 350_000, batch: 130_000, speedup: 12 };

const atMost = (name: string, value: number, limit: number): Figure => ({
  name,
  value: `${grouped(value)} gas`,
  target: `≤ ${grouped(limit)}`,
  isMet: value <= limit,
});

/** Small: a development SRS takes time in proportion to its rows. */
const SRS_LOGROWS = [12, 13];

const seconds = (value: number): string => `${Number(value.toPrecision(3))} s`;
const megabytes = (value: number): string => `${(value / 1e6).toFixed(1)} MB`;

function figuresOf(row: LaneRow): Figure[] {
  const { unavailable, calibration } = row;
  const lane = calibration === undefined ? row.lane : `${row.lane}, ${calibration}`;
  if (unavailable !== undefined) return [{ name: lane, value: `unavailable: ${unavailable}` }];
  const shown = (label: string, value: number | null, format: (value: number) => string): Figure[] =>
    value === null ? [] : [{ name: `${lane}: ${label}`, value: format(value) }];
  const gas = (value: number): string => `${grouped(value)} gas`;
  return [
    ...shown("set-up", row.setupSeconds, seconds),
    ...shown("a result, process warm", row.secondsPerResult, seconds),
    ...shown("memory", row.memoryBytes, megabytes),
    ...shown("key", row.keyBytes, megabytes),
    ...shown("proof", row.proofBytes, (value) => `${grouped(value)} bytes`),
    ...shown("set-up on chain", row.gasSetup, gas),
    ...shown("a result on chain", row.gasPerResult, gas),
    ...shown("to finality", row.secondsToFinality, seconds),
    ...shown("accuracy loss", row.accuracyLoss, String),
  ];
}

function targets(rows: readonly LaneRow[], extras: LaneExtras, ezkl: readonly EzklPoint[]): Figure[] {
  const warm = rows.find(({ lane }) => lane === "groth16")?.secondsPerResult ?? Number.NaN;
  const speed = (state: string, target: string, slow: number, fast: number) => {
    return { name: `Groth16 over ezkl, ${target}, ${state}`, value: `${(slow / fast).toFixed(1)}×` };
  };
  // The target is of witness, proof and calldata; what the start of a process adds is shown beside it.
  const isFast = (slow: number, fast: number) => {
    return { target: `≥ ${TARGETS.speedup}×`, isMet: slow / fast >= TARGETS.speedup };
  };
  return [
    atMost("execution inside a transaction, cold", extras.innerGas.execution, TARGETS.execution),
    atMost("execution, compiled, inside a transaction, cold", extras.innerGas.compiled, TARGETS.compiled),
    atMost("settlement by one proof", extras.settleGas, TARGETS.settle),
    atMost("settlement of eight at once, each", extras.batchGasEach, TARGETS.batch),
    ...ezkl.flatMap(({ target, warmSeconds, coldSeconds }) => [
      { ...speed("processes warm", target, warmSeconds, warm), ...isFast(warmSeconds, warm) },
      speed("processes just started", target, coldSeconds, extras.coldProofSeconds),
    ]),
    { name: "groth16: a result, process just started", value: seconds(extras.coldProofSeconds) },
  ];
}

async function lanes(): Promise<Measured> {
  const { rows: exact, extras } = await measureLanes();
  const ezkl = await measureTask();
  const rows = [...exact, ...ezklRows(ezkl)];
  const figures = [...targets(rows, extras, ezkl), ...rows.flatMap(figuresOf), ...ezklFigures(ezkl)];
  return { figures, rows };
}

/** With what the planner reads, and the chart. */
async function sizes(): Promise<Measured> {
  const { extras } = await measureLanes();
  const circuits = await measureCircuits();
  const executions = await measureExecutions();
  const ezkl = await measureEzklSizes();
  const srs = await measureSrs(SRS_LOGROWS);
  const measured = { lanes: extras, circuits, executions, ezkl, srs };
  const costs = fitCosts(measured, readCosts());
  const estimates = compare(costs, measured);
  const largest = Math.max(...circuits.map((point) => point.multiplications));
  const files = {
    "prover/plan/costs.json": `${JSON.stringify(costs, null, 2)}\n`,
    "docs/lanes.svg": gasChart(executions, circuits, extras),
  };
  const figures = [
    ...(ezkl.length === 0 ? [{ name: "ezkl", value: `unavailable: ${UNAVAILABLE}` }] : []),
    ...estimates.map(({ name, estimate, actual }) => ({
      name,
      value: `${rounded(actual)} (estimate ${rounded(estimate)})`,
    })),
    ...crossings(executions, flatLanes(extras)).map(({ name, x }) => ({
      name: `gas crosses: ${name}`,
      value: `${grouped(Math.round(x))} multiply-accumulates${x > largest && !name.endsWith("bond") ? ", beyond the largest circuit here" : ""}`,
    })),
  ];
  return { figures, rows: [...circuits, ...executions, ...ezkl], files };
}

const rounded = (value: number): string =>
  value < 100 ? String(Number(value.toPrecision(3))) : grouped(Math.round(value));

export const LANE_PARTS: readonly Part[] = [
  {
    name: "lanes",
    title: "The lanes side by side",
    method: `One int8 perceptron, 256 → 64 → 32 → 2, ${grouped(MLP_MULTIPLICATIONS)} multiply-accumulates, by every lane on one local chain with whole transactions; one model id, 32 inputs compared with the int8 executor. Groth16 by snarkjs with development keys; its gas and the bond's include the request, and compiled code's set-up includes that of the weights. Time to finality counts from the request, blocks of one second, T = 600 s. ezkl proves a float network of the same shape in both of its calibrations; its set-up holds the SRS only where none was made before, its accuracy loss is the share of inputs whose class, the larger output, is not the float network's. A result is everything from calldata to evidence: witness, proof, bytes. Each time is the median of ${ROUNDS} results or more: in a process that has made one before, and, beside it, from the start of a process that reads circuit and key from its disk and makes one. Gas inside a transaction is the transaction's without its intrinsic gas, with a cold account added.`,
    run: lanes,
  },
  {
    name: "lane-sizes",
    title: "How the lanes grow",
    method:
      "Perceptrons of rising width: development keys, proof and settlement of circuits of 2^10 to 2^14; whole executions of 10^3 to 10^6 multiply-accumulates, interpreted and compiled; float perceptrons by ezkl. Each figure stands beside what `assay plan` estimates for that model by the formulas in prover/plan/costs.json, which are fitted to these figures. Gas of a result by size:\n\n![Gas of one result by multiply-accumulates, by lane](lanes.svg)",
    run: sizes,
  },
];
