import { useCallback } from "react";
import type { Overview } from "../../../api/types.ts";
import { Chart } from "../../parts/plot.tsx";

const LANES = ["EXECUTION", "PROOF", "BOND"] as const;
const HEIGHT = 190;
/** Fewer days make no history. */
const LEAST_DAYS = 2;

/** Days as they went: final outputs by lane, and claims that fell. */
export function History({ data: { days } }: { readonly data: Overview }) {
  const finals = useCallback(
    (plot: typeof import("@observablehq/plot")) => ({
      height: HEIGHT,
      marginLeft: 48,
      x: { type: "utc" as const, label: null },
      y: { label: "final outputs", grid: true },
      color: {
        domain: LANES.map((lane) => lane.toLowerCase()),
        range: LANES.map((lane) => `var(--lane-${lane.toLowerCase()})`),
        legend: true,
      },
      marks: [
        plot.rectY(
          days.flatMap(({ day, finalByLane }) =>
            LANES.map((lane) => ({
              day: new Date(1_000 * day),
              lane: lane.toLowerCase(),
              count: finalByLane[lane],
            })),
          ),
          { x: "day", y: "count", fill: "lane", interval: "day" },
        ),
        plot.ruleY([0]),
      ],
    }),
    [days],
  );
  const honesty = useCallback(
    (plot: typeof import("@observablehq/plot")) => ({
      height: HEIGHT,
      marginLeft: 48,
      x: { type: "utc" as const, label: null },
      y: { label: "claims", grid: true },
      color: { domain: ["made", "fell"], range: ["var(--accent)", "var(--bad)"], legend: true },
      marks: [
        ...(["claims", "falls"] as const).map((kind) =>
          plot.lineY(
            days.map((each) => ({
              day: new Date(1_000 * each.day),
              count: each[kind],
              kind: kind === "claims" ? "made" : "fell",
            })),
            { x: "day", y: "count", stroke: "kind", strokeWidth: 2, marker: true },
          ),
        ),
        plot.ruleY([0]),
      ],
    }),
    [days],
  );
  const batched = useCallback(
    (plot: typeof import("@observablehq/plot")) => ({
      height: HEIGHT,
      marginLeft: 48,
      x: { type: "utc" as const, label: null },
      y: { label: "outputs posted", grid: true },
      marks: [
        plot.rectY(
          days.map(({ day, leaves }) => ({ day: new Date(1_000 * day), leaves })),
          { x: "day", y: "leaves", fill: "var(--lane-batched)", interval: "day" },
        ),
        plot.ruleY([0]),
      ],
    }),
    [days],
  );
  if (days.length < LEAST_DAYS) return null;
  return (
    <section className="sheet" aria-labelledby="history">
      <h2 id="history">By day</h2>
      <div className="columns">
        <Chart label="Final outputs of each day, by lane" options={finals} />
        <Chart label="Claims made and claims that fell, each day" options={honesty} />
        {days.some(({ leaves }) => leaves > 0) && (
          <Chart label="Outputs posted in batches, each day" options={batched} />
        )}
      </div>
    </section>
  );
}
