/** Checks posted batches, one after another: whoever posts decides how many there are, and memory holds one. */

import { toHex } from "../../base/bytes.ts";
import type { Logger } from "../../base/log.ts";
import { chainError } from "../../protocol/chain/errors.ts";
import type { Head } from "../../protocol/chain/follower.ts";
import type { BatchId } from "../../protocol/rules/promises/batch.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import type { Observer } from "../notices.ts";
import type { CoveredModel, Engines } from "../reexecute.ts";
import { checkLeaves } from "./leaves.ts";
import type { WatchedPromises } from "./store.ts";
import type { UncheckedBatch } from "./unchecked-batches.ts";

export interface BatchCheckerParts extends Engines {
  readonly store: WatchedPromises;
  readonly models: ReadonlyMap<ModelId, CoveredModel>;
  readonly observe: Observer;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly nowMs: () => number;
  /** the chain's time, seconds; undefined before the first block */
  readonly now: () => number | undefined;
  /** workers whose word counts no more */
  readonly barred: ReadonlySet<string>;
  /** told of a batch with wrong leaves, once they are kept */
  readonly onWrong: (id: BatchId) => void;
}

/** Blocks between two tries to check a batch that could not be checked. */
const RETRY_AFTER = 5n;

export class BatchChecker {
  readonly #parts: BatchCheckerParts;
  readonly #retryAt = new Map<BatchId, bigint>();
  #running: Promise<void> | undefined;
  #head: Head | undefined;

  constructor(parts: BatchCheckerParts) {
    this.#parts = parts;
  }

  /** Batches are to be checked again. */
  again(): void {
    this.#start();
  }

  /** Goes on with what is unchecked. */
  see(head: Head): void {
    this.#head = head;
    const { store, log } = this.#parts;
    for (const id of store.batches.drop(head.timestamp)) {
      this.#retryAt.delete(id);
      log.error({ batch: id }, "the window of a batch is over, and not all of its leaves were checked");
    }
    for (const [id, at] of this.#retryAt) if (at <= head.number) this.#retryAt.delete(id);
    this.#start();
  }

  /** Resolves when no check is under way. */
  async idle(): Promise<void> {
    await this.#running;
  }

  #start(): void {
    if (this.#running !== undefined || this.#parts.signal.aborted) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  async #run(): Promise<void> {
    const { store, signal, log } = this.#parts;
    for (;;) {
      const next = store.batches.next(this.#waiting);
      if (next === undefined) return;
      try {
        await this.#check(next);
      } catch (error) {
        if (signal.aborted) return;
        const { code, message } = chainError(error, "check a batch");
        log.error({ batch: next.id, code }, message);
        this.#postpone(next.id);
      }
    }
  }

  get #waiting(): ReadonlySet<BatchId> {
    return new Set(this.#retryAt.keys());
  }

  #postpone(id: BatchId): void {
    this.#retryAt.set(id, (this.#head?.number ?? 0n) + RETRY_AFTER);
  }

  async #check(posted: UncheckedBatch): Promise<void> {
    const { store, models, observe, log, nowMs, now, barred, onWrong } = this.#parts;
    const { id, batch, windowEnd, mustRunHere } = posted;
    const covered = models.get(batch.modelId) as CoveredModel;
    const model = mustRunHere === true ? { ...covered, isQuick: true } : covered;
    const startedMs = nowMs();
    const leftMs = () => 1_000 * (windowEnd - (now() ?? windowEnd));
    const engines = { ...this.#parts, leftMs };
    const { right, wrong, unchecked, workers } = await checkLeaves(model, posted, engines, (outcome) =>
      observe({ kind: "engine", subject: { promise: id }, model: model.name, outcome }),
    );
    // They were barred since they answered.
    const isLiars = [...workers].some((worker) => barred.has(worker));
    const isDone = unchecked.count === 0 && !isLiars;
    const seconds = (nowMs() - startedMs) / 1_000;
    const counts = { right, wrong: wrong.length, unchecked: unchecked.count };
    const facts = { batch: id, model: model.name, prover: batch.prover, ...counts, seconds };
    observe({ kind: "leaves", batch: id, model: model.name, ...counts, seconds });
    if (unchecked.count > 0) {
      log.error(
        { ...facts, reason: unchecked.reason },
        "leaves of a batch could not be checked; trying again",
      );
      this.#postpone(id);
    }
    const leaves = wrong.map(({ index, payload, path }) => ({
      ...{ kind: "leaf" as const, batchId: id, batch, index },
      ...{ payload: toHex(payload), path: path.map(toHex) },
    }));
    // What is wrong does not wait for what could not be checked.
    store.addLeaves(id, leaves, { isDone, workers });
    if (isLiars) store.batches.mustRunHere(id);
    if (wrong.length === 0) {
      if (isDone) log.info(facts, "all leaves of a batch are right");
      return;
    }
    log.warn(
      { ...facts, leaves: wrong.slice(0, 16).map(({ index }) => index) },
      "leaves of a batch are wrong",
    );
    onWrong(id);
  }
}
