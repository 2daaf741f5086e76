/** Turns that run or ran a moment ago: their number is bounded, they end in time, and their events can be read again. */
import { randomBytes } from "node:crypto";
import { abortAfter } from "../../base/abort.ts";
import { BaseError } from "../../base/errors.ts";
import { type ChatParts, runTurn, type TurnInput } from "./chat-handler.ts";
import { TurnStream } from "./turn-stream.ts";

export interface RunnerLimits {
  readonly turnTimeoutMs: number;
  readonly graceMs: number;
  readonly maxTurns: number;
  readonly maxTurnsPerCaller: number;
}

/** Turns whose events are kept after their end. */
const MAX_KEPT = 128;

export class TurnRunner {
  readonly #parts: ChatParts;
  readonly #limits: RunnerLimits;
  readonly #streams = new Map<string, TurnStream>();
  readonly #running = new Map<string, { readonly caller: string; readonly ended: Promise<void> }>();

  constructor(parts: ChatParts, limits: RunnerLimits) {
    this.#parts = parts;
    this.#limits = limits;
  }

  /** Starts a turn; its events wait for whoever reads them.
   *  @returns the turn's id, which nobody can guess: who knows it may read it
   *  @throws BaseError TOO_BUSY, TOO_MANY_TURNS */
  start(input: Omit<TurnInput, "turnId">): string {
    const { maxTurns, maxTurnsPerCaller, graceMs, turnTimeoutMs } = this.#limits;
    const own = [...this.#running.values()].filter(({ caller }) => caller === input.caller);
    if (this.#running.size >= maxTurns) throw tooMany("TOO_BUSY", "Turns of this gateway", maxTurns);
    if (own.length >= maxTurnsPerCaller)
      throw tooMany("TOO_MANY_TURNS", "Turns of one caller", maxTurnsPerCaller);
    const turnId = randomBytes(16).toString("hex");
    const stream = new TurnStream(graceMs);
    const signal = abortAfter(turnTimeoutMs, stream.signal);
    const ended = runTurn(
      this.#parts,
      { ...input, turnId },
      (event, data) => stream.send(event, data),
      signal,
    )
      .catch((error: unknown) => this.#parts.log.error({ turnId, error }, "a turn could not be saved"))
      .then(() => {
        stream.end();
        this.#running.delete(turnId);
        this.#forget();
      });
    this.#streams.set(turnId, stream);
    this.#running.set(turnId, { caller: input.caller, ended });
    return turnId;
  }

  /** @throws BaseError TURN_UNKNOWN */
  stream(turnId: string): TurnStream {
    const stream = this.#streams.get(turnId);
    if (stream !== undefined) return stream;
    throw new BaseError({
      code: "TURN_UNKNOWN",
      shortMessage: "There is no such turn, or its events are not kept any more.",
      nextStep: "Send the message again.",
    });
  }

  /** Cancels what runs and waits for its end. */
  async close(): Promise<void> {
    for (const stream of this.#streams.values()) stream.cancel();
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }

  /** Drops the oldest ended turns above what is kept. */
  #forget(): void {
    let over = this.#streams.size - this.#running.size - MAX_KEPT;
    for (const [turnId, { isOver }] of this.#streams) {
      if (over <= 0) return;
      if (!isOver) continue;
      this.#streams.delete(turnId);
      over -= 1;
    }
  }
}

const tooMany = (code: string, what: string, limit: number) =>
  new BaseError({
    code,
    shortMessage: `${what} at once are limited to ${limit}.`,
    nextStep: "Wait for one to end, then ask again.",
    details: { limit },
    retryable: true,
  });
