// In a browser: draws a chart with logarithmic axes by Observable Plot. draw.ts bundles it and asks for the SVG.
import * as Plot from "@observablehq/plot";

/** Least distance of two names at the ends of lines, pixels. */
const NAME_HEIGHT = 15;
const SIZE = { width: 760, height: 440, marginLeft: 92, marginRight: 150, marginBottom: 46, marginTop: 30 };

/** @param {import("./chart.ts").Chart} chart @returns {string} the SVG as a document */
export function draw({ title, xLabel, yLabel, series, marks }) {
  const points = series.flatMap(({ name, points: own }) => own.map(([x, y]) => ({ name, x, y })));
  const scales = {
    x: axis(points.map(({ x }) => x), xLabel),
    y: axis(points.map(({ y }) => y), yLabel),
    color: { domain: series.map(({ name }) => name), range: series.map(({ color }) => color) },
  };
  const y = Plot.scale({ y: { ...scales.y, range: [SIZE.height - SIZE.marginBottom, SIZE.marginTop] } });
  const ends = series.map(({ name, points: own }) => ({ name, x: own.at(-1)[0], y: own.at(-1)[1] }));
  const places = spread(ends.map((end) => y.apply(end.y)));
  const svg = Plot.plot({
    ...SIZE,
    ...scales,
    style: { background: "#fff", color: "#222", fontFamily: "sans-serif", fontSize: "12px" },
    ariaLabel: title,
    marks: [
      Plot.line(points, { x: "x", y: "y", stroke: "name", strokeWidth: 2 }),
      ...ends.map((end, i) =>
        Plot.text([end], {
          ...{ x: "x", y: "y", text: "name", fill: "name", stroke: "#fff", textAnchor: "start", dx: 8 },
          dy: places[i] - y.apply(end.y),
        }),
      ),
      Plot.dot(marks, { x: "x", y: "y", r: 4, fill: "#222", title: "name" }),
      ...["above", "below"].map((side) =>
        Plot.text(
          marks.filter((mark) => mark.side === side),
          {
            ...{ x: "x", y: "y", text: "name", stroke: "#fff", fill: "#222", fontSize: 11 },
            ...(side === "above" ? { textAnchor: "end", dx: -6, dy: -11 } : { textAnchor: "start", dx: 6, dy: 14 }),
          },
        ),
      ),
      Plot.text([title], { frameAnchor: "top", dy: -24, fontSize: 15, fontWeight: 600 }),
    ],
  });
  return new XMLSerializer().serializeToString(svg);
}

/** Whole decades around the values. */
function axis(values, label) {
  const [low, high] = [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)))];
  const domain = [10 ** low, 10 ** Math.max(high, low + 1)];
  const ticks = Array.from({ length: Math.log10(domain[1] / domain[0]) + 1.5 }, (_, i) => domain[0] * 10 ** i);
  return { type: "log", domain, ticks, tickFormat: (value) => value.toLocaleString("en-US"), label, grid: true };
}

/** Places near these, from the top down, that leave room for a name each. */
function spread(wanted) {
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b]);
  const places = [...wanted];
  for (let round = 0; round < 50; round++)
    for (let i = 1; i < order.length; i++) {
      const [above, below] = [order[i - 1], order[i]];
      const missing = NAME_HEIGHT - (places[below] - places[above]);
      if (missing <= 0) continue;
      places[above] -= missing / 2;
      places[below] += missing / 2;
    }
  return places;
}
