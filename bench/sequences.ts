/** SmolLM2 as a program of integers: how long it takes to derive, prove, check and answer, and how large its trace is. */
import { readFileSync } from "node:fs";
import { commitTrace } from "../inference/commit/commitments.ts";
import { readGguf } from "../inference/derive/gguf.ts";
import { deriveLlama } from "../inference/derive/llama/derive.ts";
import { findByRows, onePass } from "../inference/executor/find-output.ts";
import { prepare } from "../inference/executor/prepare.ts";
import type { RowPlan } from "../inference/executor/rows/plan.ts";
import { proveProfile } from "../inference/profile/prove.ts";
import { elementBytes, elementCount } from "../inference/program/form.ts";
import { promptNumbers } from "../inference/text/ids.ts";
import { SELECTOR } from "./chain.ts";
import { type Figure, grouped, type Measured, megabytes, type Part } from "./report.ts";

/** As long as a derived model is: the targets of docs/BENCHMARKS.md are those of 256 + 32 ids. */
const LENGTHS = { prompt: 225, answer: 32 };
const MIB = 2 ** 20;
/** "What is the capital of France?" by the chat template, with its own system prompt. */
const PROMPT = [
  1, 9690, 198, 2683, 359, 253, 5356, 5646, 11173, 3365, 3511, 308, 34519, 28, 7018, 411, 407, 19712, 8182, 2,
  198, 1, 4093, 198, 1780, 314, 260, 3575, 282, 4649, 47, 2, 198, 1, 520, 9531, 198,
];
const MODEL = "smollm2";

async function run(): Promise<Measured> {
  const path = process.env.ASSAY_WEIGHTS;
  if (path === undefined)
    return {
      figures: [{ name: "not measured", value: "ASSAY_WEIGHTS names no file of weights (docs/DERIVE.md)" }],
      rows: [],
    };
  const seconds = <T>(work: () => T): { result: T; taken: number } => {
    const began = performance.now();
    const result = work();
    return { result, taken: (performance.now() - began) / 1000 };
  };
  const file = readGguf(new Uint8Array(readFileSync(path)));
  const scales: unknown = JSON.parse(readFileSync("models/smollm2/scales.json", "utf8"));
  const derived = seconds(() => deriveLlama(file, scales, LENGTHS));
  const { model, nodes } = derived.result;
  const proven = seconds(() => proveProfile(model, nodes));
  const prepared = prepare(model, SELECTOR);
  const planned = seconds(() => prepared.rowPlan() as RowPlan);
  const int16s = promptNumbers(PROMPT, LENGTHS.prompt);
  const input = { codec: "int16s", int16s } as const;
  // A first run fills memory and lets code be compiled.
  const answer = findByRows(prepared, planned.result, input);
  const seen: number[] = [];
  const began = performance.now();
  findByRows(prepared, planned.result, input, () => seen.push((performance.now() - began) / 1000));
  const checked = seconds(() => onePass(prepared, input, answer));
  const committed = seconds(() => commitTrace(model.program, prepared.run(input, answer)));
  const { steps } = model.program;
  const trace = steps.reduce((sum, { type, dims }) => sum + elementBytes(type) * elementCount(dims), 0);
  const weights = model.weights.reduce((sum, { length }) => sum + length, 0);
  const memory = process.resourceUsage().maxRSS * 1024;
  const name = `SmolLM2-135M, ${LENGTHS.prompt} + ${LENGTHS.answer} ids`;
  const [first, last] = [seen[0] as number, seen.at(-1) as number];
  const rate = (seen.length - 1) / (last - first);
  const figure = (what: string, value: string, at?: { target: string; isMet: boolean }): Figure => ({
    ...{ name: `${name}: ${what}`, value },
    ...at,
  });
  const time = (what: string, taken: number, most?: number): Figure =>
    figure(
      what,
      `${taken.toFixed(1)} s`,
      most === undefined ? undefined : { target: `≤ ${most} s`, isMet: taken <= most },
    );
  const atMost = (most: number, value: number, unit: (value: number) => string) => ({
    target: `≤ ${unit(most)}`,
    isMet: value <= most,
  });
  const figures: Figure[] = [
    figure("steps", grouped(steps.length), atMost(800, steps.length, grouped)),
    figure("the trace's tensors", megabytes(trace), atMost(450 * MIB, trace, megabytes)),
    figure("weights", megabytes(weights)),
    time("deriving the program from the file", derived.taken),
    time("proving profile and causality, as a node does when it starts", proven.taken),
    time("planning rows, once", planned.taken),
    time("checking an answer, one pass", checked.taken, 4),
    time("a pass and its commitment", committed.taken, 30),
    time("the first id of an answer", first, 1),
    figure("further ids a second", rate.toFixed(1), { target: "≥ 30", isMet: rate >= 30 }),
    figure("most memory of all that", megabytes(memory), atMost(1536 * MIB, memory, megabytes)),
  ];
  const rows = figures.map(({ name: figure, value, target, isMet }) => ({
    ...{ model: MODEL, figure: figure.slice(name.length + 2), value },
    ...(target === undefined ? {} : { target, met: isMet }),
  }));
  return { figures, rows };
}

export const SEQUENCES_PART: Part = {
  name: "sequences",
  title: "A derived language model",
  method:
    "SmolLM2-135M-Instruct derived from the file that ASSAY_WEIGHTS names, at the most ids that a derived model has, one process and one thread. The targets are those of 256 + 32 ids; memory is of deriving, proving and planning, too.",
  run,
};
