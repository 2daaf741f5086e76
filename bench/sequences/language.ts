/** SmolLM2 as a program of integers: how long it takes to derive, prove, check and answer, how large its trace is, and a
 *  dispute; beside it llama.cpp, in floats. */
import { findByRows } from "../../inference/executor/find-output.ts";
import type { RowPlan } from "../../inference/executor/rows/plan.ts";
import { type DerivedSubject, LENGTHS, LONG_PROMPT, languageModel, withDerived } from "../derived.ts";
import { asNode } from "../node.ts";
import { type Measured, megabytes } from "../report.ts";
import { leastByOnnxruntime } from "./by-onnxruntime.ts";
import { addDispute, lastProduct } from "./dispute.ts";
import { generateByLlamaCpp } from "./llama-cpp.ts";
import { evaluated, inPercent, inSeconds, MIB, ModelFigures } from "./measured.ts";

/** Of the language model, as of llama.cpp beside it. */
const THREADS = 2;
const RUNS = 6;
/** The same answer, by either: what is reported is the one whose first id was there the soonest. */
const ANSWERS = 4;

/** @param path of the file of weights */
export const measureLanguageModel = (path: string): Promise<Measured> =>
  withDerived(languageModel(path), (subject) => measuredOf(subject, path));

async function measuredOf(subject: DerivedSubject, path: string): Promise<Measured> {
  const { prepared, input, folder, calldata, output } = subject;
  const { model } = prepared;
  const plan = prepared.rowPlan() as RowPlan;
  const seen = fastest(
    Array.from({ length: ANSWERS }, () => secondsOfIds((see) => findByRows(prepared, plan, input, see))),
  );
  const node = asNode({ folder, calldata, output });
  const figures = new ModelFigures(`SmolLM2-135M, ${LENGTHS.prompt} + ${LENGTHS.answer} ids`);
  const stated = evaluated("models/smollm2");
  const perplexity = stated["perplexity over the float model's"] ?? Number.POSITIVE_INFINITY;
  figures.atMost("perplexity over the float model's", perplexity, (value) => `×${value}`, 1.02);
  const divergence = stated["mean divergence"] ?? Number.POSITIVE_INFINITY;
  figures.atMost("mean KL divergence from the float model", divergence, (value) => `${value} nat`, 0.02);
  figures.atLeast("same first choice as the float model", stated["same first choice"] ?? 0, inPercent, 90);
  figures.sizes(model, 800, 450 * MIB);
  figures.add("deriving its folder, once", inSeconds(subject.deriveSeconds));
  figures.add("loading and proving the folder, as a node does when it starts", inSeconds(node.loadSeconds));
  figures.add("the first check, which makes kernels", inSeconds(node.firstCheckSeconds));
  figures.add("planning rows, once", inSeconds(subject.planSeconds));
  figures.atMost("checking an answer, one pass", node.checkSeconds, inSeconds, 4);
  const byRuntime = await leastByOnnxruntime(prepared, [input, output], { threads: THREADS, runs: RUNS });
  figures.atMost("checking an answer by onnxruntime", byRuntime, inSeconds, 1);
  figures.atMost("a pass and its commitment, in two threads", node.commitSeconds, inSeconds, 30);
  figures.atMost("the first id of an answer", seen[0] as number, inSeconds, 1);
  figures.atLeast("further ids a second", rateOf(seen), (rate) => rate.toFixed(1), 30);
  figures.atMost("most memory of a node that does all that", node.memory, megabytes, 1536 * MIB);
  const answers = await generateByLlamaCpp(path, {
    prompt: LONG_PROMPT,
    count: LENGTHS.answer,
    times: ANSWERS,
  });
  if (answers === undefined) figures.add("llama.cpp beside it", "not measured: it is not installed");
  else {
    const peer = fastest(answers);
    figures.add("llama.cpp, the first id", inSeconds(peer[0] as number));
    figures.add("llama.cpp, further ids a second", rateOf(peer).toFixed(1));
  }
  await addDispute(figures, { prepared, input, step: lastProduct(model) }, 1_300_000);
  return { figures: figures.all, rows: figures.rows("smollm2") };
}

/** Seconds from the prompt to each id. */
function secondsOfIds(find: (see: () => void) => unknown): readonly number[] {
  const seen: number[] = [];
  const began = performance.now();
  find(() => seen.push((performance.now() - began) / 1000));
  return seen;
}

const fastest = (answers: readonly (readonly number[])[]): readonly number[] =>
  answers.reduce((best, seen) => ((seen[0] as number) < (best[0] as number) ? seen : best));

/** Of the ids behind the first one. @param seen seconds from the prompt to each */
function rateOf(seen: readonly number[]): number {
  const [first, last] = [seen[0] as number, seen.at(-1) as number];
  return (seen.length - 1) / (last - first);
}
