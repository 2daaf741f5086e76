/** MSE and MAE of forecast-ezkl on ETTh1: of its float file by onnxruntime, and what ezkl's fixed point changes on some of
 *  the windows; the rule is `metric` in models/forecast-ezkl/eval.json. */
import { existsSync } from "node:fs";
import { fromHex } from "../../../base/bytes.ts";
import { RuntimePool } from "../../../inference/runtime/pool.ts";
import { loadProofModel, type ProofModel } from "../../../prover/proof/ezkl/folder.ts";
import { pythonOf } from "../../../prover/proof/ezkl/install.ts";
import { encodeCalldata, outputNumbers } from "../../../prover/proof/ezkl/instances.ts";
import type { EzklOptions } from "../../../prover/proof/ezkl/keys.ts";
import { runEzkl } from "../../../prover/proof/ezkl/prove.ts";
import { ezklMissing } from "../../../prover/proof/ezkl/worker.ts";
import { CHANNELS, FIRST, HORIZON, HOURS, LAST } from "./hourly.ts";
import { csvRows, rounded, scaledDecimal } from "./numbers.ts";
import { type DataContext, type Evaluation, numbersOf } from "./types.ts";

/** Calldata's steps in a raw unit. */
const STEPS = 128;
/** Raw units in the model's own. */
const UNIT = 64;
/** Windows for ezkl, spread over the test; each channel in turn. */
const PROVEN_WINDOWS = 56;
/** Runs under way at once. */
const CHUNK = 512;

interface Window {
  /** 512 numbers of calldata */
  readonly numbers: readonly number[];
  /** 96 raw values */
  readonly truth: readonly number[];
  readonly std: number;
}

/** Sums of squared and absolute z-scored errors. */
class Errors {
  #squared = 0;
  #absolute = 0;
  #count = 0;

  /** @param forecast raw values */
  add({ truth, std }: Window, forecast: readonly number[]): void {
    for (const [h, value] of truth.entries()) {
      const d = ((forecast[h] ?? Number.NaN) - value) / std;
      this.#squared += d * d;
      this.#absolute += Math.abs(d);
      this.#count++;
    }
  }

  get mse(): number {
    return this.#squared / this.#count;
  }

  get mae(): number {
    return this.#absolute / this.#count;
  }
}

export async function evaluateEzkl(
  folder: string,
  context: DataContext,
  ezkl: EzklOptions,
): Promise<Evaluation> {
  const model = loadProofModel(folder);
  const { evaluation } = context;
  const windows = windowsOf(context);
  const forecasts = await runFloat(model, windows);
  const whole = new Errors();
  for (const [i, window] of windows.entries()) whole.add(window, forecasts[i] as number[]);
  const metrics = { mse: rounded(whole.mse, 5), mae: rounded(whole.mae, 5) };
  const stated = numbersOf(evaluation.float, "mse", "mae");
  const python = pythonOf(ezkl.folder);
  if (!existsSync(python)) {
    const notes = [`fixed point skipped: ${ezklMissing(python).message}`];
    return { count: windows.length, metrics, stated, notes };
  }
  const loss = await fixedPointLoss(model, windows, forecasts, ezkl);
  return { count: windows.length, metrics: { ...metrics, ...loss }, stated };
}

/** All test windows, each channel by itself. */
function windowsOf({ evaluation, file }: DataContext): Window[] {
  const rows = csvRows(file("ett/ETTh1.csv"));
  const { std } = evaluation.zscore as { std: readonly number[] };
  return CHANNELS.flatMap((name, c) => {
    const raw = rows.map((row) => Number(row[name]));
    // Hundredths are exact; a step is 1/128, rounded half away from zero.
    const numbers = rows.map((row) => {
      const steps = (scaledDecimal(row[name], 100) * STEPS) / 100;
      return Math.sign(steps) * Math.floor(Math.abs(steps) + 0.5);
    });
    return Array.from({ length: LAST - FIRST + 1 }, (_, i) => ({
      numbers: numbers.slice(FIRST + i - HOURS, FIRST + i),
      truth: raw.slice(FIRST + i, FIRST + i + HORIZON),
      std: std[c] ?? Number.NaN,
    }));
  });
}

/** Raw forecasts of the float file. @throws Error when onnxruntime does not run it */
async function runFloat(model: ProofModel, windows: readonly Window[]): Promise<number[][]> {
  const [input, output] = [model.manifest.assay.inputs[0], model.manifest.assay.outputs[0]];
  if (input === undefined || output === undefined) throw new Error("the model has no tensors");
  const port = ({ name, dims }: typeof input) => ({ name, type: "f32" as const, dims });
  const source = { model: "float", onnx: model.onnx, inputs: [port(input)], output: port(output) };
  const pool = new RuntimePool();
  try {
    const forecasts: number[][] = [];
    for (let at = 0; at < windows.length; at += CHUNK) {
      const runs = windows
        .slice(at, at + CHUNK)
        .map(({ numbers }) => pool.run(source, [Float32Array.from(numbers, (n) => n / (STEPS * UNIT))]));
      for (const result of await Promise.all(runs)) {
        if ("failure" in result)
          throw new Error(`onnxruntime does not run the float file: ${result.failure}`);
        forecasts.push(Array.from(result.output, (value) => Number(value) * UNIT));
      }
    }
    return forecasts;
  } finally {
    pool.close();
  }
}

async function fixedPointLoss(
  model: ProofModel,
  windows: readonly Window[],
  forecasts: readonly (readonly number[])[],
  ezkl: EzklOptions,
): Promise<Record<string, number>> {
  // Channels follow each other, so windows at equal distances are of all of them.
  const step = windows.length / PROVEN_WINDOWS;
  const chosen = Array.from({ length: PROVEN_WINDOWS }, (_, i) => Math.floor(i * step));
  const selector = fromHex(model.manifest.assay.selector);
  const calldata = chosen.map((i) => encodeCalldata(selector, (windows[i] as Window).numbers));
  const outputs = await runEzkl(ezkl, model, calldata);
  const [float, fixed] = [new Errors(), new Errors()];
  let largest = 0;
  for (const [at, i] of chosen.entries()) {
    const window = windows[i] as Window;
    const proven = outputNumbers(outputs[at] as Uint8Array).map((number) => Number(number) / STEPS);
    const real = forecasts[i] as readonly number[];
    float.add(window, real);
    fixed.add(window, proven);
    for (const [h, value] of proven.entries())
      largest = Math.max(largest, Math.abs(value - (real[h] ?? Number.NaN)));
  }
  return {
    fixed_point_windows: chosen.length,
    fixed_point_loss_mse: rounded(fixed.mse - float.mse, 7),
    fixed_point_loss_mae: rounded(fixed.mae - float.mae, 7),
    fixed_point_largest_difference: rounded(largest, 5),
  };
}
