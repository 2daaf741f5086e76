import { type Remote, wrap } from "comlink";
import type { Plan } from "../../../protocol/chain/plan/plan.ts";
import type { Deployable, ImportJob, ImportOutcome, PlanWishes } from "./forms.ts";
import type { Importer } from "./worker.ts";

interface Running {
  readonly worker: Worker;
  readonly remote: Remote<Importer>;
  /** rejects when the worker ends before it answers */
  readonly ended: Promise<never>;
  readonly end: (error: Error) => void;
}

let running: Running | undefined;

/** The worker, which is loaded when the first file is given. */
function started(): Running {
  if (running !== undefined) return running;
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  let end: (error: Error) => void = () => undefined;
  const ended = new Promise<never>((_, reject) => {
    end = (error) => {
      worker.terminate();
      running = undefined;
      reject(error);
    };
  });
  // Nobody may be waiting for it.
  ended.catch(() => undefined);
  worker.addEventListener("error", ({ message }) =>
    end(
      new Error(
        `The importer broke off${message ? `: ${message}` : ""}. This browser may have too little memory.`,
      ),
    ),
  );
  running = { worker, remote: wrap<Importer>(worker), ended, end };
  return running;
}

/** Imports; an aborted import is ended at once, whatever it is at. */
export async function importFiles(job: ImportJob, signal: AbortSignal): Promise<ImportOutcome> {
  const { remote, ended, end } = started();
  const abort = () => end(new DOMException("The import was stopped.", "AbortError"));
  signal.addEventListener("abort", abort);
  try {
    return await Promise.race([remote.import(job), ended]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Of the model that was imported last. */
export const planOf = (wishes: PlanWishes): Promise<Plan> => started().remote.plan(wishes);
export const archiveOf = (): Promise<Uint8Array> => started().remote.archive();
export const deployableOf = (): Promise<Deployable> => started().remote.deployable();
