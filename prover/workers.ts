/** Runs jobs side by side: answers that are owed always at once, the rest a few at a time. */
import { setTimeout } from "node:timers/promises";
import type { Logger } from "../base/log.ts";
import { chainError } from "../protocol/chain/errors.ts";
import { type HeldJob, type JobKind, type JobStore, jobKey } from "./jobs.ts";

export type Outcome =
  | { readonly kind: "done" }
  /** not now; `afterMs` after this try, absent: soon. Further tries that end so come ever later, up to a limit. */
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
  /** false: only answers that are owed are worked on; others may sign with this key */
  readonly mayBegin: () => boolean;
  readonly nowMs: () => number;
  readonly onEnd: JobObserver;
  readonly log: Logger;
}

/** After the first try of a job that gave no time; twice as long after each further one. */
const SOON_MS = 200;
/** Where that ends for an answer that is owed, and for what can wait. */
const LONGEST_PAUSE_MS = { urgent: 1_000, ordinary: 15_000 } as const;
/** Between two tries to write to a disk that takes nothing. */
const STORAGE_PAUSE_MS = 1_000;
/** Answers at once: each waits for its block, so the limit is the node's, not the machine's. */
const URGENT_WIDTH = 64;

const isUrgent = ({ job }: HeldJob): boolean => job.kind === "commitTrace" || job.kind === "reveal";

function pauseAfter(held: HeldJob, firstMs = SOON_MS): number {
  const longest = isUrgent(held) ? LONGEST_PAUSE_MS.urgent : LONGEST_PAUSE_MS.ordinary;
  return Math.min(firstMs * 2 ** Math.min(held.attempt - 1, 30), Math.max(firstMs, longest));
}

export class Workers {
  readonly #options: WorkersOptions;
  readonly #running = new Map<number, { readonly urgent: boolean; readonly done: Promise<void> }>();
  #isStopped = false;

  constructor(options: WorkersOptions) {
    this.#options = options;
  }

  /** Starts what may run. Called at each block and whenever a job ends. */
  wake(): void {
    const { jobs, width, mayBegin, nowMs } = this.#options;
    while (!this.#isStopped && this.#running.size < URGENT_WIDTH) {
      const ordinary = [...this.#running.values()].filter(({ urgent }) => !urgent).length;
      const held = jobs.take(nowMs(), ordinary >= width || !mayBegin());
      if (held === undefined) return;
      this.#running.set(held.id, { urgent: isUrgent(held), done: this.#run(held) });
    }
  }

  /** Takes no more and waits for what runs. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  async #run(held: HeldJob): Promise<void> {
    const { jobs, work, nowMs, onEnd, log } = this.#options;
    const { attempt, reason: before } = held;
    const job = jobKey(held.job);
    const startedAt = nowMs();
    // A job tells what hinders it when that changes, not at each try.
    const outcome = await work(held).catch((error: unknown): Outcome => {
      const reason = String(error);
      if (reason !== before) log.error({ job, attempt, error }, "a job failed; trying again");
      return again(reason);
    });
    onEnd(held.job.kind, outcome.kind, nowMs() - startedAt);
    if (outcome.kind === "done") {
      if (before !== undefined) log.info({ job, attempt }, "a job that was not done is over");
    } else if (outcome.reason !== before) {
      log.warn({ job, attempt, reason: outcome.reason }, "a job is not done yet");
    }
    await this.#record(() => {
      if (outcome.kind === "done") jobs.finish(held);
      else jobs.postpone(held, nowMs() + pauseAfter(held, outcome.afterMs), outcome.reason);
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
