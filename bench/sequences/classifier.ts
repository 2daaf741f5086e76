/** sentiment-transformer as a program of integers: its size, what a run takes here and in onnxruntime, and a dispute. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { encodeInput } from "../../inference/codecs/input.ts";
import { commitTrace } from "../../inference/commit/commitments.ts";
import { readGguf } from "../../inference/derive/gguf.ts";
import { derive, familyOf } from "../../inference/derive/recipe.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { proveProfile } from "../../inference/profile/prove.ts";
import { PieceText } from "../../inference/text/piece-text.ts";
import { SELECTOR } from "../chain.ts";
import { LENGTH, TEXT } from "../derived.ts";
import type { Measured } from "../report.ts";
import { leastByOnnxruntime } from "./by-onnxruntime.ts";
import { addDispute, lastProduct } from "./dispute.ts";
import {
  evaluated,
  inMilliseconds,
  inPercent,
  inSeconds,
  leastTime,
  MIB,
  ModelFigures,
  timed,
} from "./measured.ts";

const FOLDER = "models/sentiment-transformer";
const RUNS = 10;

export async function measureClassifier(): Promise<Measured> {
  const file = readGguf(new Uint8Array(readFileSync(join(FOLDER, "weights.gguf"))));
  const scales = JSON.parse(readFileSync(join(FOLDER, "scales.json"), "utf8"));
  const family = familyOf(file);
  if (family !== "bert") throw new Error(`${FOLDER} is of the family ${family}.`);
  const derived = timed(() => derive({ family, lengths: { text: LENGTH }, scales }, file));
  const { model, nodes, text } = derived.result;
  if ("without" in text) throw new Error(text.without);
  const proven = timed(() => proveProfile(model, nodes));
  const prepared = prepare(model, SELECTOR);
  const input = { codec: "int16s", int16s: new PieceText(text.files, LENGTH).int16s(TEXT) } as const;
  const calldata = encodeInput(model.program, SELECTOR, input);
  const output = execute(prepared, calldata);
  const figures = new ModelFigures(`sentiment-transformer, ${LENGTH} ids`);
  const stated = evaluated(FOLDER);
  figures.atLeast("same class as the float model", stated["as the float model"] ?? 0, inPercent, 98.5);
  figures.atLeast("accuracy on valid", stated.accuracy ?? 0, inPercent, 87.5);
  figures.atLeast("macro-F1 on valid", stated.macro_f1 ?? 0, inPercent, 83.5);
  figures.sizes(model, 220, 10 * MIB);
  figures.add("deriving the program from the file", inSeconds(derived.seconds));
  figures.add("proving its profile, as a node does when it starts", inSeconds(proven.seconds));
  const run = leastTime(RUNS, () => execute(prepared, calldata));
  figures.atMost("a run", run, inMilliseconds, 0.08);
  for (const [threads, most] of [[1], [2, 0.015]] as const) {
    const seconds = await leastByOnnxruntime(prepared, [input, output], { threads, runs: 10 * RUNS });
    figures.atMost(`a run by onnxruntime, threads: ${threads}`, seconds, inMilliseconds, most);
  }
  const committed = leastTime(RUNS, () => commitTrace(model.program, prepared.run(input)));
  figures.atMost("a run and its commitment", committed, inSeconds, 0.5);
  await addDispute(figures, { prepared, input, step: lastProduct(model) }, 800_000);
  return { figures: figures.all, rows: figures.rows("sentiment-transformer") };
}
