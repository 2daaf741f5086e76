import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Chart, renderChart } from "../../../bench/charts/chart.ts";
import { projectRoot } from "../../../tools/foundry.ts";

const DOCS = join(projectRoot, "docs");
const CHART: Chart = {
  title: "Gas",
  xLabel: "size",
  yLabel: "gas",
  series: [{ name: "a", color: "#123456", points: [[10, 100]] }],
  marks: [],
};

describe("renderChart", () => {
  it("error: no points, or values without a logarithm", () => {
    expect(() => renderChart({ ...CHART, series: [] })).toThrow(RangeError);
    expect(() => renderChart({ ...CHART, series: [{ name: "", color: "", points: [[0, 1]] }] })).toThrow(
      "A logarithmic chart needs points, and values above 0.",
    );
  });
});

describe("docs/charts", () => {
  const names = readdirSync(join(DOCS, "charts"));
  it.each(names)("behavior: %s is drawn with all of its names", (name) => {
    const chart = JSON.parse(readFileSync(join(DOCS, "charts", name), "utf8")) as Chart;
    expect(renderChart(chart)).toBe(readFileSync(join(DOCS, "charts", name), "utf8"));
    const svg = readFileSync(join(DOCS, name.replace(".json", ".svg")), "utf8");
    const named = [chart.title, chart.xLabel, ...[...chart.series, ...chart.marks].map((one) => one.name)];
    for (const text of named) expect(svg).toContain(text);
    expect(svg).toMatch(/^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
  });
});
