/** Traces behind claims in dispute. */
import type { Commitment } from "../inference/commit/commitments.ts";
import type { Position } from "../inference/commit/positions.ts";
import { type Reveal, revealAt, topsOf } from "../inference/commit/reveal.ts";
import type { Canonical } from "../inference/runtime/canonical-pool.ts";
import type { WorkerRuns } from "../protocol/service/workers/runs.ts";
import type { ServedProgram } from "./models.ts";

/** A run's trace, as a claim is defended with it. */
export interface Traced {
  readonly root: Uint8Array;
  /** hashes that commitTrace publishes */
  readonly tops: readonly Uint8Array[];
  /** What is revealed at a position.
   *  @param leftMs until it is due, ms; absent: there is no such time */
  reveal(position: Position, leftMs?: number): Promise<Reveal>;
}

/** Of a run on this machine. */
export const tracedHere = (trace: Commitment): Traced => ({
  root: trace.root,
  tops: topsOf(trace),
  reveal: async (position) => revealAt(trace, position),
});

export interface TraceWorkers {
  readonly runs: Pick<WorkerRuns, "ask" | "bar">;
  /** whether workers are asked about a model */
  readonly asksFor: (model: string) => boolean;
}

/** What a defence needs. */
export interface TraceOrder {
  readonly model: ServedProgram;
  readonly calldata: Uint8Array;
  /** aborts when the claim is over; nothing is revealed after that */
  readonly signal: AbortSignal;
  /** until the trace is due, ms; absent: there is no such time, and workers are not asked */
  readonly leftMs?: number | undefined;
}

/** The trace of this machine, which may come late or fail. */
export class OwnTrace {
  readonly #make: () => Promise<Traced>;
  readonly #told: ((traced: Traced) => void)[] = [];
  #making: Promise<Traced> | undefined;
  #made: Traced | undefined;

  constructor(canonical: Pick<Canonical, "trace">, { model, calldata, signal }: TraceOrder) {
    this.#make = async () =>
      tracedHere((await canonical.trace(model.id, calldata, { urgency: "owed", signal })).commitment);
  }

  get isMade(): boolean {
    return this.#made !== undefined;
  }

  /** Makes it at the first call, and anew at the first call after it failed. */
  get(): Promise<Traced> {
    this.#making ??= this.#make().then(
      (traced) => {
        this.#made = traced;
        for (const tell of this.#told.splice(0)) tell(traced);
        return traced;
      },
      (error: unknown) => {
        this.#making = undefined;
        throw error;
      },
    );
    return this.#making;
  }

  /** @param tell called once, also where it is made later; never where it is not made */
  whenMade(tell: (traced: Traced) => void): void {
    if (this.#made === undefined) this.#told.push(tell);
    else tell(this.#made);
  }
}
