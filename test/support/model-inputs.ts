/** Inputs such as users give to the shipped models and to the bench's task. */
import { join } from "node:path";
import { concatBytes } from "../../base/bytes.ts";
import { MLP_SIGNATURE, mlpInput, mlpModel } from "../../bench/tasks/mlp.ts";
import { type CodecInput, encodeInput } from "../../inference/codecs/input.ts";
import { commitWeights } from "../../inference/commit/commitments.ts";
import { keccak256 } from "../../inference/commit/keccak.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import type { PreparedModel } from "../../inference/executor/prepared-model.ts";
import { loadModelFolder } from "../../inference/model-folder.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import type { Program } from "../../inference/program/form.ts";
import { projectRoot } from "../../tools/foundry.ts";
import type { Rng } from "./rng.ts";

export const MLP = "mlp";
/** Names of folders below models/ that hold a program. */
export const SHIPPED = [
  "forecast-btc",
  "forecast-eth",
  "forecast-vix",
  "forecast-hourly",
  "sentiment",
  "sentiment-words",
] as const;

const WORDS =
  "the of in to a and on for as its at by from with up after stock shares price target market profit loss Q3 Q4 earnings sales revenue beats misses raises cuts guidance outlook analyst buy sell hold upgrade downgrade $AAPL $TSLA $NVDA Apple Tesla Fed ECB inflation rates bank oil gold euro dollar record high low jumps slips falls rises surges plunges 5% 12% $3.2B $450M dividend buyback merger deal probe lawsuit CEO board stake fund growth demand supply chips cloud AI https://t.co/x9".split(
    " ",
  );

/** Headlines and tweets: frequent words first, as in a language. */
function text(rng: Rng, size: number): Uint8Array {
  const word = () => WORDS[Math.floor(WORDS.length ** (rng.int(0, 2 ** 20) / 2 ** 20)) - 1] ?? "the";
  const words = Array.from({ length: rng.int(4, 26) }, word);
  return new TextEncoder().encode(words.join(" ")).subarray(0, size);
}

/** A random walk of daily prices with a volatility between 0.3 and 6 %. */
function prices(rng: Rng, n: number) {
  const volatility = rng.int(3, 60) / 1000;
  const unit = () => (rng.int(-1000, 1000) + rng.int(-1000, 1000) + rng.int(-1000, 1000)) / 1000;
  let close = rng.int(10_000, 900_000_000);
  const days = Array.from({ length: n }, () => {
    close = Math.max(1, Math.round(close * (1 + volatility * unit())));
    const [up, down] = [Math.abs(unit()), Math.abs(unit())];
    const high = Math.round(close * (1 + volatility * up));
    return [close, high, Math.max(0, Math.round(close * (1 - volatility * down)))] as const;
  });
  const list = (i: 0 | 1 | 2) => days.map((day) => BigInt(day[i]));
  return { closes: list(0), highs: list(1), lows: list(2) };
}

/** Hourly channels with a daily period, a drift and noise, in hundredths. */
function int16s(rng: Rng, size: number): number[] {
  const channels = Array.from({ length: 7 }, () => ({
    level: rng.int(-500, 2500),
    swing: rng.int(20, 900),
    phase: rng.int(0, 23),
    drift: rng.int(-200, 200) / 512,
  }));
  return Array.from({ length: size }, (_, i) => {
    const [hour, c] = [Math.floor(i / 7), channels[i % 7] as (typeof channels)[number]];
    const daily = c.swing * Math.sin((2 * Math.PI * (hour + c.phase)) / 24);
    return Math.round(c.level + daily + c.drift * hour + rng.int(-c.swing, c.swing) / 4);
  });
}

export function realInput(rng: Rng, program: Program, selector: Uint8Array): Uint8Array {
  return encodeInput(program, selector, content(rng, program));
}

function content(rng: Rng, { inputCodec, inputSize }: Program): CodecInput {
  switch (inputCodec) {
    case "text":
      return { codec: "text", text: text(rng, inputSize) };
    case "prices":
      return { codec: "prices", ...prices(rng, inputSize) };
    case "int16s":
      return { codec: "int16s", int16s: int16s(rng, inputSize) };
    case "raw":
      return { codec: "raw", bytes: mlpInput(rng) };
  }
}

export interface RunnableModel {
  readonly name: string;
  readonly prepared: PreparedModel;
  readonly program: Uint8Array;
  /** The stream of all weight rows. */
  readonly weights: Uint8Array;
  readonly weightsRoot: Uint8Array;
  run(input: Uint8Array): Uint8Array;
}

/** @param name of a shipped model, or MLP */
export function runnableModel(name: string): RunnableModel {
  const { model, selector } =
    name === MLP
      ? {
          model: mlpModel().model,
          selector: keccak256(new TextEncoder().encode(MLP_SIGNATURE)).subarray(0, 4),
        }
      : loadModelFolder(join(projectRoot, "models", name));
  const prepared = prepare(model, selector);
  return {
    name,
    prepared,
    program: encodeProgram(model.program),
    weights: concatBytes(...model.weights),
    weightsRoot: commitWeights(model).root,
    run: (input) => execute(prepared, input),
  };
}
