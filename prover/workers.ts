/** Runs jobs side by side: answers that are owed always at once, the rest a few at a time. */
import { setTimeout } from "node:timers/promises";
import type { Logger } from "../base/log.ts";
import { chainError } from "../protocol/chain/errors.ts";
import { type HeldJob, type JobKind, type JobStore, jobKey } from "./jobs.ts";

export type Outcome =
  | { readonly kind: "done" }
  /** not now; `afterMs` absent: soon, when a block or another job's end wakes it */
  | { readonly kind: "again"; readonly reason: string; readonly afterMs?: number };

export const DONE: Outcome = { kind: "done" };
export const again = (reason: string, afterMs?: number): Outcome => ({
  kind: "again",
  reason,
  ...(afterMs === undefined ? {} : { afterMs }),
});

/** Told when a try of a job has ended, and how long it took; must not throw. */
export type JobObserver = (kind: JobKind, outcome: Outcome["kind"], ms: number) => void;

export interface WorkersOptions {
  readonly jobs: JobStore;
  readonly work: (held: HeldJob) => Promise<Outcome>;
  /** jobs that can wait, at once */
  readonly width: number;
  readonly nowMs: () => number;
  readonly onEnd: JobObserver;
  readonly log: Logger;
}

/** Between two tries of a job that gave no time. */
const SOON_MS = 200;
/** Between two tries to write to a disk that takes nothing. */
const STORAGE_PAUSE_MS = 1_000;
/** Answers at once: each waits for its block, so the limit is the node's, not the machine's. */
const URGENT_WIDTH = 64;

export class Workers {
  readonly #options: WorkersOptions;
  readonly #running = new Map<number, { readonly urgent: boolean; readonly done: Promise<void> }>();
  #isStopped = false;

  constructor(options: WorkersOptions) {
    this.#options = options;
  }

  /** Starts what may run. Called at each block and whenever a job ends. */
  wake(): void {
    const { jobs, width, nowMs } = this.#options;
    while (!this.#isStopped && this.#running.size < URGENT_WIDTH) {
      const ordinary = [...this.#running.values()].filter(({ urgent }) => !urgent).length;
      const held = jobs.take(nowMs(), ordinary >= width);
      if (held === undefined) return;
      const urgent = held.job.kind === "commitTrace" || held.job.kind === "reveal";
      this.#running.set(held.id, { urgent, done: this.#run(held) });
    }
  }

  /** Takes no more and waits for what runs. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  async #run(held: HeldJob): Promise<void> {
    const { jobs, work, nowMs, onEnd, log } = this.#options;
    const startedAt = nowMs();
    const outcome = await work(held).catch((error: unknown): Outcome => {
      log.error({ job: jobKey(held.job), error }, "a job failed; trying again");
      return again(String(error));
    });
    onEnd(held.job.kind, outcome.kind, nowMs() - startedAt);
    if (outcome.kind === "again") {
      log.warn(
        { job: jobKey(held.job), attempt: held.attempt, reason: outcome.reason },
        "a job is not done yet",
      );
    }
    await this.#record(() => {
      if (outcome.kind === "done") jobs.finish(held);
      else jobs.postpone(held, nowMs() + (outcome.afterMs ?? SOON_MS));
    });
    this.#running.delete(held.id);
    await this.#record(() => this.wake());
  }

  /** Writes to the table of jobs, again and again while the disk does not let it: on a full one the process goes on. A
   *  job that is still held when the process ends is tried again by the next one. */
  async #record(write: () => void): Promise<void> {
    for (;;) {
      try {
        return write();
      } catch (error) {
        const { code, message } = chainError(error, "write to the table of jobs");
        this.#options.log.error({ code }, message);
        if (this.#isStopped) return;
      }
      await setTimeout(STORAGE_PAUSE_MS);
    }
  }
}
