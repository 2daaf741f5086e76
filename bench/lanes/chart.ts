/** A line chart with logarithmic axes, as SVG. */

export interface Series {
  readonly name: string;
  readonly color: string;
  /** x rising, both above 0 */
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Chart {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly series: readonly Series[];
  readonly marks: readonly Mark[];
}

/** A point with its name to the upper left or lower right. */
export interface Mark {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly side: "above" | "below";
}

const SIZE = { width: 760, height: 460 };
const FRAME = { left: 70, right: 170, top: 40, bottom: 55 };

/** @throws RangeError for a chart without points, or with values that have no logarithm */
export function renderChart({ title, xLabel, yLabel, series, marks }: Chart): string {
  const points = series.flatMap((one) => one.points);
  if (points.length === 0 || points.flat().some((value) => !(value > 0))) {
    throw new RangeError("A logarithmic chart needs points, and values above 0.");
  }
  const x = axis(
    points.map(([value]) => value),
    FRAME.left,
    SIZE.width - FRAME.right,
  );
  const y = axis(
    points.map(([, value]) => value),
    SIZE.height - FRAME.bottom,
    FRAME.top,
  );
  const [left, right, top, bottom] = [
    FRAME.left,
    SIZE.width - FRAME.right,
    FRAME.top,
    SIZE.height - FRAME.bottom,
  ];
  const middle = (left + right) / 2;
  const half = (top + bottom) / 2;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${SIZE.width}" height="${SIZE.height}" fill="#fff"/>`,
    text(middle, 22, title, `text-anchor="middle" font-size="15"`),
    text(middle, SIZE.height - 12, xLabel, `text-anchor="middle"`),
    text(18, half, yLabel, `text-anchor="middle" transform="rotate(-90 18 ${half})"`),
    ...x.decades.flatMap((value) => [
      line(x.at(value), top, x.at(value), bottom, "#ddd"),
      text(x.at(value), bottom + 18, power(value), `text-anchor="middle"`),
    ]),
    ...y.decades.flatMap((value) => [
      line(left, y.at(value), right, y.at(value), "#ddd"),
      text(left - 8, y.at(value) + 4, power(value), `text-anchor="end"`),
    ]),
    ...series.flatMap(({ name, color, points: own }) => {
      const path = own.map(([px, py]) => `${round(x.at(px))},${round(y.at(py))}`).join(" ");
      const [endX, endY] = own[own.length - 1] as readonly [number, number];
      return [
        `<polyline points="${path}" fill="none" stroke="${color}" stroke-width="2"/>`,
        text(x.at(endX) + 8, y.at(endY) + 4, name, `fill="${color}"`),
      ];
    }),
    ...marks.flatMap(({ name, x: px, y: py, side }) => [
      `<circle cx="${round(x.at(px))}" cy="${round(y.at(py))}" r="4" fill="#222"><title>${escaped(name)}</title></circle>`,
      side === "above"
        ? text(x.at(px) - 6, y.at(py) - 8, name, `text-anchor="end" font-size="11"`)
        : text(x.at(px) + 6, y.at(py) + 16, name, `font-size="11"`),
    ]),
    "</svg>",
    "",
  ].join("\n");
}

/** Whole decades around the values, on a line from one coordinate to another. */
function axis(values: readonly number[], from: number, to: number) {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  const decades = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
  const at = (value: number): number => from + ((Math.log10(value) - low) / (high - low)) * (to - from);
  return { decades, at };
}

const round = (value: number): number => Math.round(value * 10) / 10;
const power = (value: number): string => value.toLocaleString("en-US");
const escaped = (content: string): string =>
  content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
const text = (x: number, y: number, content: string, attributes: string): string =>
  `<text x="${round(x)}" y="${round(y)}" ${attributes}>${escaped(content)}</text>`;
const line = (x1: number, y1: number, x2: number, y2: number, color: string): string =>
  `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" stroke="${color}"/>`;
