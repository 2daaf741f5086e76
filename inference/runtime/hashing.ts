/** Trees of the tensors in a file, by several threads, while a run still writes it. */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { BaseError, type BaseErrorOptions } from "../../base/errors.ts";
import { type Level, TensorTree } from "../commit/tree.ts";
import { readTensor, type TensorPlace } from "./trace-file.ts";

/** What a thread is started with. */
export interface HashingWork {
  readonly fd: number;
  readonly places: readonly TensorPlace[];
  /** how many tensors are written, or STOPPED; how many are taken by some thread */
  readonly counts: Int32Array;
}

const [WRITTEN, TAKEN] = [0, 1];
const STOPPED = -1;
/** More do not help: the run itself takes its time. */
const MOST_THREADS = 4;

/** Levels of the trees that one thread has made, by step. */
export type Hashed = readonly (readonly [step: number, levels: readonly Level[]])[];

/** What a thread answers, once. */
export type FromHashThread = { readonly hashed: Hashed } | { readonly failed: BaseErrorOptions };

/** Takes tensors that no other thread has, and waits for those that are not written yet. */
export function hashSome({ fd, places, counts }: HashingWork): Hashed {
  const made: [number, readonly Level[]][] = [];
  for (;;) {
    const step = Atomics.add(counts, TAKEN, 1);
    const place = places[step];
    if (place === undefined) return made;
    for (;;) {
      const written = Atomics.load(counts, WRITTEN);
      if (written === STOPPED) return [];
      if (written > step) break;
      Atomics.wait(counts, WRITTEN, written);
    }
    const { rows, rowBytes } = place;
    const stored = { read: (from: number, count: number) => readTensor(fd, place, from, count) };
    made.push([step, new TensorTree(stored, rows, rowBytes).levels]);
  }
}

export class Hashing {
  readonly #work: HashingWork;
  readonly #threads: readonly Worker[];
  readonly #others: Promise<readonly Hashed[]>;

  /** Starts as many threads as there are cores for, beside the one that calls this. */
  constructor(fd: number, places: readonly TensorPlace[]) {
    const counts = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
    this.#work = { fd, places, counts };
    const workerData = this.#work;
    const threads: Worker[] = [];
    this.#threads = threads;
    try {
      while (threads.length < Math.min(availableParallelism(), MOST_THREADS) - 1)
        threads.push(new Worker(new URL("hash-thread.mjs", import.meta.url), { execArgv: [], workerData }));
    } catch (error) {
      // Those that could be started would wait for ever.
      this.#setWritten(STOPPED);
      throw error;
    }
    this.#others = Promise.all(this.#threads.map(hashedBy));
    // Whoever waits for it is told; a run may fail first.
    this.#others.catch(() => undefined);
  }

  /** The tensors of the first `steps` steps stand in the file. */
  written(steps: number): void {
    this.#setWritten(steps);
  }

  /** Takes part, and waits for the other threads. @returns levels of each step's tree */
  async finish(): Promise<readonly (readonly Level[])[]> {
    const own = hashSome(this.#work);
    const levels: (readonly Level[])[] = [];
    for (const [step, made] of [own, ...(await this.#others)].flat()) levels[step] = made;
    return levels;
  }

  /** Ends the threads, whatever they are at: after that none reads the file. */
  async stop(): Promise<void> {
    this.#setWritten(STOPPED);
    await Promise.all(this.#threads.map((thread) => thread.terminate()));
  }

  #setWritten(count: number): void {
    Atomics.store(this.#work.counts, WRITTEN, count);
    Atomics.notify(this.#work.counts, WRITTEN);
  }
}

/** @returns what the thread has made @throws BaseError that it met: as errors travel, they lose their class */
export const hashedBy = (thread: Worker): Promise<Hashed> =>
  new Promise((resolve, reject) => {
    thread.on("message", (message: FromHashThread) =>
      "failed" in message ? reject(new BaseError(message.failed)) : resolve(message.hashed),
    );
    thread.on("error", reject);
    thread.on("exit", (code) => reject(new Error(`a thread that hashes ended with exit code ${code}`)));
  });
