/** Outputs of programs that read the claimed output: checked, found row by row, found by passes. */
import { encodeInput } from "../inference/codecs/input.ts";
import { checkOutput } from "../inference/executor/execute.ts";
import { findByPasses, findByRows, findOutput } from "../inference/executor/find-output.ts";
import { prepare } from "../inference/executor/prepare.ts";
import type { PreparedModel } from "../inference/executor/prepared-model.ts";
import { elementCount } from "../inference/program/form.ts";
import { createRng } from "../test/support/rng.ts";
import { sequenceProgram } from "../test/support/sequence-programs.ts";
import { SELECTOR } from "./chain.ts";
import { grouped, type Measured, type Part } from "./report.ts";

/** Places of the prompt, and as many that are claimed. */
const LENGTHS = [16, 64, 128] as const;
const SHAPE = { heads: 4, width: 16, layers: 4 } as const;
/** Runs of which the fastest counts; what takes seconds is run once. */
const RUNS = 5;

function fastest(runs: number, run: () => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < runs; i++) {
    const since = performance.now();
    run();
    best = Math.min(best, performance.now() - since);
  }
  return best;
}

function measure(length: number) {
  const rng = createRng(length);
  const model = sequenceProgram(rng, { prompt: length, tokens: length, ...SHAPE });
  const prepared: PreparedModel = prepare(model, SELECTOR);
  const calldata = encodeInput(model.program, SELECTOR, { codec: "raw", bytes: rng.bytes(length) });
  const input = prepared.decode(calldata);
  const planMs = fastest(1, () => prepared.rowPlan());
  const plan = prepared.rowPlan();
  if (plan === undefined) throw new Error(`the program of ${length} places is not proven to be causal`);
  const right = findOutput(prepared, input);
  const wrong = right.with(right.length - 1, 1);
  if (!checkOutput(prepared, calldata, right).isRight || checkOutput(prepared, calldata, wrong).isRight)
    throw new Error(`the output of ${length} places is not the one that the program finds right`);
  return {
    tokens: length,
    elements: model.program.steps.reduce((sum, { dims }) => sum + elementCount(dims), 0),
    planMs,
    checkMs: fastest(RUNS, () => checkOutput(prepared, calldata, right)),
    rowsMs: fastest(RUNS, () => findByRows(prepared, plan, input)),
    passesMs: fastest(1, () => findByPasses(prepared, input)),
  };
}

const ms = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`;

async function run(): Promise<Measured> {
  const rows = LENGTHS.map(measure);
  const columns = ["tokens", "elements", "plan, once", "check", "by rows", "by passes"];
  const table = rows.map(({ tokens, elements, planMs, checkMs, rowsMs, passesMs }) => [
    grouped(tokens),
    grouped(elements),
    ...[planMs, checkMs, rowsMs, passesMs].map(ms),
  ]);
  return { figures: [], tables: [{ columns, rows: table }], rows };
}

export const ANSWERS_PART: Part = {
  name: "answers",
  title: "Answers of programs that read them",
  method:
    "Transformers of random weights (4 layers, 4 heads of 16 channels) over a prompt and as many claimed tokens, by the canonical executor in one thread; the fastest of five runs, of the plan and of passes one.",
  run,
};
