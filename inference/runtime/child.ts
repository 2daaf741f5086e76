/** One child process and what it owes: sessions that open, runs in order, a watchdog over each. */
import {
  bytesOf,
  type Content,
  contentAt,
  type Frame,
  type FromChild,
  type Port,
  portBytes,
  type SessionSource,
  toFrame,
} from "./messages.ts";
import { WorkerProcess } from "./worker-process.ts";

export interface ChildOptions {
  /** threads of one run; default 1 */
  readonly threads?: number;
  /** without an answer, while runs wait, after which the process is killed; default 30,000 */
  readonly timeoutMs?: number;
  /** how long a run that nobody waits for any more may still take until its process is killed; default 2,000 */
  readonly stopAfterMs?: number;
}

/** "Could not run" is no statement about the model or the input. */
export type RunResult =
  | {
      readonly output: Content;
      /** Time of `session.run`, with its tensors made and read: the mean of the runs that were answered together. */
      readonly sessionMs: number;
    }
  | { readonly failure: string };

/** Something that the process is asked for. */
interface Job {
  readonly resolve: (result: RunResult) => void;
  /** Of a run; a session that opens has no output. */
  readonly output?: Port;
  /** nobody waits for it any more: its answer is dropped */
  isAbandoned: boolean;
}

interface Run extends Job {
  readonly output: Port;
  readonly session: number;
  readonly inputs: readonly Content[];
}

/** A session of the process. */
interface Opened {
  readonly number: number;
  readonly result: Promise<RunResult>;
}

/** Runs are sent ahead so that the process never waits for one, but only this much time's worth, ms, and no more or
 *  fewer than this: what is sent cannot be taken back. */
const AHEAD_MS = 20;
const LEAST_AHEAD = 2;
const MOST_AHEAD = 64;

const ABANDONED: RunResult = { failure: "nobody waits for this run any more" };
/** The process was stopped for the sake of another run: ask again. */
const STOPPED: RunResult = { failure: "the child process was stopped" };

/** It is started at first use and again after it died. */
export class Child {
  readonly #timeoutMs: number;
  readonly #stopAfterMs: number;
  readonly #threads: number;
  readonly #opened = new Map<string, Opened>();
  /** Sent, by id, in the order in which the process does them. */
  readonly #sent = new Map<number, Job>();
  /** Waits for a place among those; a set, so that each can leave it. */
  readonly #queue = new Set<Run>();
  #watchdog: NodeJS.Timeout | undefined;
  #stopper: NodeJS.Timeout | undefined;
  #process: WorkerProcess | undefined;
  #isFilling = false;
  #ahead = LEAST_AHEAD;
  #next = 0;
  #sessions = 0;

  constructor({ timeoutMs = 30_000, stopAfterMs = 2_000, threads = 1 }: ChildOptions) {
    this.#timeoutMs = timeoutMs;
    this.#stopAfterMs = stopAfterMs;
    this.#threads = threads;
  }

  /** Runs and sessions that are waited for. */
  get load(): number {
    let abandoned = 0;
    for (const job of this.#sent.values()) if (job.isAbandoned) abandoned += 1;
    return this.#queue.size + this.#sent.size - abandoned;
  }

  async run(source: SessionSource, inputs: readonly Content[], signal?: AbortSignal): Promise<RunResult> {
    // Runs share a block of bytes: one of another size would shift the others.
    const [found, expected] = [inputs.map((data) => data.byteLength), source.inputs.map(portBytes)];
    if (found.join() !== expected.join())
      return { failure: `the inputs have [${found}] bytes, must have [${expected}]` };
    for (;;) {
      const { number, result } = this.#opened.get(source.model) ?? this.#open(source);
      const opened = await result;
      if ("failure" in opened) {
        if (this.#opened.get(source.model)?.number === number) this.#opened.delete(source.model);
        if (opened === STOPPED) continue;
        return opened;
      }
      const ran = await this.#run(number, source.output, inputs, signal);
      if (ran !== STOPPED) return ran;
    }
  }

  close(): void {
    this.#lose({ failure: "the pool was closed" });
  }

  #open(source: SessionSource): Opened {
    const session = this.#sessions++;
    const result = new Promise<RunResult>((resolve) => {
      const id = this.#send({ resolve, isAbandoned: false });
      this.#started().open({ id, session, source, threads: this.#threads });
    });
    const opened = { number: session, result };
    this.#opened.set(source.model, opened);
    return opened;
  }

  #run(
    session: number,
    output: Port,
    inputs: readonly Content[],
    signal: AbortSignal | undefined,
  ): Promise<RunResult> {
    if (signal?.aborted === true) return Promise.resolve(ABANDONED);
    return new Promise((resolve) => {
      const abandon = () => {
        run.isAbandoned = true;
        this.#queue.delete(run);
        resolve(ABANDONED);
        this.#watchAbandoned();
      };
      const run: Run = {
        session,
        output,
        inputs,
        isAbandoned: false,
        resolve: (result) => {
          signal?.removeEventListener("abort", abandon);
          resolve(result);
        },
      };
      signal?.addEventListener("abort", abandon);
      this.#queue.add(run);
      this.#fill();
    });
  }

  #send(job: Job): number {
    const id = this.#next++;
    this.#sent.set(id, job);
    this.#watchdog ??= this.#watch();
    return id;
  }

  /** Sends what there is place for, at the end of this turn of the event loop: runs of one session travel together. */
  #fill(): void {
    if (this.#isFilling || this.#queue.size === 0 || this.#sent.size >= this.#ahead) return;
    this.#isFilling = true;
    setImmediate(() => {
      this.#isFilling = false;
      this.#flush();
    });
  }

  #flush(): void {
    const frames = new Map<number, { readonly ids: number[]; readonly inputs: Uint8Array[] }>();
    for (const run of this.#queue) {
      if (this.#sent.size >= this.#ahead) break;
      this.#queue.delete(run);
      const frame = frames.get(run.session) ?? { ids: [], inputs: [] };
      frames.set(run.session, frame);
      frame.ids.push(this.#send(run));
      for (const data of run.inputs) frame.inputs.push(bytesOf(data));
    }
    for (const [session, { ids, inputs }] of frames) this.#started().run(toFrame(ids, session, inputs));
  }

  #started(): WorkerProcess {
    this.#process ??= new WorkerProcess({
      answered: (frame) => this.#answered(frame),
      failed: (failed) => this.#failed(failed),
      lost: (reason) => this.#lose({ failure: reason }),
    });
    return this.#process;
  }

  #answered({ ids, value, data }: Frame): void {
    let at = 0;
    for (const id of ids) {
      const job = this.#sent.get(id);
      this.#sent.delete(id);
      if (job?.output === undefined) {
        job?.resolve({ output: new Uint8Array(0), sessionMs: 0 });
        continue;
      }
      const output = contentAt(job.output, data, at);
      const sessionMs = value / ids.length;
      this.#ahead = Math.max(LEAST_AHEAD, Math.min(MOST_AHEAD, Math.floor(AHEAD_MS / sessionMs)));
      job.resolve({ output, sessionMs });
      at += portBytes(job.output);
    }
    this.#wind();
  }

  #failed(failed: FromChild["failed"]): void {
    for (const { id, reason } of failed) {
      this.#sent.get(id)?.resolve({ failure: reason });
      this.#sent.delete(id);
    }
    this.#wind();
  }

  /** The process has answered: starts the watchdogs' time anew, and sends more. */
  #wind(): void {
    clearTimeout(this.#watchdog);
    clearTimeout(this.#stopper);
    this.#watchdog = this.#sent.size > 0 ? this.#watch() : undefined;
    this.#stopper = undefined;
    this.#watchAbandoned();
    this.#fill();
  }

  #watch(): NodeJS.Timeout {
    const failure = `a run took longer than ${this.#timeoutMs} ms`;
    return setTimeout(() => this.#lose({ failure }), this.#timeoutMs);
  }

  /** Stops the process if nobody waits for the run that it is at, unless that ends soon: a start costs time too, and
   *  whoever asks and leaves should not be able to spend that of others. The others are asked again. */
  #watchAbandoned(): void {
    const [current] = this.#sent.values();
    if (current?.isAbandoned !== true) return;
    this.#stopper ??= setTimeout(() => {
      this.#stopper = undefined;
      const [still] = this.#sent.values();
      if (still?.isAbandoned === true) this.#lose(STOPPED);
    }, this.#stopAfterMs);
  }

  #lose(result: RunResult): void {
    this.#process?.kill();
    this.#process = undefined;
    this.#opened.clear();
    clearTimeout(this.#watchdog);
    clearTimeout(this.#stopper);
    this.#watchdog = undefined;
    this.#stopper = undefined;
    const lost = [...this.#sent.values(), ...this.#queue];
    this.#sent.clear();
    this.#queue.clear();
    for (const { resolve } of lost) resolve(result);
  }
}
