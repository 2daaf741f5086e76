import { useCallback } from "react";
import { Outside } from "../../parts/outside.tsx";
import { Chart } from "../../parts/plot.tsx";
import { type EvaluationFigure, figuresOf } from "./evaluation-figures.ts";

type PlotModule = typeof import("@observablehq/plot");

/** What the model scores, as its eval.json says, in charts. */
export function Evaluation({ of }: { readonly of: Readonly<Record<string, unknown>> }) {
  const figures = figuresOf(of);
  return (
    <section className="sheet" aria-labelledby="evaluation">
      <h2 id="evaluation">How good it is</h2>
      {figures.length === 0 ? (
        <p className="soft">eval.json has nothing that is drawn here.</p>
      ) : (
        <div className="columns">
          {figures.map((figure) => (
            <figure key={figure.title} className="stack near">
              <figcaption>
                <Outside text={figure.title} />
                {figure.note !== undefined && (
                  <span className="small soft block">
                    <Outside text={figure.note} />
                  </span>
                )}
              </figcaption>
              <Drawn figure={figure} />
            </figure>
          ))}
        </div>
      )}
      <details>
        <summary className="small soft">eval.json, whole</summary>
        <pre className="code">
          <Outside text={JSON.stringify(of, undefined, 1)} />
        </pre>
      </details>
    </section>
  );
}

function Drawn({ figure }: { readonly figure: EvaluationFigure }) {
  switch (figure.kind) {
    case "confusion":
      return <Confusion figure={figure} />;
    case "bars":
      return <Bars figure={figure} />;
    case "coverage":
      return <Coverage figure={figure} />;
  }
}

function Confusion({ figure }: { readonly figure: Extract<EvaluationFigure, { kind: "confusion" }> }) {
  const options = useCallback(
    (plot: PlotModule) => ({
      height: 76 + 56 * figure.classes.length,
      marginBottom: 46,
      marginLeft: 72,
      x: { label: "the model says", domain: figure.classes },
      y: { label: "it is", domain: figure.classes },
      // Numbers stand on it: it never gets so strong that they cannot be read.
      opacity: { domain: [0, 1], range: [0, 0.45] },
      marks: [
        plot.cell(figure.cells, {
          x: "answered",
          y: "is",
          fill: "var(--accent)",
          fillOpacity: "share",
          inset: 1,
          rx: 3,
        }),
        plot.text(figure.cells, {
          x: "answered",
          y: "is",
          text: (cell) => `${cell.count}`,
          fontSize: 13,
          fill: "var(--ink)",
        }),
      ],
    }),
    [figure],
  );
  return <Chart label={`${figure.title}: rows are classes, columns what the model says`} options={options} />;
}

function Bars({ figure }: { readonly figure: Extract<EvaluationFigure, { kind: "bars" }> }) {
  const options = useCallback(
    (plot: PlotModule) => ({
      height: 44 + 44 * figure.bars.length,
      marginLeft: 4,
      marginRight: 56,
      x: {
        label: figure.unit,
        axis: null,
        domain: [
          Math.min(0, ...figure.bars.map(({ value }) => value)),
          Math.max(0, ...figure.bars.map(({ value }) => value)),
        ],
      },
      y: { axis: null, domain: figure.bars.map(({ name }) => name), paddingInner: 0.55, paddingOuter: 0.5 },
      marks: [
        plot.barX(figure.bars, {
          x: "value",
          y: "name",
          fill: (bar) => (bar.isOwn ? "var(--accent)" : "var(--line-strong)"),
          rx: 2,
        }),
        plot.text(figure.bars, {
          x: 0,
          y: "name",
          text: "name",
          textAnchor: "start",
          dy: -17,
          fill: "var(--ink-soft)",
        }),
        plot.text(figure.bars, {
          x: "value",
          y: "name",
          text: (bar) => `${bar.value}`,
          textAnchor: "start",
          dx: 6,
          fill: "var(--ink)",
        }),
        plot.ruleX([0], { stroke: "var(--line-strong)" }),
      ],
    }),
    [figure],
  );
  const words = figure.bars.map(({ name, value }) => `${name} ${value}`).join(", ");
  return <Chart label={`${figure.title}: ${words}`} options={options} />;
}

function Coverage({ figure }: { readonly figure: Extract<EvaluationFigure, { kind: "coverage" }> }) {
  const options = useCallback(
    (plot: PlotModule) => ({
      height: 240,
      marginLeft: 48,
      x: { domain: [0, 1], label: "quantile that is forecast", ticks: [0, 0.1, 0.5, 0.9, 1], percent: true },
      y: { domain: [0, 1], label: "share of days below it", grid: true, percent: true },
      marks: [
        plot.line(
          [
            [0, 0],
            [100, 100],
          ],
          { stroke: "var(--line-strong)", strokeDasharray: "3 3" },
        ),
        plot.dot(figure.points, { x: "nominal", y: "found", r: 6, fill: "var(--accent)" }),
      ],
    }),
    [figure],
  );
  const words = figure.points.map(({ nominal, found }) => `${nominal}: ${found}`).join(", ");
  return <Chart label={`${figure.title}: ${words}`} options={options} />;
}
