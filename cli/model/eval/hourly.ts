/** MSE and MAE of the hourly forecast on ETTh1; the rule is `metric` in models/forecast-hourly/eval.json. */

import { encodeInput } from "../../../inference/codecs/input.ts";
import { decodeOutput } from "../../../inference/codecs/output.ts";
import { execute } from "../../../inference/executor/execute.ts";
import { csvRows, rounded, scaledDecimal } from "./numbers.ts";
import { type Evaluation, type EvaluationContext, numbersOf } from "./types.ts";

export const CHANNELS = ["HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT"] as const;
/** Of a window and its forecast; first hours of the first and the last test forecast. */
export const [HOURS, HORIZON, FIRST, LAST] = [512, 96, 11_520, 14_304];
const UNIT = 100;

export function evaluateHourly(context: EvaluationContext): Evaluation {
  const { evaluation, prepared } = context;
  const { program, selector } = prepared;
  const rows = csvRows(context.file("ett/ETTh1.csv"));
  const raw = rows.map((row) => CHANNELS.map((c) => Number(row[c])));
  const integers = rows.map((row) => CHANNELS.map((c) => scaledDecimal(row[c], UNIT)));
  const { std } = evaluation.zscore as { std: readonly number[] };
  let squared = 0;
  let absolute = 0;
  let elements = 0;
  for (let t = FIRST; t <= LAST; t++) {
    const calldata = encodeInput(program, selector, {
      codec: "int16s",
      int16s: integers.slice(t - HOURS, t).flat(),
    });
    const forecast = decodeOutput(program, execute(prepared, calldata)).data;
    for (let h = 0; h < HORIZON; h++) {
      for (let c = 0; c < CHANNELS.length; c++) {
        const value = (forecast[h * CHANNELS.length + c] ?? Number.NaN) / UNIT;
        const d = (value - (raw[t + h]?.[c] ?? Number.NaN)) / (std[c] ?? Number.NaN);
        squared += d * d;
        absolute += Math.abs(d);
        elements++;
      }
    }
  }
  const metrics = { mse: rounded(squared / elements, 5), mae: rounded(absolute / elements, 5) };
  return { count: LAST - FIRST + 1, metrics, stated: numbersOf(evaluation.test, "mse", "mae") };
}
