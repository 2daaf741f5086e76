/** Where one lane's gas per result overtakes another's, and the chart of it. */
import { type Chart, renderChart } from "../charts/chart.ts";
import { crossing } from "./fit.ts";
import type { LaneExtras } from "./rows.ts";
import type { ExecutionPoint } from "./sizes.ts";

export interface Crossing {
  readonly name: string;
  /** multiply-accumulates */
  readonly x: number;
  /** gas */
  readonly y: number;
}

/** An execution's gas over that of a lane whose gas does not depend on the model's size. */
export function crossings(
  executions: readonly ExecutionPoint[],
  flat: ReadonlyMap<string, number>,
): Crossing[] {
  const xs = executions.map((point) => point.multiplications);
  const forms = { execution: "interpreted", "execution, compiled": "compiled" } as const;
  return Object.entries(forms).flatMap(([form, key]) =>
    [...flat].flatMap(([lane, gas]) => {
      const gases = executions.map((point) => point[key]);
      const x = crossing(
        xs,
        gases,
        xs.map(() => gas),
      );
      return x === undefined ? [] : [{ name: `${form} = ${lane}`, x, y: gas }];
    }),
  );
}

/** Gas per result of the lanes that execute nothing on chain. */
export function flatLanes({
  bondGas,
  proofRequestGas,
  settleGas,
  batchGasEach,
}: LaneExtras): Map<string, number> {
  return new Map([
    ["Groth16", proofRequestGas + settleGas],
    ["Groth16, eight at once", proofRequestGas + batchGasEach],
    ["bond", bondGas.request + bondGas.claim + bondGas.finalize],
  ]);
}

/** @param largest multiply-accumulates of the largest circuit, where Groth16's lines end */
export function gasChart(executions: readonly ExecutionPoint[], largest: number, lanes: LaneExtras): string {
  const flat = flatLanes(lanes);
  const xs = executions.map((point) => point.multiplications);
  const [least, most] = [Math.min(...xs), Math.max(...xs)];
  const lowest = Math.min(...flat.values());
  const colors = ["#b5541a", "#d59a2a", "#5b6770"];
  const chart: Chart = {
    title: "Gas of one result, without set-up",
    xLabel: "multiply-accumulates",
    yLabel: "gas",
    series: [
      {
        name: "execution",
        color: "#1f5fa8",
        points: executions.map((point) => [point.multiplications, point.interpreted] as const),
      },
      {
        name: "execution, compiled",
        color: "#2a9d6e",
        points: executions.map((point) => [point.multiplications, point.compiled] as const),
      },
      ...[...flat].map(([name, gas], i) => ({
        name,
        color: colors[i] as string,
        points: [
          [least, gas],
          [name === "bond" ? most : largest, gas],
        ] as const,
      })),
    ],
    // The two lowest lanes are close to each other.
    marks: crossings(executions, flat).flatMap(({ x, y }) => {
      // The two lowest lanes are close to each other.
      const side = y === lowest ? "below" : "above";
      const name = Math.round(x).toLocaleString("en-US");
      // Beyond the largest circuit Groth16's gas is not measured.
      return x > largest && y !== flat.get("bond") ? [] : [{ name, x, y, side }];
    }),
  };
  return renderChart(chart);
}
