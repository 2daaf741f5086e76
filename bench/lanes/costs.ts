/** Fits the planner's formulas to what was measured, and compares them with it. */
import { type Costs, ofSize } from "../../prover/plan/costs.ts";
import { describeMachine } from "../report.ts";
import { fitNonNegative } from "./fit.ts";
import type { LaneExtras } from "./rows.ts";
import type { CircuitPoint, ExecutionPoint } from "./sizes.ts";

export interface Measurements {
  readonly lanes: LaneExtras;
  readonly circuits: readonly CircuitPoint[];
  readonly executions: readonly ExecutionPoint[];
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

export function fitCosts({ lanes, circuits, executions }: Measurements): Costs {
  const one = (): number => 1;
  const domain = ({ domain }: CircuitPoint): number => domain;
  const size = {
    base: one,
    perDomain: domain,
    perCoefficient: ({ coefficients }: CircuitPoint): number => coefficients,
  };
  const signals = { base: one, perSignal: ({ publicSignals }: CircuitPoint): number => publicSignals };
  const macs = { base: one, perMac: ({ multiplications }: ExecutionPoint): number => multiplications };
  const interpreted = formula(executions, macs, (point) => point.interpreted);
  const compiled = formula(executions, macs, (point) => point.compiled);
  const perMac = { perMac: macs.perMac };
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
    bond: { requestGas: request, claimGas: claim, finalizeGas: finalize },
    execution: {
      callGas: interpreted.base,
      interpretedPerMac: interpreted.perMac,
      compiledCallGas: compiled.base,
      compiledPerMac: compiled.perMac,
      publishPerMac: formula(executions, perMac, (point) => point.publishGas).perMac,
      compilePerMac: formula(executions, perMac, (point) => point.compileGas).perMac,
    },
  };
}

export interface Estimate {
  readonly name: string;
  readonly estimate: number;
  readonly actual: number;
}

/** Estimates beside what they were fitted to. */
export function compare(costs: Costs, { circuits, executions }: Measurements): Estimate[] {
  const { groth16, execution } = costs;
  return [
    ...circuits.flatMap((point) => {
      const name = `${point.constraints} constraints`;
      const { keyBytes, memoryBytes, settleGas } = groth16;
      const key = ofSize(keyBytes, point) + keyBytes.perConstraint * point.constraints;
      const memory = memoryBytes.base + memoryBytes.perDomain * point.domain;
      const gas = settleGas.base + settleGas.perSignal * point.publicSignals;
      return [
        {
          name: `${name}: seconds to set up`,
          estimate: ofSize(groth16.setupSeconds, point),
          actual: point.setupSeconds,
        },
        {
          name: `${name}: seconds to prove`,
          estimate: ofSize(groth16.proveSeconds, point),
          actual: point.proveSeconds,
        },
        { name: `${name}: bytes of key`, estimate: key, actual: point.keyBytes },
        { name: `${name}: bytes of memory`, estimate: memory, actual: point.memoryBytes },
        { name: `${name}: gas to settle`, estimate: gas, actual: point.settleGas },
      ];
    }),
    ...executions.flatMap((point) => {
      const name = `${point.multiplications} multiply-accumulates`;
      const { callGas, interpretedPerMac, compiledCallGas, compiledPerMac } = execution;
      const of = (base: number, each: number): number => base + each * point.multiplications;
      return [
        {
          name: `${name}: gas interpreted`,
          estimate: of(callGas, interpretedPerMac),
          actual: point.interpreted,
        },
        {
          name: `${name}: gas compiled`,
          estimate: of(compiledCallGas, compiledPerMac),
          actual: point.compiled,
        },
      ];
    }),
  ];
}
