/** SmolLM2 as a program of integers: how long it takes to derive, prove, check and answer, how large its trace is, and a
 *  dispute; beside it llama.cpp, in floats. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeInput } from "../../inference/codecs/input.ts";
import { findByRows } from "../../inference/executor/find-output.ts";
import type { RowPlan } from "../../inference/executor/rows/plan.ts";
import { loadModelFolder } from "../../inference/model-folder.ts";
import { prepareForRuns } from "../../inference/runtime/two-threads.ts";
import { promptNumbers } from "../../inference/text/ids.ts";
import { SELECTOR } from "../chain.ts";
import { type Measured, megabytes } from "../report.ts";
import { asNode } from "./as-node.ts";
import { addDispute, lastProduct } from "./dispute.ts";
import { generateByLlamaCpp } from "./llama-cpp.ts";
import { inSeconds, MIB, ModelFigures, timed } from "./measured.ts";

export const LENGTHS = { prompt: 256, answer: 32 };
/** "What is the capital of France?" by the chat template, with its own system prompt. */
const PROMPT = [
  1, 9690, 198, 2683, 359, 253, 5356, 5646, 11173, 3365, 3511, 308, 34519, 28, 7018, 411, 407, 19712, 8182, 2,
  198, 1, 4093, 198, 1780, 314, 260, 3575, 282, 4649, 47, 2, 198, 1, 520, 9531, 198,
];
/** The same as long as a prompt can be: what stands in front of it is a text of its own. */
export const LONG_PROMPT = [
  ...Array.from({ length: LENGTHS.prompt - PROMPT.length }, (_, i) => PROMPT[i % PROMPT.length] as number),
  ...PROMPT,
];

/** @param path of the file of weights */
export async function measureLanguageModel(path: string): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "assay-bench-"));
  try {
    return await measuredIn(folder, path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function measuredIn(folder: string, path: string): Promise<Measured> {
  const { prompt, answer: most } = LENGTHS;
  const lengths = ["--prompt", `${prompt}`, "--answer", `${most}`];
  const derive = ["bin/assay.js", "model", "derive", "smollm2", "--from", path, ...lengths, "--out", folder];
  const derived = timed(() => execFileSync(process.execPath, derive));
  const { model, selector, profile } = loadModelFolder(folder);
  const prepared = prepareForRuns(model, SELECTOR, profile);
  const planned = timed(() => prepared.rowPlan() as RowPlan);
  const input = { codec: "int16s", int16s: promptNumbers(LONG_PROMPT, LENGTHS.prompt) } as const;
  // A first run fills memory and lets code be compiled.
  const answer = findByRows(prepared, planned.result, input);
  const seen: number[] = [];
  const began = performance.now();
  findByRows(prepared, planned.result, input, () => seen.push((performance.now() - began) / 1000));
  const node = asNode(folder, encodeInput(model.program, selector, input), answer);
  const figures = new ModelFigures(`SmolLM2-135M, ${LENGTHS.prompt} + ${LENGTHS.answer} ids`);
  figures.sizes(model, 800, 450 * MIB);
  figures.add("deriving its folder, once", inSeconds(derived.seconds));
  figures.add("loading and proving the folder, as a node does when it starts", inSeconds(node.loadSeconds));
  figures.add("the first check, which makes kernels", inSeconds(node.firstCheckSeconds));
  figures.add("planning rows, once", inSeconds(planned.seconds));
  figures.atMost("checking an answer, one pass", node.checkSeconds, inSeconds, 4);
  figures.atMost("a pass and its commitment, in two threads", node.commitSeconds, inSeconds, 30);
  figures.atMost("the first id of an answer", seen[0] as number, inSeconds, 1);
  figures.atLeast("further ids a second", rateOf(seen), (rate) => rate.toFixed(1), 30);
  figures.atMost("most memory of a node that does all that", node.memory, megabytes, 1536 * MIB);
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
