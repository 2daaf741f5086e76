/** The lanes side by side, and how they grow with the model. */

import { COSTS } from "../../protocol/chain/plan/costs.ts";
import { EZKL, SNARKJS } from "../peers.ts";
import { type Figure, gasFigure, grouped, type Measured, type Part } from "../report.ts";
import { MLP_DIMS, MLP_MULTIPLICATIONS } from "../tasks/mlp.ts";
import { compare, compareExecutions, fitCosts } from "./costs.ts";
import { crossings, flatLanes, gasChart } from "./crossings.ts";
import { type EzklPoint, measureSrs } from "./ezkl.ts";
import { ezklRows, measureEzklSizes, measureTask, UNAVAILABLE } from "./ezkl-row.ts";
import { type LaneExtras, type LaneRow, measureLanes, ROUNDS } from "./rows.ts";
import { CIRCUITS, measureCircuits, measureExecutions } from "./sizes.ts";
import { subjectOf } from "./subject.ts";
import { bySize, ezklDetails, laneGas, laneTimes } from "./tables.ts";

/** What the task should take at most, and how much faster than ezkl a Groth16 proof should be. */
const TARGETS = { execution: 240_000, compiled: 95_000, settle: 350_000, batch: 130_000, speedup: 12 };

/** Small: a development SRS takes time in proportion to its rows. */
const SRS_LOGROWS = [12, 13];

async function gas(): Promise<Measured> {
  const { rows, extras } = await measureLanes();
  const { innerGas, settleGas, batchGasEach } = extras;
  const figures = [
    gasFigure("execution inside a transaction, cold", BigInt(innerGas.execution), TARGETS.execution),
    gasFigure("execution, compiled, inside a transaction, cold", BigInt(innerGas.compiled), TARGETS.compiled),
    gasFigure("settlement by one proof", BigInt(settleGas), TARGETS.settle),
    gasFigure("settlement of eight at once, each", BigInt(batchGasEach), TARGETS.batch),
  ];
  return { figures, tables: [laneGas(rows)], rows };
}

/** The target is of witness, proof and calldata; what the start of a process adds is shown beside it. */
function speedups(rows: readonly LaneRow[], extras: LaneExtras, ezkl: readonly EzklPoint[]): Figure[] {
  const warm = rows.find(({ lane }) => lane === "groth16")?.secondsPerResult ?? Number.NaN;
  return ezkl.flatMap(({ target, warmSeconds, coldSeconds }) => {
    const name = `Groth16 (${SNARKJS}) over ${EZKL}, ${target}`;
    const times = (slow: number, fast: number): string => `${(slow / fast).toFixed(1)}×`;
    return [
      {
        name: `${name}, processes warm`,
        value: times(warmSeconds, warm),
        target: `≥ ${TARGETS.speedup}×`,
        isMet: warmSeconds / warm >= TARGETS.speedup,
      },
      { name: `${name}, processes just started`, value: times(coldSeconds, extras.coldProofSeconds) },
    ];
  });
}

async function lanes(): Promise<Measured> {
  const { rows: exact, extras } = await measureLanes();
  const ezkl = await measureTask();
  const rows = [...exact, ...ezklRows(ezkl)];
  const cold = new Map([["groth16", extras.coldProofSeconds]]);
  const tables = [laneTimes(rows, cold, ezkl), ...(ezkl.length === 0 ? [] : [ezklDetails(ezkl)])];
  const missing = ezkl.length === 0 ? [{ name: EZKL, value: `unavailable: ${UNAVAILABLE}` }] : [];
  return { figures: [...speedups(rows, extras, ezkl), ...missing], tables, rows };
}

/** With the chart. */
async function executionSizes(): Promise<Measured> {
  const { extras } = await measureLanes();
  const executions = await measureExecutions();
  const largest = Math.max(...CIRCUITS.map((dims) => subjectOf(dims, 2).multiplications));
  const figures = crossings(executions, flatLanes(extras)).map(({ name, x }) => ({
    name: `gas crosses: ${name}`,
    value: `${grouped(Math.round(x))} multiply-accumulates${x > largest && !name.endsWith("bond") ? ", beyond the largest circuit here" : ""}`,
  }));
  const tables = bySize(compareExecutions(COSTS, executions));
  const files = { "docs/charts/lanes.json": gasChart(executions, largest, extras) };
  return { figures, tables, rows: executions, files };
}

/** With what the planner reads. */
async function proofSizes(): Promise<Measured> {
  const { extras } = await measureLanes();
  const circuits = await measureCircuits();
  const ezkl = await measureEzklSizes();
  const srs = await measureSrs(SRS_LOGROWS);
  const measured = { lanes: extras, circuits, ezkl, srs };
  const costs = fitCosts(measured, COSTS);
  const files = { "protocol/chain/plan/costs.json": `${JSON.stringify(costs, null, 2)}\n` };
  const figures = ezkl.length === 0 ? [{ name: EZKL, value: `unavailable: ${UNAVAILABLE}` }] : [];
  return { figures, tables: bySize(compare(costs, measured)), rows: [...circuits, ...ezkl], files };
}

const TASK = `One int8 perceptron, ${MLP_DIMS.join(" → ")}, ${grouped(MLP_MULTIPLICATIONS)} multiply-accumulates`;

export const LANE_PARTS: readonly Part[] = [
  {
    name: "lane-gas",
    title: "Gas of the lanes",
    method: `${TASK}, by every lane on one local chain with whole transactions. A result by Groth16 or by a bond includes the request; compiled code's set-up includes that of the weights. Gas inside a transaction is the transaction's without its intrinsic gas, with a cold account added. Gas does not depend on the machine.`,
    run: gas,
  },
  {
    name: "lanes",
    title: "Time and memory of the lanes",
    method: `${TASK}, one model id, 32 inputs compared with the int8 executor. Groth16 is that of ${SNARKJS} with development keys. Beside it ${EZKL}, measured in the same run on the same machine: it proves a float network of the same shape in both of its calibrations; its set-up holds the SRS only where none was made before, its accuracy loss is the share of inputs whose class, the larger output, is not the float network's. Time to finality counts from the request, blocks of one second, T = 600 s. A result is everything from calldata to evidence: witness, proof, bytes. Each time is the median of ${ROUNDS} results or more: in a process that has made one before, and, where it is named, from the start of a process that reads circuit and key from its disk and makes one.`,
    run: lanes,
  },
  {
    name: "execution-sizes",
    title: "How executions grow",
    method:
      "Whole executions of perceptrons of 10^3 to 10^6 multiply-accumulates, interpreted and compiled. Each figure stands before what `assay plan` estimates for that model. Gas of a result by size:\n\n![Gas of one result by multiply-accumulates, by lane](lanes.svg)",
    run: executionSizes,
  },
  {
    name: "lane-sizes",
    title: "How proofs grow",
    method: `Perceptrons of rising width: development keys, proof and settlement of circuits of 2^10 to 2^14 by ${SNARKJS}; float perceptrons by ${EZKL}, in the same run on the same machine. Each figure stands before what \`assay plan\` estimates for that model by the formulas in protocol/chain/plan/costs.json, which are fitted to these figures.`,
    run: proofSizes,
  },
];
