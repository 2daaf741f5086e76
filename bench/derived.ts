/** SmolLM2 as a program of integers: how long it takes to derive, prove, check and answer, and how large its trace is. */
import { readFileSync } from "node:fs";
import { readGguf } from "../inference/derive/gguf.ts";
import { deriveLlama } from "../inference/derive/llama/derive.ts";
import { findByRows, onePass } from "../inference/executor/find-output.ts";
import { prepare } from "../inference/executor/prepare.ts";
import type { RowPlan } from "../inference/executor/rows/plan.ts";
import { proveProfile } from "../inference/profile/prove.ts";
import { elementBytes, elementCount } from "../inference/program/form.ts";
import { ID_OFFSET, NO_ID } from "../inference/text/ids.ts";
import { SELECTOR } from "./chain.ts";
import { type Figure, grouped, type Measured, megabytes, type Part } from "./report.ts";

const LENGTHS = { prompt: 64, answer: 32 };
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
  const padding = new Array<number>(LENGTHS.prompt - PROMPT.length).fill(NO_ID);
  const int16s = [...padding, ...PROMPT.map((id) => id - ID_OFFSET)];
  const input = { codec: "int16s", int16s } as const;
  // A first run fills memory and lets code be compiled.
  const answer = findByRows(prepared, planned.result, input);
  const found = seconds(() => findByRows(prepared, planned.result, input));
  const checked = seconds(() => onePass(prepared, input, answer));
  const { steps } = model.program;
  const trace = steps.reduce((sum, { type, dims }) => sum + elementBytes(type) * elementCount(dims), 0);
  const weights = model.weights.reduce((sum, { length }) => sum + length, 0);
  const memory = process.resourceUsage().maxRSS * 1024;
  const name = `SmolLM2-135M, ${LENGTHS.prompt} + ${LENGTHS.answer} ids`;
  const time = (what: string, value: number): Figure => ({
    name: `${name}: ${what}`,
    value: `${value.toFixed(1)} s`,
  });
  const figures: Figure[] = [
    { name: `${name}: steps`, value: grouped(steps.length), target: "≤ 800", isMet: steps.length <= 800 },
    { name: `${name}: bytes of the trace's tensors`, value: grouped(trace) },
    { name: `${name}: bytes of weights`, value: grouped(weights) },
    time("deriving the program from the file", derived.taken),
    time("proving profile and causality, as a node does when it starts", proven.taken),
    time("planning rows, once", planned.taken),
    time("checking an answer, one pass", checked.taken),
    time("finding an answer, by rows", found.taken),
    { name: `${name}: most memory of all that`, value: megabytes(memory) },
  ];
  const rows = figures.map(({ name: figure, value, target, isMet }) => ({
    ...{ model: MODEL, figure: figure.slice(name.length + 2), value },
    ...(target === undefined ? {} : { target, met: isMet }),
  }));
  return { figures, rows };
}

export const DERIVED_PART: Part = {
  name: "derived",
  title: "A derived language model",
  method:
    "SmolLM2-135M-Instruct derived from the file that ASSAY_WEIGHTS names, one process and one thread; the target is that of 256 + 32 ids.",
  run,
};
