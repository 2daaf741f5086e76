/** The canonical executor in threads, so that a daemon's event loop never waits for a run, its trace or the hashes of
 *  one. */
import { Worker } from "node:worker_threads";
import { BaseError } from "../../base/errors.ts";
import { type Commitment, commitTensors } from "../commit/commitments.ts";
import { TensorTree } from "../commit/tree.ts";
import type { Tensor } from "../program/form.ts";
import type { CanonicalModel, FromThread, Task, ToThread } from "./canonical-messages.ts";

/** Who waits, the most urgent first: an answer that is owed by a deadline; the node's own work; callers. */
export const URGENCIES = ["owed", "own", "caller"] as const;
export type Urgency = (typeof URGENCIES)[number];

export interface CanonicalOptions {
  /** default "own" */
  readonly urgency?: Urgency;
  /** aborts when nobody waits any more: the run leaves the queue, or its thread is ended */
  readonly signal?: AbortSignal;
}

export interface CanonicalTrace {
  /** every step's */
  readonly tensors: readonly Tensor[];
  readonly commitment: Commitment;
}

/** The canonical executor for a daemon. Both reject with the signal's reason, with BaseError as `decodeInput` for
 *  calldata that no request can hold, and with CANONICAL_FAILED (retryable) where the thread was lost. */
export interface Canonical {
  /** @returns return data */
  output(model: string, calldata: Uint8Array, options?: CanonicalOptions): Promise<Uint8Array>;
  trace(model: string, calldata: Uint8Array, options?: CanonicalOptions): Promise<CanonicalTrace>;
}

export interface CanonicalPoolOptions {
  /** threads, started at first use; default 2: callers never take the last one */
  readonly threads?: number;
  /** how long a run that nobody waits for any more may still take until its thread is ended, ms; default 2,000 */
  readonly stopAfterMs?: number;
}

type Answer = Exclude<FromThread, { kind: "failed" }>;

interface Job {
  readonly message: Omit<ToThread, "model">;
  readonly urgency: Urgency;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: unknown) => void;
  /** forgets the signal */
  readonly end: () => void;
}

interface Thread {
  readonly worker: Worker;
  /** ids of models that it holds */
  readonly models: Set<string>;
  job: Job | undefined;
  /** of a run that nobody waits for */
  stopper: NodeJS.Timeout | undefined;
}

export class CanonicalPool implements Canonical {
  readonly #models: ReadonlyMap<string, CanonicalModel>;
  readonly #limit: number;
  readonly #stopAfterMs: number;
  readonly #threads = new Set<Thread>();
  readonly #queue = new Set<Job>();
  #isClosed = false;

  /** @param models by the id that runs take */
  constructor(models: ReadonlyMap<string, CanonicalModel>, options: CanonicalPoolOptions = {}) {
    const { threads = 2, stopAfterMs = 2_000 } = options;
    this.#models = new Map([...models].map(([id, model]) => [id, shared(model)]));
    this.#limit = threads;
    this.#stopAfterMs = stopAfterMs;
  }

  async output(id: string, calldata: Uint8Array, options?: CanonicalOptions): Promise<Uint8Array> {
    const answer = await this.#ask("output", id, calldata, options);
    return answer.kind === "output" ? answer.output : misanswered();
  }

  async trace(id: string, calldata: Uint8Array, options?: CanonicalOptions): Promise<CanonicalTrace> {
    const answer = await this.#ask("trace", id, calldata, options);
    if (answer.kind !== "trace") return misanswered();
    return { tensors: answer.tensors, commitment: commitTensors(answer.trees.map(TensorTree.of)) };
  }

  /** Ends the threads; whoever waits is told CANONICAL_FAILED. */
  close(): void {
    this.#isClosed = true;
    const waiting = [...this.#queue];
    this.#queue.clear();
    for (const job of waiting) settle(job, () => job.reject(lost("the pool was closed")));
    for (const thread of [...this.#threads]) this.#lose(thread, "the pool was closed");
  }

  #ask(task: Task, id: string, calldata: Uint8Array, options: CanonicalOptions = {}): Promise<Answer> {
    const { urgency = "own", signal } = options;
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.#isClosed) throw lost("the pool was closed");
      if (!this.#models.has(id)) throw new RangeError(`model ${id} is not loaded`);
      const abandon = () => {
        this.#queue.delete(job);
        settle(job, () => reject(signal?.reason));
        this.#stopSoon(job);
      };
      const end = () => signal?.removeEventListener("abort", abandon);
      const job: Job = { message: { task, id, calldata }, urgency, resolve, reject, end };
      signal?.addEventListener("abort", abandon);
      this.#queue.add(job);
      this.#fill();
    });
  }

  #fill(): void {
    for (let job = this.#next(); job !== undefined; job = this.#next()) {
      const thread = [...this.#threads].find((one) => one.job === undefined) ?? this.#start();
      this.#queue.delete(job);
      thread.job = job;
      const { id } = job.message;
      const model = thread.models.has(id) ? undefined : this.#models.get(id);
      thread.models.add(id);
      thread.worker.ref();
      thread.worker.postMessage({ ...job.message, model } satisfies ToThread);
    }
  }

  /** The most urgent run that a thread is free for, the oldest of these. */
  #next(): Job | undefined {
    const running = [...this.#threads].flatMap(({ job }) => (job === undefined ? [] : [job]));
    if (running.length >= this.#limit) return undefined;
    const forCallers = Math.max(1, this.#limit - 1);
    const isFull = running.filter(({ urgency }) => urgency === "caller").length >= forCallers;
    for (const urgency of URGENCIES) {
      if (urgency === "caller" && isFull) continue;
      for (const job of this.#queue) if (job.urgency === urgency) return job;
    }
    return undefined;
  }

  #start(): Thread {
    const worker = new Worker(new URL("canonical-thread.mjs", import.meta.url), {
      execArgv: [],
    });
    const thread: Thread = { worker, models: new Set(), job: undefined, stopper: undefined };
    worker.on("message", (message: FromThread) => this.#answered(thread, message));
    worker.on("error", (error) => this.#lose(thread, String(error)));
    worker.on("exit", (code) => this.#lose(thread, `it ended with exit code ${code}`));
    this.#threads.add(thread);
    return thread;
  }

  #answered(thread: Thread, message: FromThread): void {
    const { job } = thread;
    clearTimeout(thread.stopper);
    thread.job = undefined;
    thread.stopper = undefined;
    // An idle thread keeps no program alive.
    thread.worker.unref();
    if (job !== undefined) {
      settle(job, () => (message.kind === "failed" ? job.reject(failure(message)) : job.resolve(message)));
    }
    this.#fill();
  }

  /** A start costs time too, so a run that nobody waits for may end if it soon does. */
  #stopSoon(job: Job): void {
    const thread = [...this.#threads].find((one) => one.job === job);
    if (thread === undefined) return;
    thread.stopper = setTimeout(() => this.#lose(thread, "nobody waits for its run"), this.#stopAfterMs);
    thread.stopper.unref();
  }

  #lose(thread: Thread, reason: string): void {
    if (!this.#threads.delete(thread)) return;
    clearTimeout(thread.stopper);
    void thread.worker.terminate();
    const { job } = thread;
    if (job !== undefined) settle(job, () => job.reject(lost(reason)));
    if (!this.#isClosed) this.#fill();
  }
}

/** Once: what nobody waits for has been settled before. */
function settle(job: Job, how: () => void): void {
  job.end();
  how();
}

/** The weights in memory that all threads see. */
const shared = ({ model, selector }: CanonicalModel): CanonicalModel => ({
  selector,
  model: {
    program: model.program,
    weights: model.weights.map((bytes) => {
      const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
      copy.set(bytes);
      return copy;
    }),
  },
});

function failure({ error }: Extract<FromThread, { kind: "failed" }>): Error {
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
