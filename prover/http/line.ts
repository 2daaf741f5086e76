/** Who runs a model by HTTP, who waits for what became of it, and who listens: so many at once, and counted. */
import type { Response } from "express";
import { BaseError } from "../../base/errors.ts";
import { Slots } from "../../protocol/service/http/slots.ts";
import { type CancelledBy, withinTime } from "../../protocol/service/http/time-limit.ts";
import { addHttpMetrics } from "../metrics.ts";
import type { ServedModel } from "../models.ts";
import { outputOf } from "../runs.ts";
import type { HttpParts } from "./parts.ts";

/** Who waits or listens costs less than a run. */
const MAX_WAITERS = 1_024;
const MAX_LISTENERS = 256;
const MAX_LISTENERS_OF_ONE = 16;

export class Line {
  readonly waiters: Slots;
  readonly listeners: Slots;
  readonly #parts: HttpParts;
  readonly #runs: Slots;
  readonly #onCancel: (by: CancelledBy) => void;

  constructor(parts: HttpParts) {
    const { nowMs, metrics, limits } = parts;
    this.#parts = parts;
    this.#runs = new Slots({ what: "runs", limit: limits.maxRuns, nowMs });
    this.waiters = new Slots({ what: "callers that wait for finality", limit: MAX_WAITERS, nowMs });
    this.listeners = new Slots({
      what: "listeners",
      limit: MAX_LISTENERS,
      perKey: MAX_LISTENERS_OF_ONE,
      nowMs,
    });
    const { waiters, listeners } = this;
    this.#onCancel = addHttpMetrics(metrics, { runs: this.#runs, waiters, listeners });
  }

  /** The output without a bond. A run whose caller leaves, or whose time is over, is cancelled and counted.
   *  @throws BaseError TOO_BUSY, RUN_TIMEOUT, MODEL_CANNOT_RUN (retryable), and what `decodeInput` throws */
  run(model: ServedModel, calldata: Uint8Array, response: Response): Promise<Uint8Array> {
    return this.work(model, response, (signal) => outputOf(model, calldata, this.#parts, signal));
  }

  /** Any work with a model for a caller, by the same rules. @param runs how many it takes
   *  @throws BaseError as `run`, and what the work throws */
  work<T>(
    model: ServedModel,
    response: Response,
    work: (signal: AbortSignal) => Promise<T>,
    runs = 1,
  ): Promise<T> {
    const { limits } = this.#parts;
    const { runTimeoutSeconds: seconds } = limits;
    const limit = { timeoutMs: 1_000 * seconds, late: () => late(model, seconds), onCancel: this.#onCancel };
    return this.#runs.hold(() => withinTime(response, limit, work), runs);
  }
}

const late = ({ name }: ServedModel, seconds: number) =>
  new BaseError({
    code: "RUN_TIMEOUT",
    shortMessage: `${name} gave no output within ${seconds} s, its wait for others included.`,
    nextStep: "Ask again when this node is less busy, or ask another.",
    retryable: true,
  });
