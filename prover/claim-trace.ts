/** The trace that one claim in dispute is defended with: this machine's, or where that is late what workers make. */
import { equalBytes, toHex } from "../base/bytes.ts";
import type { Logger } from "../base/log.ts";
import type { Position } from "../inference/commit/positions.ts";
import { foldTops, type Reveal, topsOf } from "../inference/commit/reveal.ts";
import { OwnTrace } from "./own-trace.ts";
import type { Runs } from "./runs.ts";
import { type TraceOrder, type TraceWorkers, WorkerTrace, waited } from "./worker-traces.ts";

export interface ClaimTraceParts {
  readonly runs: Pick<Runs, "trace" | "reveal">;
  /** absent: this machine alone */
  readonly workers?: TraceWorkers | undefined;
  readonly log: Logger;
}

/** Of the time that is left, what this machine has before the word of workers is taken. */
const OWN_SHARE = 1 / 2;

export class ClaimTrace {
  readonly #parts: ClaimTraceParts;
  readonly #order: TraceOrder;
  readonly #own: OwnTrace;
  readonly #theirs: WorkerTrace | undefined;
  /** of the time left, from which on the word of workers is taken, ms */
  #lateAtMs: number | undefined;
  #agreed: readonly Uint8Array[] | undefined;
  readonly #logged = new Set<string>();

  constructor(parts: ClaimTraceParts, order: TraceOrder) {
    const { runs, workers } = parts;
    const { model, calldata, output, signal } = order;
    this.#parts = parts;
    this.#order = order;
    this.#own = new OwnTrace(() => runs.trace(model, calldata, signal, output));
    this.#theirs =
      workers?.asksFor(model.id) === true ? new WorkerTrace(workers, order, this.#own) : undefined;
  }

  /** Hashes that commitTrace publishes: this machine's, whenever it has them. Without a trace the bond would be lost, so in
   *  the second half of the time that was left at the first call it is what two workers agree on, while this machine has
   *  none.
   *  @param leftMs until they are due, ms; absent: not known, and this machine's alone count
   *  @throws as Runs.trace: try again */
  async tops(leftMs: number | undefined): Promise<readonly Uint8Array[]> {
    const own = this.#own.get();
    if (this.#theirs === undefined || leftMs === undefined) return topsOf(await own);
    this.#lateAtMs ??= OWN_SHARE * leftMs;
    const untilLateMs = leftMs - this.#lateAtMs;
    const agreed = this.#theirs.agreed(leftMs).then((tops) => {
      this.#agreed = tops;
      return tops;
    });
    agreed.catch(() => undefined);
    if (untilLateMs <= 0 && this.#agreed !== undefined) {
      own.catch(() => undefined);
      return this.#late(this.#agreed);
    }
    const over = new AbortController();
    const late = waited(untilLateMs, AbortSignal.any([over.signal, this.#order.signal]));
    const theirs = late.then(() => agreed).then((tops) => this.#late(tops));
    try {
      return await Promise.race([own.then(topsOf), theirs]);
    } finally {
      over.abort();
      theirs.catch(() => undefined);
    }
  }

  #late(tops: readonly Uint8Array[]): readonly Uint8Array[] {
    const { made } = this.#own;
    if (made !== undefined) return topsOf(made);
    const root = toHex(foldTops(this.#order.model.prepared.program.steps.length, tops));
    this.#logOnce("warn", { root }, "this machine's trace is late: two workers' is committed");
    return tops;
  }

  /** What is revealed at a position of the trace that was committed, by whoever is first.
   *  @param root of that trace, as the chain has it @param leftMs as of `tops`
   *  @throws as Runs.trace and Runs.reveal: try again */
  async reveal(position: Position, root: Uint8Array, leftMs: number | undefined): Promise<Reveal> {
    const { runs } = this.#parts;
    const { made } = this.#own;
    if (made !== undefined && equalBytes(made.root, root)) return runs.reveal(made, position);
    const theirs = leftMs === undefined ? undefined : this.#theirs?.reveal(position, root, leftMs);
    const own = this.#own.get().then((trace) => {
      if (equalBytes(trace.root, root)) return runs.reveal(trace, position);
      const facts = { committed: toHex(root), canonical: toHex(trace.root) };
      this.#logOnce("error", facts, "the committed trace is not the one of this machine");
      if (theirs === undefined) throw new Error("the committed trace is not the one of this machine");
      return theirs;
    });
    return theirs === undefined ? own : Promise.race([theirs, own]);
  }

  #logOnce(level: "warn" | "error", facts: object, message: string): void {
    if (this.#logged.has(message)) return;
    this.#logged.add(message);
    this.#parts.log[level]({ model: this.#order.model.name, ...facts }, message);
  }
}
