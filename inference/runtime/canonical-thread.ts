/** A thread that runs the canonical executor. Whoever started it may end it at any time. */
import { parentPort } from "node:worker_threads";
import { isBaseError } from "../../base/errors.ts";
import { commitTrace } from "../commit/commitments.ts";
import { checkOutput, execute, trace } from "../executor/execute.ts";
import { type PreparedModel, prepare } from "../executor/prepare.ts";
import type { CanonicalAnswer, CanonicalRun, FromThread, ToThread } from "./canonical-messages.ts";

const NOTHING = new Uint8Array(0);
const prepared = new Map<string, PreparedModel>();

/** What is made once for all runs of a kind, which takes long of a large model. */
function madeReady({ id, model, claimed }: CanonicalRun): PreparedModel {
  const known = prepared.get(id) ?? opened(model);
  if (known === undefined) throw new RangeError(`model ${id} is not loaded`);
  prepared.set(id, known);
  if (claimed === undefined) known.rowPlan();
  return known;
}

function opened(model: CanonicalRun["model"]): PreparedModel | undefined {
  const made = model && prepare(model.model, model.selector, model.profile);
  made?.makeReady();
  return made;
}

function answer(run: CanonicalRun): CanonicalAnswer {
  const { task, calldata, claimed } = run;
  try {
    const known = madeReady(run);
    if (task === "output") {
      const since = performance.now();
      const output = execute(known, calldata).slice();
      return { kind: "output", output, ms: performance.now() - since };
    }
    if (task === "check") {
      const since = performance.now();
      const check = checkOutput(known, calldata, claimed ?? NOTHING);
      return { kind: "check", check, ms: performance.now() - since };
    }
    const tensors = trace(known, calldata, claimed);
    const { tensors: trees } = commitTrace(known.program, tensors);
    return { kind: "trace", tensors, trees: trees.map(({ parts }) => parts) };
  } catch (error) {
    if (!isBaseError(error))
      return {
        kind: "failed",
        error: { shortMessage: error instanceof Error ? error.message : String(error) },
      };
    const { code, shortMessage, nextStep, details, retryable } = error;
    const next = nextStep === undefined ? {} : { nextStep };
    return { kind: "failed", error: { code, shortMessage, details, retryable, ...next } };
  }
}

/** Memory that the answers own, each once; what is short is sooner copied. */
function buffersOf(answers: readonly CanonicalAnswer[]): ArrayBuffer[] {
  const arrays = answers.flatMap((made) =>
    made.kind === "trace"
      ? [
          ...made.tensors.map(({ data }) => data),
          ...made.trees.flatMap(({ data, levels }) => [data, ...levels.map(({ nodes }) => nodes)]),
        ]
      : [],
  );
  return [...new Set(arrays.map(({ buffer }) => buffer as ArrayBuffer))];
}

parentPort?.on("message", ({ runs, tellsReady }: ToThread) => {
  if (tellsReady) {
    // A run that cannot be made ready says so in its answer.
    for (const run of runs)
      try {
        madeReady(run);
      } catch {}
    parentPort?.postMessage("ready" satisfies FromThread);
  }
  const answers = runs.map(answer);
  parentPort?.postMessage(answers, buffersOf(answers));
});
