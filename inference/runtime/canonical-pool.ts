/** The canonical executor in threads, so that a daemon's event loop never waits for a run, its trace or the hashes of
 *  one. */
import { Worker } from "node:worker_threads";
import { BaseError } from "../../base/errors.ts";
import { type Commitment, commitTensors } from "../commit/commitments.ts";
import { TensorTree } from "../commit/tree.ts";
import type { OutputCheck } from "../executor/execute.ts";
import type { Program } from "../program/form.ts";
import type {
  CanonicalAnswer,
  CanonicalModel,
  CanonicalRun,
  FromThread,
  StepTree,
  Task,
  ToThread,
} from "./canonical-messages.ts";
import { type TensorPlace, TraceFile, tensorPlaces, traceBytes } from "./trace-file.ts";
import { withSharedWeights } from "./two-threads.ts";

/** Who waits, the most urgent first: an answer that is owed by a deadline; the node's own work; callers. */
export const URGENCIES = ["owed", "own", "caller"] as const;
export type Urgency = (typeof URGENCIES)[number];

export interface CanonicalOptions {
  /** default "own" */
  readonly urgency?: Urgency;
  /** aborts when nobody waits any more: the run leaves the queue, or its thread is ended */
  readonly signal?: AbortSignal;
}

export interface TraceOptions extends CanonicalOptions {
  /** Return data that a claim states: of a program that reads them, the trace is that claim's. Absent: that of the right
   *  output. */
  readonly claimed?: Uint8Array | undefined;
}

/** The canonical executor for a daemon. All reject with the signal's reason, with BaseError as `decodeInput` for
 *  calldata that no request can hold, and with CANONICAL_FAILED (retryable) where the thread was lost. */
export interface Canonical {
  /** @returns return data */
  output(model: string, calldata: Uint8Array, options?: CanonicalOptions): Promise<Uint8Array>;
  /** Whether `stated`, return data, is the output; costs one pass of any program. */
  check(
    model: string,
    calldata: Uint8Array,
    stated: Uint8Array,
    options?: CanonicalOptions,
  ): Promise<OutputCheck>;
  /** Rejects with TRACE_FILE_FAILED (retryable) where the disk does not take a large trace. */
  trace(model: string, calldata: Uint8Array, options?: TraceOptions): Promise<Commitment>;
}

export interface CanonicalPoolOptions {
  /** threads, started at first use; default 2: callers never take the last one */
  readonly threads?: number;
  /** how long a run that nobody waits for any more may still take until its thread is ended, ms; default 2,000 */
  readonly stopAfterMs?: number;
  /** bytes of a trace that stays in memory; a larger one is written to a file in TMPDIR. Default 128 MiB */
  readonly traceInMemory?: number;
}

type Answer = Exclude<CanonicalAnswer, { kind: "failed" }>;

interface Job {
  readonly run: Omit<CanonicalRun, "model" | "file">;
  readonly urgency: Urgency;
  /** whether its trace is written to a file */
  readonly isOnDisk: boolean;
  readonly resolve: (ended: Ended) => void;
  readonly reject: (reason: unknown) => void;
  /** forgets the signal */
  readonly end: () => void;
  /** nobody waits for it any more */
  isAbandoned: boolean;
  /** of the trace that a thread makes; while it waits for one it has none */
  file: TraceFile | undefined;
}

interface Ended {
  readonly answer: Answer;
  readonly file: TraceFile | undefined;
}

const TRACE_IN_MEMORY = 2 ** 27;

/** Outputs that are run in one go, as far as the runs before them tell how long they take: whoever is more urgent waits
 *  for no more than this, ms. */
const TOGETHER_MS = 4;

interface Thread {
  readonly worker: Worker;
  /** ids of models that it holds */
  readonly models: Set<string>;
  /** ids of models that it is ready to find outputs of, which takes more than a check */
  readonly finds: Set<string>;
  /** It makes ready for runs of a kind that it has not had. */
  isPreparing: boolean;
  /** that it is at, in their order; none: it is idle */
  jobs: readonly Job[];
  /** of runs that nobody waits for */
  stopper: NodeJS.Timeout | undefined;
}

export class CanonicalPool implements Canonical {
  readonly #models: Map<string, CanonicalModel>;
  readonly #limit: number;
  readonly #stopAfterMs: number;
  readonly #traceInMemory: number;
  readonly #threads = new Set<Thread>();
  readonly #queue = new Set<Job>();
  /** ms of a model's last output, and of its last check */
  readonly #lastMs = { output: new Map<string, number>(), check: new Map<string, number>() };
  #isFilling = false;
  #isClosed = false;

  /** @param models by the id that runs take */
  constructor(models: ReadonlyMap<string, CanonicalModel>, options: CanonicalPoolOptions = {}) {
    const { threads = 2, stopAfterMs = 2_000, traceInMemory = TRACE_IN_MEMORY } = options;
    this.#models = new Map([...models].map(([id, model]) => [id, shared(model)]));
    this.#limit = threads;
    this.#stopAfterMs = stopAfterMs;
    this.#traceInMemory = traceInMemory;
  }

  /** Runs a further model from now on. @param id by which runs name it */
  add(id: string, model: CanonicalModel): void {
    if (!this.#models.has(id)) this.#models.set(id, shared(model));
  }

  async output(id: string, calldata: Uint8Array, options?: CanonicalOptions): Promise<Uint8Array> {
    const { answer } = await this.#ask("output", id, calldata, options);
    return answer.kind === "output" ? answer.output : misanswered();
  }

  async check(
    id: string,
    calldata: Uint8Array,
    stated: Uint8Array,
    options?: CanonicalOptions,
  ): Promise<OutputCheck> {
    const { answer } = await this.#ask("check", id, calldata, { ...options, claimed: stated });
    return answer.kind === "check" ? answer.check : misanswered();
  }

  async trace(id: string, calldata: Uint8Array, options?: TraceOptions): Promise<Commitment> {
    const program = this.#models.get(id)?.model.program;
    const isOnDisk = program !== undefined && traceBytes(program) > this.#traceInMemory;
    const { answer, file } = await this.#ask("trace", id, calldata, options, isOnDisk);
    return answer.kind === "trace" ? commitTensors(treesOf(answer.trees, file, program)) : misanswered();
  }

  /** Ends the threads; whoever waits is told CANONICAL_FAILED. */
  close(): void {
    this.#isClosed = true;
    const waiting = [...this.#queue];
    this.#queue.clear();
    for (const job of waiting) settle(job, () => job.reject(lost("the pool was closed")));
    for (const thread of [...this.#threads]) this.#lose(thread, "the pool was closed");
  }

  #ask(
    task: Task,
    id: string,
    calldata: Uint8Array,
    options: TraceOptions = {},
    isOnDisk = false,
  ): Promise<Ended> {
    const { urgency = "own", signal, claimed } = options;
    return new Promise((resolve, reject) => {
      this.#requireTaken(id, signal);
      const abandon = () => {
        job.isAbandoned = true;
        this.#queue.delete(job);
        settle(job, () => reject(signal?.reason));
        this.#stopSoon(job);
      };
      const end = () => signal?.removeEventListener("abort", abandon);
      const run = { task, id, calldata, claimed };
      const job: Job = {
        ...{ run, urgency, isOnDisk, resolve, reject, end },
        ...{ isAbandoned: false, file: undefined },
      };
      signal?.addEventListener("abort", abandon);
      this.#queue.add(job);
      this.#fillSoon();
    });
  }

  /** @throws the signal's reason, CANONICAL_FAILED, RangeError where a run is refused at once */
  #requireTaken(id: string, signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (this.#isClosed) throw lost("the pool was closed");
    if (!this.#models.has(id)) throw new RangeError(`model ${id} is not loaded`);
  }

  /** At the end of this turn of the event loop: what is asked in it is run together. */
  #fillSoon(): void {
    if (this.#isFilling) return;
    this.#isFilling = true;
    setImmediate(() => {
      this.#isFilling = false;
      this.#fill();
    });
  }

  #fill(): void {
    for (let next = this.#next(); next.length > 0; next = this.#next()) {
      for (const job of next) this.#queue.delete(job);
      const jobs = next.filter(hasItsFile);
      if (jobs.length === 0) continue;
      const thread = [...this.#threads].find((one) => one.jobs.length === 0) ?? this.#startFor(jobs);
      if (thread === undefined) continue;
      thread.jobs = jobs;
      const runs = jobs.map(({ run, file }) => {
        const model = thread.models.has(run.id) ? undefined : this.#models.get(run.id);
        const isFind = run.claimed === undefined;
        thread.isPreparing ||= model !== undefined || (isFind && !thread.finds.has(run.id));
        thread.models.add(run.id);
        if (isFind) thread.finds.add(run.id);
        return { ...run, model, file: file?.fd };
      });
      thread.worker.ref();
      const isAlone = [...this.#threads].every((one) => one === thread || one.jobs.length === 0);
      thread.worker.postMessage({ runs, tellsReady: thread.isPreparing, isAlone } satisfies ToThread);
    }
  }

  /** The most urgent run that a thread is free for, the oldest of these, and what can be run with it. */
  #next(): readonly Job[] {
    const running = [...this.#threads].flatMap(({ jobs }) => jobs.slice(0, 1));
    if (running.length >= this.#limit) return [];
    const forCallers = Math.max(1, this.#limit - 1);
    const isFull = running.filter(({ urgency }) => urgency === "caller").length >= forCallers;
    for (const urgency of URGENCIES) {
      if (urgency === "caller" && isFull) continue;
      const jobs = this.#together(urgency);
      if (jobs.length > 0) return jobs;
    }
    return [];
  }

  #together(urgency: Urgency): readonly Job[] {
    const jobs: Job[] = [];
    let ms = 0;
    for (const job of this.#queue) {
      if (job.urgency !== urgency) continue;
      ms += this.#msOf(job);
      if (jobs.length > 0 && ms > TOGETHER_MS) break;
      jobs.push(job);
    }
    return jobs;
  }

  /** Infinity where it is not known. */
  #msOf({ run: { task, id } }: Job): number {
    return (task === "trace" ? undefined : this.#lastMs[task].get(id)) ?? Number.POSITIVE_INFINITY;
  }

  /** @returns undefined where the system has no thread left, which the jobs are told */
  #startFor(jobs: readonly Job[]): Thread | undefined {
    try {
      return this.#start();
    } catch (error) {
      for (const job of jobs) {
        job.file?.close();
        settle(job, () => job.reject(lost(String(error))));
      }
      return undefined;
    }
  }

  #start(): Thread {
    const worker = new Worker(new URL("canonical-thread.mjs", import.meta.url), {
      execArgv: [],
    });
    const thread: Thread = {
      ...{ worker, models: new Set(), finds: new Set(), isPreparing: false },
      ...{ jobs: [], stopper: undefined },
    };
    worker.on("message", (message: FromThread) => this.#answered(thread, message));
    worker.on("error", (error) => this.#lose(thread, String(error)));
    worker.on("exit", (code) => this.#lose(thread, `it ended with exit code ${code}`));
    this.#threads.add(thread);
    return thread;
  }

  #answered(thread: Thread, answers: FromThread): void {
    const { jobs } = thread;
    if (answers === "ready") {
      thread.isPreparing = false;
      this.#stopIfUnwanted(thread);
      return;
    }
    clearTimeout(thread.stopper);
    thread.jobs = [];
    thread.stopper = undefined;
    // An idle thread keeps no program alive.
    thread.worker.unref();
    for (const [index, job] of jobs.entries()) {
      const answer = answers[index] as CanonicalAnswer;
      if (answer.kind === "output" || answer.kind === "check")
        this.#lastMs[answer.kind].set(job.run.id, answer.ms);
      if (job.isAbandoned || answer.kind === "failed") job.file?.close();
      if (!job.isAbandoned)
        settle(job, () =>
          answer.kind === "failed" ? job.reject(failure(answer)) : job.resolve({ answer, file: job.file }),
        );
    }
    this.#fill();
  }

  /** A start costs time too, so runs that nobody waits for may end if they soon do. */
  #stopSoon(job: Job): void {
    const thread = [...this.#threads].find(({ jobs }) => jobs.includes(job));
    if (thread !== undefined) this.#stopIfUnwanted(thread);
  }

  /** What a thread makes ready is for later runs, too: it is never ended in the middle of that, or a model that takes
   *  longer than callers wait would never be run. */
  #stopIfUnwanted(thread: Thread): void {
    if (thread.isPreparing || !thread.jobs.every(({ isAbandoned }) => isAbandoned)) return;
    thread.stopper = setTimeout(() => this.#lose(thread, "nobody waits for its run"), this.#stopAfterMs);
    thread.stopper.unref();
  }

  #lose(thread: Thread, reason: string): void {
    if (!this.#threads.delete(thread)) return;
    clearTimeout(thread.stopper);
    const { jobs } = thread;
    void thread.worker.terminate().then(() => {
      for (const { file } of jobs) file?.close();
    });
    for (const job of jobs) settle(job, () => job.reject(lost(reason)));
    if (!this.#isClosed) this.#fill();
  }
}

function treesOf(
  trees: readonly StepTree[],
  file: TraceFile | undefined,
  program: Program | undefined,
): TensorTree[] {
  const places = program === undefined ? [] : tensorPlaces(program);
  return trees.map(({ data, levels }, i) => {
    const place = places[i] as TensorPlace;
    const stored = data ?? (file as TraceFile).tensor(place);
    return new TensorTree(stored, place.rows, place.rowBytes, levels);
  });
}

/** Opens the file of a trace that needs one. @returns false where none can be had, which the job is told */
function hasItsFile(job: Job): boolean {
  try {
    if (job.isOnDisk) job.file = new TraceFile();
    return true;
  } catch (error) {
    settle(job, () => job.reject(error));
    return false;
  }
}

/** Once: what nobody waits for has been settled before. */
function settle(job: Job, how: () => void): void {
  job.end();
  how();
}

/** The weights in memory that all threads see. */
const shared = ({ model, selector, profile }: CanonicalModel): CanonicalModel => ({
  selector,
  ...(profile === undefined ? {} : { profile: { bounds: profile.bounds } }),
  model: withSharedWeights(model),
});

function failure({ error }: Extract<CanonicalAnswer, { kind: "failed" }>): Error {
  const { code, shortMessage } = error;
  return code === undefined ? new Error(shortMessage) : new BaseError({ ...error, code });
}

const lost = (reason: string): BaseError =>
  new BaseError({
    code: "CANONICAL_FAILED",
    shortMessage: `The canonical executor's thread was lost: ${reason}.`,
    nextStep: "Try again.",
    retryable: true,
  });

function misanswered(): never {
  throw new TypeError("a thread answered what it was not asked");
}
