/** Fits the planner's formulas to what was measured, and compares them with it. */
import type { Costs } from "../../protocol/chain/plan/costs.ts";
import { offersOf, offersOfProofModel, type ProofModelFacts } from "../../protocol/chain/plan/estimates.ts";
import type { Estimate, Method, Offer } from "../../protocol/chain/plan/plan.ts";
import { describeMachine } from "../report.ts";
import { MLP_DIMS } from "../tasks/mlp.ts";
import type { EzklPoint, SrsPoint } from "./ezkl.ts";
import { fitNonNegative } from "./fit.ts";
import type { LaneExtras } from "./rows.ts";
import { type CircuitPoint, type ExecutionPoint, sizedModel } from "./sizes.ts";

export interface Measurements {
  readonly lanes: LaneExtras;
  readonly circuits: readonly CircuitPoint[];
  /** none where ezkl is not installed */
  readonly ezkl: readonly EzklPoint[];
  readonly srs: readonly SrsPoint[];
}

type Numbers<Name extends string> = Record<Name, number>;

/** Coefficients by name, with as many digits as measurements have. */
function formula<Point, Name extends string>(
  points: readonly Point[],
  columns: Readonly<Record<Name, (point: Point) => number>>,
  value: (point: Point) => number,
): Numbers<Name> {
  const names = Object.keys(columns) as Name[];
  const rows = points.map((point) => names.map((name) => columns[name](point)));
  const found = fitNonNegative(rows, points.map(value));
  return Object.fromEntries(
    names.map((name, i) => [name, Number((found[i] as number).toPrecision(5))]),
  ) as Numbers<Name>;
}

/** @param before what is kept where ezkl was not measured */
export function fitCosts(measured: Measurements, before: Pick<Costs, "ezkl">): Costs {
  const { lanes, circuits } = measured;
  const one = (): number => 1;
  const domain = ({ domain }: CircuitPoint): number => domain;
  const size = {
    base: one,
    perDomain: domain,
    perCoefficient: ({ coefficients }: CircuitPoint): number => coefficients,
  };
  const signals = { base: one, perSignal: ({ publicSignals }: CircuitPoint): number => publicSignals };
  const { request, claim, finalize } = lanes.bondGas;
  return {
    about:
      "Fitted to perceptrons of rising size; `npm run bench -- lane-sizes --write` measures and writes it anew.",
    machine: describeMachine(),
    groth16: {
      proveSeconds: formula(circuits, size, (point) => point.proveSeconds),
      setupSeconds: formula(circuits, size, (point) => point.setupSeconds),
      keyBytes: formula(
        circuits,
        { ...size, perConstraint: ({ constraints }: CircuitPoint): number => constraints },
        (point) => point.keyBytes,
      ),
      memoryBytes: formula(circuits, { base: one, perDomain: domain }, (point) => point.memoryBytes),
      settleGas: formula(circuits, signals, (point) => point.settleGas),
      batchGas: formula(
        lanes.batches,
        { base: one, perProof: ({ proofs }: LaneExtras["batches"][number]): number => proofs },
        ({ gas }) => gas,
      ),
      storeKeyGas: formula(circuits, signals, (point) => point.storeKeyGas),
      requestGas: lanes.proofRequestGas,
    },
    ezkl: measured.ezkl.length === 0 ? before.ezkl : fitEzkl(measured),
    bond: { requestGas: request, claimGas: claim, finalizeGas: finalize },
  };
}

function fitEzkl({ ezkl, srs }: Measurements): Costs["ezkl"] {
  const one = (): number => 1;
  const rows = { base: one, perRow: (point: { readonly rows: number }): number => point.rows };
  return {
    proveSeconds: formula(ezkl, rows, (point) => point.coldSeconds),
    keySeconds: formula(ezkl, rows, (point) => point.keySeconds),
    srsSeconds: formula(srs, rows, (point) => point.seconds),
    keyBytes: formula(ezkl, rows, (point) => point.keyBytes),
    memoryBytes: formula(ezkl, rows, (point) => point.memoryBytes),
    settleGas: formula(
      ezkl,
      { base: one, perInstance: ({ instances }: EzklPoint): number => instances },
      (point) => point.settleGas,
    ),
    requestGas: formula(
      ezkl,
      { base: one, perInput: ({ inputs }: EzklPoint): number => inputs },
      (point) => point.requestGas,
    ),
    setupGas: formula(
      ezkl,
      { base: one, perByte: ({ initCodeBytes }: EzklPoint): number => initCodeBytes },
      (point) => point.setupGas,
    ),
  };
}

export interface Comparison {
  /** a lane, and which size of it */
  readonly name: string;
  /** what of it */
  readonly label: string;
  readonly estimate: number;
  readonly actual: number;
}

/** What the planner says of the models that were measured, beside what was measured. */
export function compare(costs: Costs, { lanes, circuits, ezkl, srs }: Measurements): Comparison[] {
  const { batchGas } = costs.groth16;
  const { request, claim, finalize } = lanes.bondGas;
  const task = sizedModel(MLP_DIMS);
  return [
    ...beside("bond", offersOf(factsOf(task), costs), "bond", { gasPerResult: request + claim + finalize }),
    {
      name: "eight Groth16 proofs at once",
      label: "gas to settle each",
      estimate: batchGas.base / 8 + batchGas.perProof,
      actual: lanes.batchGasEach,
    },
    ...circuits.flatMap((point) =>
      beside(
        `groth16, ${point.constraints} constraints`,
        offersOf({ ...factsOf(sizedModel(point.dims)), circuit: point }, costs),
        "groth16",
        {
          setupSeconds: point.setupSeconds,
          seconds: point.proveSeconds,
          keyBytes: point.keyBytes,
          memoryBytes: point.memoryBytes,
          gasSetup: point.storeKeyGas,
          gasPerResult: point.settleGas + point.requestGas,
        },
      ),
    ),
    ...srs.map(({ rows, seconds }) => ({
      name: `ezkl, development SRS of ${rows} rows`,
      label: "seconds",
      estimate: costs.ezkl.srsSeconds.base + costs.ezkl.srsSeconds.perRow * rows,
      actual: seconds,
    })),
    ...ezkl.flatMap((point) =>
      beside(
        `ezkl, ${point.target}, ${point.multiplications} multiply-accumulates`,
        offersOfProofModel({ ...NOTHING_THERE, ...point }, costs),
        "ezkl",
        {
          setupSeconds: point.keySeconds,
          seconds: point.coldSeconds,
          keyBytes: point.keyBytes,
          memoryBytes: point.memoryBytes,
          gasSetup: point.setupGas,
          gasPerResult: point.requestGas + point.settleGas,
        },
      ),
    ),
  ];
}

/** The same of executions, whose estimates need no measurement. */
export const compareExecutions = (costs: Costs, executions: readonly ExecutionPoint[]): Comparison[] =>
  executions.flatMap((point) => {
    const offers = offersOf(factsOf(sizedModel(point.dims)), costs);
    const of = (method: Method, gasSetup: number, gasPerResult: number): Comparison[] =>
      beside(`${method}, ${point.multiplications} multiply-accumulates`, offers, method, {
        gasSetup,
        gasPerResult,
      });
    return [
      ...of("execution", point.publishGas, point.interpreted),
      ...of("execution-compiled", point.publishGas + point.compileGas, point.compiled),
    ];
  });

const NOT_ON_CHAIN = { keyStored: false, published: false, compiled: false };
const NOTHING_THERE = {
  isForgeable: false,
  isRegistered: false,
  keysHere: false,
  srsHere: true,
} as const satisfies Partial<ProofModelFacts>;

const factsOf = (model: ReturnType<typeof sizedModel>) => ({
  model,
  circuit: { refused: "not asked for" },
  isForgeable: false,
  onChain: NOT_ON_CHAIN,
  keyHere: false,
});

const LABELS = {
  setupSeconds: "seconds to make keys",
  seconds: "seconds of a result",
  keyBytes: "bytes of key",
  memoryBytes: "bytes of memory",
  gasSetup: "gas to set up",
  gasPerResult: "gas of a result",
} as const satisfies Partial<Record<keyof Estimate, string>>;
type Measured = Partial<Record<keyof typeof LABELS, number>>;

function beside(
  name: string,
  offers: Readonly<Record<Method, Offer>>,
  method: Method,
  actual: Measured,
): Comparison[] {
  const offer = offers[method];
  if ("unavailable" in offer) throw new Error(`The planner does not offer ${name}: ${offer.unavailable}.`);
  const fields = Object.keys(actual) as (keyof typeof LABELS)[];
  return fields.map((field) => ({
    name,
    label: LABELS[field],
    estimate: Number(offer[field]),
    actual: actual[field] as number,
  }));
}
