import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import type { Hex } from "../../../../base/bytes.ts";
import { Chart } from "../../parts/plot.tsx";
import { Answered } from "../../parts/states.tsx";
import { tensorQuery } from "../../verify/client.ts";
import type { StepSheet } from "../../verify/steps.ts";
import type { TensorSheet } from "../../verify/worker.ts";

type PlotModule = typeof import("@observablehq/plot");

/** A row of more numbers is drawn in several lines. */
const WIDEST = 64;
/** More numbers are not drawn: nobody could tell them apart. */
const MOST = 20_000;
const SHOWN_NUMBERS = 24;

/** A step's tensor in one run: a cell for each number, rows of the tensor from top to bottom. */
export function Heat({
  model,
  input,
  step,
}: {
  readonly model: string;
  readonly input: Hex;
  readonly step: StepSheet;
}) {
  return (
    <Answered of={useQuery(tensorQuery(model, input, step.index))}>
      {(tensor) => <Drawn step={step.index} tensor={tensor} />}
    </Answered>
  );
}

function Drawn({ step, tensor: { values, dims } }: { readonly step: number; readonly tensor: TensorSheet }) {
  const last = Math.min(WIDEST, dims.at(-1) ?? 1);
  const size = Math.max(1, ...values.map(Math.abs).filter(Number.isFinite));
  const options = useCallback(
    (plot: PlotModule, width: number) => {
      const rows = Math.ceil(values.length / last);
      const cell = Math.min(28, Math.max(2, Math.floor(width / last)));
      return {
        width: cell * last,
        height: cell * rows,
        margin: 0,
        axis: null,
        x: { type: "band" as const, padding: 0 },
        y: { type: "band" as const, padding: 0 },
        opacity: { domain: [0, size], range: [0.06, 1] },
        marks: [
          plot.cell(values, {
            x: (_, i) => i % last,
            y: (_, i) => Math.floor(i / last),
            fill: (value: number) => (value < 0 ? "var(--bad)" : "var(--accent)"),
            fillOpacity: (value: number) => Math.abs(value),
            title: (value: number, i: number) => `element ${i}: ${value}`,
          }),
        ],
      };
    },
    [values, last, size],
  );
  return (
    <>
      {values.length <= MOST && (
        <Chart label={`The ${values.length} numbers of step ${step}`} options={options} />
      )}
      <p className="small soft">
        {values.length} numbers; the largest size is {size}. Green is above 0, red below; the stronger, the
        larger.
      </p>
      <p className="mono small">
        {values.slice(0, SHOWN_NUMBERS).join(", ")}
        {values.length > SHOWN_NUMBERS && ", …"}
      </p>
    </>
  );
}
