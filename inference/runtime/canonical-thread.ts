/** A thread that runs the canonical executor. Whoever started it may end it at any time. */
import { parentPort } from "node:worker_threads";
import { errorOptions, isBaseError } from "../../base/errors.ts";
import { commitTrace } from "../commit/commitments.ts";
import { checkOutput, execute, trace, traceEach } from "../executor/execute.ts";
import { prepare } from "../executor/prepare.ts";
import type { PreparedModel } from "../executor/prepared-model.ts";
import type { Tensor } from "../program/form.ts";
import { storedBytes } from "../program/tensor.ts";
import type { CanonicalAnswer, CanonicalRun, FromThread, StepTree, ToThread } from "./canonical-messages.ts";
import { Hashing } from "./hashing.ts";
import { type TensorPlace, tensorPlaces, writeTensor } from "./trace-file.ts";
import { paysForTwo, TwoThreads } from "./two-threads.ts";

const NOTHING = new Uint8Array(0);
/** Models, those for which that pays with a second thread. */
const opened = new Map<string, { readonly prepared: PreparedModel; readonly two?: TwoThreads }>();

/** What is made once for all runs of a kind, which takes long of a large model. */
function madeReady({ id, model, claimed }: CanonicalRun): PreparedModel {
  const known = opened.get(id) ?? open(model);
  if (known === undefined) throw new RangeError(`model ${id} is not loaded`);
  opened.set(id, known);
  if (claimed === undefined) known.prepared.rowPlan();
  return known.prepared;
}

function open(model: CanonicalRun["model"]) {
  if (model === undefined) return undefined;
  if (paysForTwo(model.model.program)) {
    const two = new TwoThreads(model.model, model.selector, model.profile);
    return { prepared: two.prepared, two };
  }
  const prepared = prepare(model.model, model.selector, model.profile);
  prepared.makeReady();
  return { prepared };
}

async function answer(run: CanonicalRun): Promise<CanonicalAnswer> {
  const { task, calldata, claimed, file } = run;
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
    if (file !== undefined)
      return { kind: "trace", trees: await treesOnDisk(known, calldata, claimed, file) };
    const tensors = trace(known, calldata, claimed);
    const trees = commitTrace(known.program, tensors).tensors.map(({ levels }, i) => ({
      ...{ data: (tensors[i] as Tensor).data, levels },
    }));
    return { kind: "trace", trees };
  } catch (error) {
    if (!isBaseError(error))
      return {
        kind: "failed",
        error: { shortMessage: error instanceof Error ? error.message : String(error) },
      };
    return { kind: "failed", error: errorOptions(error) };
  }
}

/** Writes each tensor to the file when it is computed; other threads hash it while the run goes on. */
async function treesOnDisk(
  known: PreparedModel,
  calldata: Uint8Array,
  claimed: Uint8Array | undefined,
  file: number,
): Promise<StepTree[]> {
  const places = tensorPlaces(known.program);
  const hashing = new Hashing(file, places);
  try {
    traceEach(known, calldata, claimed, (step, { data }) => {
      writeTensor(file, places[step] as TensorPlace, storedBytes(data));
      hashing.written(step + 1);
    });
    return (await hashing.finish()).map((levels) => ({ levels }));
  } finally {
    await hashing.stop();
  }
}

/** Memory that the answers own, each once; what is short is sooner copied. */
function buffersOf(answers: readonly CanonicalAnswer[]): ArrayBuffer[] {
  const arrays = answers.flatMap((made) =>
    made.kind === "trace"
      ? made.trees.flatMap(({ data, levels }) => [data ?? [], ...levels.map(({ nodes }) => nodes)].flat())
      : [],
  );
  return [...new Set(arrays.map(({ buffer }) => buffer as ArrayBuffer))];
}

parentPort?.on("message", async ({ runs, tellsReady, isAlone }: ToThread) => {
  if (tellsReady) {
    // A run that cannot be made ready says so in its answer.
    for (const run of runs)
      try {
        madeReady(run);
      } catch {}
    parentPort?.postMessage("ready" satisfies FromThread);
  }
  for (const { two } of opened.values()) if (two !== undefined) two.isWanted = isAlone;
  const answers: CanonicalAnswer[] = [];
  for (const run of runs) answers.push(await answer(run));
  parentPort?.postMessage(answers, buffersOf(answers));
});
