import { describe, expect, it } from "vitest";
import { type Chart, renderChart } from "../../../bench/lanes/chart.ts";

const CHART: Chart = {
  title: "Gas",
  xLabel: "size",
  yLabel: "gas",
  series: [
    {
      name: "a < b",
      color: "#123456",
      points: [
        [10, 100],
        [1_000, 10_000],
      ],
    },
  ],
  marks: [{ name: "here", x: 100, y: 1_000, side: "above" }],
};

describe("renderChart", () => {
  it("default: the line goes from corner to corner and the mark is in its middle", () => {
    const svg = renderChart(CHART);
    const numbers = (pattern: RegExp): number[] => (pattern.exec(svg)?.slice(1) ?? []).map(Number);
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = numbers(/points="([\d.]+),([\d.]+) ([\d.]+),([\d.]+)"/);
    const [x, y] = numbers(/cx="([\d.]+)" cy="([\d.]+)"/);
    expect(x2).toBeGreaterThan(x1);
    expect(y2).toBeLessThan(y1);
    expect(x).toBeCloseTo((x1 + x2) / 2, 0);
    expect(y).toBeCloseTo((y1 + y2) / 2, 0);
  });

  it("behavior: names are escaped", () => {
    const svg = renderChart(CHART);
    expect(svg).toContain(">a &lt; b</text>");
    expect(svg).not.toContain("a < b");
  });

  it("behavior: every element is closed", () => {
    const svg = renderChart(CHART);
    const opened = [...svg.matchAll(/<(\w+)(?:\s[^>]*[^/>])?>/g)].map(([, name]) => name);
    const closed = [...svg.matchAll(/<\/(\w+)>/g)].map(([, name]) => name);
    expect(opened.sort()).toEqual(closed.sort());
  });

  it("error: no points, or values without a logarithm", () => {
    expect(() => renderChart({ ...CHART, series: [] })).toThrow(RangeError);
    expect(() => renderChart({ ...CHART, series: [{ name: "", color: "", points: [[0, 1]] }] })).toThrow(
      "A logarithmic chart needs points, and values above 0.",
    );
  });
});
