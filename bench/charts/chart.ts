/** A line chart with logarithmic axes, as data: docs/charts/ has those of the documents. */

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

/** The file of a chart.
 *  @throws RangeError for a chart without points, or with values that have no logarithm */
export function renderChart(chart: Chart): string {
  const values = chart.series.flatMap(({ points }) => points).flat();
  if (values.length === 0 || values.some((value) => !(value > 0)))
    throw new RangeError("A logarithmic chart needs points, and values above 0.");
  return `${JSON.stringify(chart, undefined, 2)}\n`;
}
