/** Child processes that run onnxruntime, with a watchdog over each run. */
import { type ChildProcess, fork } from "node:child_process";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import {
  ANSWERS_FD,
  bytesOf,
  type Content,
  contentAt,
  type Frame,
  type FromChild,
  frameReader,
  type Port,
  portBytes,
  RUNS_FD,
  type SessionSource,
  type ToChild,
  toFrame,
} from "./messages.ts";

export interface PoolOptions {
  /** child processes; default 1 */
  readonly size?: number;
  /** threads of one run; default 1 */
  readonly threads?: number;
  /** without an answer, while runs wait, after which a child is killed; default 30,000 */
  readonly timeoutMs?: number;
}

/** "Could not run" is no statement about the model or the input. */
export type RunResult =
  | {
      readonly output: Content;
      /** Time of `session.run`, with its tensors made and read: the mean of the runs that were answered together. */
      readonly sessionMs: number;
    }
  | { readonly failure: string };

interface Waiting {
  readonly resolve: (result: RunResult) => void;
  /** Of a run; a session that opens has no output. */
  readonly output?: Port;
}

/** A session of a child. */
interface Opened {
  readonly number: number;
  readonly result: Promise<RunResult>;
}

interface Unsent {
  readonly ids: number[];
  readonly inputs: Uint8Array[];
}

/** A process with its streams of frames. */
interface Running {
  readonly process: ChildProcess;
  readonly runs: Socket;
}

/** One child and what it owes. It is started at first use and again after it died. */
class Child {
  readonly #timeoutMs: number;
  readonly #threads: number;
  readonly #opened = new Map<string, Opened>();
  readonly #waiting = new Map<number, Waiting>();
  /** Runs of this turn of the event loop, by session: they are sent together. */
  readonly #unsent = new Map<number, Unsent>();
  #watchdog: NodeJS.Timeout | undefined;
  #running: Running | undefined;
  #next = 0;
  #sessions = 0;

  constructor({ timeoutMs = 30_000, threads = 1 }: PoolOptions) {
    this.#timeoutMs = timeoutMs;
    this.#threads = threads;
  }

  get load(): number {
    return this.#waiting.size;
  }

  async run(source: SessionSource, inputs: readonly Content[]): Promise<RunResult> {
    // Runs share a block of bytes: one of another size would shift the others.
    const [found, expected] = [inputs.map((data) => data.byteLength), source.inputs.map(portBytes)];
    if (found.join() !== expected.join())
      return { failure: `the inputs have [${found}] bytes, must have [${expected}]` };
    const { number, result } = this.#opened.get(source.model) ?? this.#open(source);
    const opened = await result;
    if (!("failure" in opened)) return this.#ask((id) => this.#collect(id, number, inputs), source.output);
    this.#opened.delete(source.model);
    return opened;
  }

  #open(source: SessionSource): Opened {
    const session = this.#sessions++;
    const message = (id: number): ToChild => ({ id, session, source, threads: this.#threads });
    const opened = { number: session, result: this.#ask((id) => this.#sendOpen(message(id))) };
    this.#opened.set(source.model, opened);
    return opened;
  }

  close(): void {
    this.#lose("the pool was closed", true);
  }

  #ask(send: (id: number) => void, output?: Port): Promise<RunResult> {
    const id = this.#next++;
    return new Promise((resolve) => {
      this.#waiting.set(id, output === undefined ? { resolve } : { resolve, output });
      this.#watchdog ??= this.#watch();
      send(id);
    });
  }

  #watch(): NodeJS.Timeout {
    const reason = `a run took longer than ${this.#timeoutMs} ms`;
    return setTimeout(() => this.#lose(reason, true), this.#timeoutMs);
  }

  #collect(id: number, session: number, inputs: readonly Content[]): void {
    if (this.#unsent.size === 0) process.nextTick(() => this.#flush());
    const runs = this.#unsent.get(session) ?? { ids: [], inputs: [] };
    this.#unsent.set(session, runs);
    runs.ids.push(id);
    for (const data of inputs) runs.inputs.push(bytesOf(data));
  }

  #flush(): void {
    for (const [session, { ids, inputs }] of this.#unsent) {
      this.#started().runs.write(toFrame(ids, session, inputs));
    }
    this.#unsent.clear();
  }

  #sendOpen(message: ToChild): void {
    const { process: child } = this.#started();
    child.send(message, (error) => {
      if (error !== null) this.#unreachable(child, error);
    });
  }

  #started(): Running {
    if (this.#running !== undefined) return this.#running;
    const child = fork(fileURLToPath(new URL("worker.ts", import.meta.url)), [], {
      execArgv: ["--import", "tsx"],
      serialization: "advanced",
      // Its standard output belongs to the parent's results.
      stdio: ["ignore", "ignore", "inherit", "ipc", "pipe", "pipe"],
    });
    child.on("message", ({ failed }: FromChild) => {
      if (child === this.#running?.process) this.#failed(failed);
    });
    const streams: readonly unknown[] = child.stdio;
    const [answers, runs] = [streams[ANSWERS_FD] as Socket, streams[RUNS_FD] as Socket];
    const read = frameReader();
    answers.on("data", (chunk: Buffer) => {
      if (child === this.#running?.process) for (const frame of read(chunk)) this.#answered(frame);
    });
    for (const stream of [answers, runs]) stream.on("error", (error) => this.#unreachable(child, error));
    child.on("error", (error) => this.#lost(child, `the child process failed: ${error.message}`));
    child.on("exit", (code, signal) =>
      this.#lost(child, `the child process ended (${signal ?? `exit code ${code}`})`),
    );
    // A pool that is idle keeps no program alive.
    child.unref();
    child.channel?.unref();
    answers.unref();
    runs.unref();
    this.#running = { process: child, runs };
    return this.#running;
  }

  #answered({ ids, value, data }: Frame): void {
    let at = 0;
    for (const id of ids) {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (waiting?.output === undefined) {
        waiting?.resolve({ output: new Uint8Array(0), sessionMs: 0 });
        continue;
      }
      const output = contentAt(waiting.output, data, at);
      waiting.resolve({ output, sessionMs: value / ids.length });
      at += portBytes(waiting.output);
    }
    this.#wind();
  }

  #failed(failed: FromChild["failed"]): void {
    for (const { id, reason } of failed) {
      this.#waiting.get(id)?.resolve({ failure: reason });
      this.#waiting.delete(id);
    }
    this.#wind();
  }

  /** Starts the watchdog's time anew. */
  #wind(): void {
    clearTimeout(this.#watchdog);
    this.#watchdog = this.#waiting.size > 0 ? this.#watch() : undefined;
  }

  #lost(child: ChildProcess, reason: string): void {
    if (child === this.#running?.process) this.#lose(reason, false);
  }

  #unreachable(child: ChildProcess, { message }: Error): void {
    if (child === this.#running?.process) this.#lose(`the child process cannot be reached: ${message}`, true);
  }

  #lose(reason: string, kill: boolean): void {
    const child = this.#running?.process;
    this.#running = undefined;
    this.#opened.clear();
    if (kill) child?.kill("SIGKILL");
    clearTimeout(this.#watchdog);
    this.#watchdog = undefined;
    this.#unsent.clear();
    const lost = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { resolve } of lost) resolve({ failure: reason });
  }
}

export class RuntimePool {
  readonly #children: readonly Child[];

  constructor(options: PoolOptions = {}) {
    this.#children = Array.from({ length: options.size ?? 1 }, () => new Child(options));
  }

  /** Runs a session on the least busy child. Never rejects. */
  run(source: SessionSource, inputs: readonly Content[]): Promise<RunResult> {
    const child = this.#children.reduce((least, other) => (other.load < least.load ? other : least));
    return child.run(source, inputs);
  }

  close(): void {
    for (const child of this.#children) child.close();
  }
}
