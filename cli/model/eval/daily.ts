/** Pinball skill of the daily quantile forecasts; the rule is the metric in eval.json of each forecast model. */

import { encodeInput } from "../../../inference/codecs/input.ts";
import { decodeOutput } from "../../../inference/codecs/output.ts";
import { execute } from "../../../inference/executor/execute.ts";
import { csvRows, rounded, scaledDecimal } from "./numbers.ts";
import { type Evaluation, type EvaluationContext, numbersOf } from "./types.ts";

interface Series {
  readonly file: string;
  readonly date: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
}

const SERIES: Readonly<Record<string, Series>> = {
  "forecast-vix": { file: "vix/vix-daily.csv", date: "DATE", high: "HIGH", low: "LOW", close: "CLOSE" },
  "forecast-btc": {
    file: "btc_daily/coin_Bitcoin.csv",
    date: "Date",
    high: "High",
    low: "Low",
    close: "Close",
  },
  "forecast-eth": { file: "eth_daily/eth_price.csv", date: "time", high: "high", low: "low", close: "close" },
};
const LEVELS = [0.1, 0.5, 0.9] as const;
const DAYS = 64;

export function evaluateDaily(context: EvaluationContext): Evaluation {
  const { evaluation, prepared } = context;
  const series = SERIES[context.name] as Series;
  const first = (evaluation.data as { first_date?: string | null }).first_date ?? "";
  const rows = csvRows(context.file(series.file))
    .filter((row) => (row[series.date] ?? "").slice(0, 10) >= first)
    .map((row) =>
      [series.close, series.high, series.low].map((column) => scaledDecimal(row[column], 10_000)),
    );
  const { program, selector } = prepared;
  const last = rows.length - 1 - DAYS;
  const from = Math.floor(0.7 * last);
  const reference = evaluation.unconditional_ppm as readonly number[];
  const losses = [0, 0, 0];
  const base = [0, 0, 0];
  for (let w = from; w < last; w++) {
    const window = rows.slice(w, w + DAYS + 1);
    const [closes = [], highs = [], lows = []] = [0, 1, 2].map((k) =>
      window.map((row) => BigInt(row[k] ?? 0)),
    );
    const calldata = encodeInput(program, selector, { codec: "prices", closes, highs, lows });
    const quantiles = decodeOutput(program, execute(prepared, calldata)).data;
    const now = rows[w + DAYS]?.[0] ?? 0;
    const y = (1e6 * ((rows[w + DAYS + 1]?.[0] ?? 0) - now)) / now;
    LEVELS.forEach((p, k) => {
      losses[k] = (losses[k] ?? 0) + pinball(p, y - (quantiles[k] ?? 0));
      base[k] = (base[k] ?? 0) + pinball(p, y - (reference[k] ?? 0));
    });
  }
  const sum = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0);
  const count = last - from;
  const metrics = {
    skill: rounded(100 * (1 - sum(losses) / sum(base)), 3),
    pinball10: rounded((losses[0] ?? 0) / count, 1),
    pinball50: rounded((losses[1] ?? 0) / count, 1),
    pinball90: rounded((losses[2] ?? 0) / count, 1),
  };
  return { count, metrics, stated: numbersOf(evaluation.test, "skill") };
}

const pinball = (p: number, d: number): number => Math.max(p * d, (p - 1) * d);
