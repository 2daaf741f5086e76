/** Work of a node that goes on beside its loop: each piece once at a time, and again after a pause if it failed. */

import type { Logger } from "../base/log.ts";
import { RecentMap } from "../base/recent.ts";
import { chainError } from "../protocol/chain/errors.ts";

/** Pause after a failure, doubled each time up to the longest, ms. */
const PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** Failures that are remembered, those of work that nobody wants any more among them. */
const MAX_FAILURES = 10_000;

export interface WorkListParts {
  readonly log: Logger;
  readonly nowMs: () => number;
  readonly signal: AbortSignal;
}

export class WorkList {
  readonly #parts: WorkListParts;
  readonly #busy = new Map<string, Promise<void>>();
  readonly #failures = new RecentMap<string, { readonly count: number; readonly untilMs: number }>(
    MAX_FAILURES,
  );

  constructor(parts: WorkListParts) {
    this.#parts = parts;
  }

  /** Begins some work, unless it is under way or failed a moment ago.
   *  @param what it is, for the message of a failure */
  begin(id: string, facts: object, what: string, work: () => Promise<void>): void {
    const { log, nowMs, signal } = this.#parts;
    const failed = this.#failures.get(id);
    if (signal.aborted || this.#busy.has(id) || (failed?.untilMs ?? 0) > nowMs()) return;
    const begun = work()
      .then(() => void this.#failures.delete(id))
      .catch((error) => {
        if (signal.aborted) return;
        const count = (failed?.count ?? 0) + 1;
        const pauseMs = Math.min(PAUSE_MS * 2 ** (count - 1), LONGEST_PAUSE_MS);
        this.#failures.set(id, { count, untilMs: nowMs() + pauseMs });
        const { code, message } = chainError(error, what);
        log.warn({ ...facts, code, pauseMs }, message);
      })
      .finally(() => this.#busy.delete(id));
    this.#busy.set(id, begun);
  }

  /** Waits for what is under way. */
  async stop(): Promise<void> {
    await Promise.all(this.#busy.values());
  }
}
