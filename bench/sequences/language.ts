/** SmolLM2 as a program of integers: how long it takes to derive, prove, check and answer, how large its trace is, and a
 *  dispute; beside it llama.cpp, in floats. */
import { readFileSync } from "node:fs";
import { commitTrace } from "../../inference/commit/commitments.ts";
import { readGguf } from "../../inference/derive/gguf.ts";
import { deriveLlama } from "../../inference/derive/llama/derive.ts";
import { findByRows, onePass } from "../../inference/executor/find-output.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import type { RowPlan } from "../../inference/executor/rows/plan.ts";
import { proveProfile } from "../../inference/profile/prove.ts";
import { promptNumbers } from "../../inference/text/ids.ts";
import { SELECTOR } from "../chain.ts";
import { type Measured, megabytes } from "../report.ts";
import { addDispute, lastProduct } from "./dispute.ts";
import { generateByLlamaCpp } from "./llama-cpp.ts";
import { inSeconds, MIB, ModelFigures, timed } from "./measured.ts";

const LENGTHS = { prompt: 256, answer: 32 };
/** "What is the capital of France?" by the chat template, with its own system prompt. */
const PROMPT = [
  1, 9690, 198, 2683, 359, 253, 5356, 5646, 11173, 3365, 3511, 308, 34519, 28, 7018, 411, 407, 19712, 8182, 2,
  198, 1, 4093, 198, 1780, 314, 260, 3575, 282, 4649, 47, 2, 198, 1, 520, 9531, 198,
];
/** The same as long as a prompt can be: what stands in front of it is a text of its own. */
const LONG_PROMPT = [
  ...Array.from({ length: LENGTHS.prompt - PROMPT.length }, (_, i) => PROMPT[i % PROMPT.length] as number),
  ...PROMPT,
];

/** @param path of the file of weights */
export async function measureLanguageModel(path: string): Promise<Measured> {
  const file = readGguf(new Uint8Array(readFileSync(path)));
  const scales: unknown = JSON.parse(readFileSync("models/smollm2/scales.json", "utf8"));
  const derived = timed(() => deriveLlama(file, scales, LENGTHS));
  const { model, nodes } = derived.result;
  const proven = timed(() => proveProfile(model, nodes));
  const prepared = prepare(model, SELECTOR, proven.result);
  const ready = timed(() => prepared.makeReady());
  const planned = timed(() => prepared.rowPlan() as RowPlan);
  const input = { codec: "int16s", int16s: promptNumbers(LONG_PROMPT, LENGTHS.prompt) } as const;
  // A first run fills memory and lets code be compiled.
  const answer = findByRows(prepared, planned.result, input);
  const seen: number[] = [];
  const began = performance.now();
  findByRows(prepared, planned.result, input, () => seen.push((performance.now() - began) / 1000));
  const checked = timed(() => onePass(prepared, input, answer));
  const committed = timed(() => commitTrace(model.program, prepared.run(input, answer)));
  const memory = process.resourceUsage().maxRSS * 1024;
  const figures = new ModelFigures(`SmolLM2-135M, ${LENGTHS.prompt} + ${LENGTHS.answer} ids`);
  figures.sizes(model, 800, 450 * MIB);
  figures.add("deriving the program from the file", inSeconds(derived.seconds));
  figures.add("proving profile and causality, as a node does when it starts", inSeconds(proven.seconds));
  figures.add("making kernels for it", inSeconds(ready.seconds));
  figures.add("planning rows, once", inSeconds(planned.seconds));
  figures.atMost("checking an answer, one pass", checked.seconds, inSeconds, 4);
  figures.atMost("a pass and its commitment", committed.seconds, inSeconds, 30);
  figures.atMost("the first id of an answer", seen[0] as number, inSeconds, 1);
  figures.atLeast("further ids a second", rateOf(seen), (rate) => rate.toFixed(1), 30);
  figures.atMost("most memory of all that", memory, megabytes, 1536 * MIB);
  const peer = await generateByLlamaCpp(path, LONG_PROMPT, LENGTHS.answer);
  if (peer === undefined) figures.add("llama.cpp beside it", "not measured: it is not installed");
  else {
    figures.add("llama.cpp, the first id", inSeconds(peer.seen[0] as number));
    figures.add("llama.cpp, further ids a second", rateOf(peer.seen).toFixed(1));
  }
  await addDispute(figures, { prepared, input, step: lastProduct(model) }, 1_300_000);
  return { figures: figures.all, rows: figures.rows("smollm2") };
}

/** Of the ids behind the first one. @param seen seconds from the prompt to each */
function rateOf(seen: readonly number[]): number {
  const [first, last] = [seen[0] as number, seen.at(-1) as number];
  return (seen.length - 1) / (last - first);
}
