/** Traces by workers, where this machine is late or cannot make them. */
import { setTimeout as delay } from "node:timers/promises";
import { concatBytes, equalBytes, toHex } from "../base/bytes.ts";
import { isBaseError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import type { Position } from "../inference/commit/positions.ts";
import { foldReveal, foldTops, type Reveal, traceShapes } from "../inference/commit/reveal.ts";
import type { TreeShape } from "../inference/program/shape.ts";
import type { Canonical } from "../inference/runtime/canonical-pool.ts";
import { readReveal, readTops, revealInput } from "../protocol/service/workers/traces.ts";
import type { ServedProgram } from "./models.ts";
import { OwnTrace, type Traced, type TraceOrder, type TraceWorkers } from "./traced.ts";

export interface TracingParts {
  readonly canonical: Pick<Canonical, "trace">;
  /** absent: this machine alone */
  readonly workers?: TraceWorkers | undefined;
  readonly log: Logger;
}
/** Of the time that is left, what this machine has before the word of workers is taken. */
const OWN_SHARE = 1 / 2;
/** How long workers have for a trace or a reveal at most, ms: `ask` takes less where less is left. */
const MOST_MS = 3_600_000;
/** Workers whose traces have to be equal before one is committed. */
const AGREEING = 2;

/** The trace of this machine. It and no other is committed while it comes in half of the time that is left. Later, or
 *  where this machine cannot make it, what two workers agree on is: without a trace the bond would be lost.
 *  @throws BaseError as Canonical.trace, where workers do not help */
export async function traceOf(parts: TracingParts, order: TraceOrder): Promise<Traced> {
  const { canonical, workers, log } = parts;
  const { model, signal, leftMs } = order;
  const own = new OwnTrace(canonical, order);
  if (workers === undefined || leftMs === undefined || !workers.asksFor(model.id)) return own.get();
  const failed = new Promise<unknown>((resolve) => own.get().catch(resolve));
  const late = delay(Math.min(OWN_SHARE * leftMs, MOST_MS), undefined, { ref: false, signal });
  const theirs = async () => {
    const agreed = agreedByWorkers(workers, order, own);
    const [tops] = await Promise.all([agreed, Promise.race([failed, late])]);
    if (own.isMade) return own.get();
    const traced = new TracedByWorkers(workers, order, own, tops);
    const root = toHex(traced.root);
    log.warn({ model: model.name, root }, "this machine's trace is late: two workers' is committed");
    own.whenMade(({ root: right }) => {
      const facts = { model: model.name, root, canonical: toHex(right) };
      if (facts.canonical !== root)
        log.error(facts, "two workers agreed on a wrong trace, which may be committed");
    });
    return traced;
  };
  return firstOf(own.get(), theirs());
}

/** Whichever is there first; where none comes, why the first one does not. */
const firstOf = <T>(...all: readonly [Promise<T>, Promise<T>]): Promise<T> =>
  Promise.any(all).catch(({ errors }: AggregateError) => {
    throw errors[0];
  });

/** @returns hashes that two workers say are to be published; where two differ, of three
 *  @throws Error where there are none */
async function agreedByWorkers(
  { runs }: TraceWorkers,
  { model, calldata, signal, leftMs }: TraceOrder,
  own: OwnTrace,
): Promise<readonly Uint8Array[]> {
  const question = {
    task: "trace",
    model: model.id,
    input: calldata,
    limitMs: MOST_MS,
    leftMs,
    signal,
  } as const;
  for (const count of [AGREEING, AGREEING + 1]) {
    const answers = await runs.ask({ ...question, count });
    own.whenMade(({ tops }) => {
      const right = concatBytes(...tops);
      for (const { worker, content } of answers)
        if (!equalBytes(content, right)) runs.bar(worker, shown(model, content));
    });
    const agreed = answers.find(
      ({ content }) => answers.filter((other) => equalBytes(other.content, content)).length >= AGREEING,
    );
    if (agreed !== undefined) return hashesIn(agreed.content);
    if (answers.length < count) break;
  }
  throw new Error("no two workers agree on a trace");
}

function hashesIn(content: Uint8Array): readonly Uint8Array[] {
  const tops = readTops(content);
  if (tops === undefined) throw new Error(`${content.length} bytes are no hashes`);
  return tops;
}

/** A trace of which this machine knows what it publishes. Every reveal of a worker is folded to its root. */
class TracedByWorkers implements Traced {
  readonly root: Uint8Array;
  readonly tops: readonly Uint8Array[];
  readonly #workers: TraceWorkers;
  readonly #order: TraceOrder;
  readonly #own: OwnTrace;
  readonly #shapes: readonly TreeShape[];

  /** @throws BaseError REVEAL_NOT_CANONICAL for what no trace of this model publishes */
  constructor(workers: TraceWorkers, order: TraceOrder, own: OwnTrace, tops: readonly Uint8Array[]) {
    const { program } = order.model.prepared;
    this.root = foldTops(program.steps.length, tops);
    this.tops = tops;
    this.#workers = workers;
    this.#order = order;
    this.#own = own;
    this.#shapes = traceShapes(program);
  }

  /** By this machine or a worker, whichever is first. */
  reveal(position: Position, leftMs?: number): Promise<Reveal> {
    const here = this.#own.get().then((traced) => traced.reveal(position));
    return firstOf(here, this.#byWorker(position, leftMs));
  }

  async #byWorker(position: Position, leftMs: number | undefined): Promise<Reveal> {
    const { model, calldata, signal } = this.#order;
    const { runs } = this.#workers;
    const input = revealInput({ position, calldata });
    const limits = { limitMs: MOST_MS, leftMs, signal };
    const [answer] = await runs.ask({ task: "reveal", model: model.id, input, count: 1, ...limits });
    if (answer === undefined) throw new Error("no worker reveals anything");
    const { worker, content } = answer;
    const reveal = readReveal(content);
    if (reveal !== undefined && this.#isOfTrace(position, reveal)) return reveal;
    runs.bar(worker, shown(model, content));
    throw new Error(`what ${worker} reveals is not of the trace`);
  }

  #isOfTrace(position: Position, reveal: Reveal): boolean {
    try {
      return equalBytes(foldReveal(this.#shapes, position, reveal), this.root);
    } catch (error) {
      if (isBaseError(error) && error.code === "REVEAL_NOT_CANONICAL") return false;
      throw error;
    }
  }
}

/** What a log tells of a wrong answer: how it begins. */
const shown = ({ name }: ServedProgram, content: Uint8Array) => ({
  ...{ model: name, answered: toHex(content.slice(0, 128)), bytes: content.length },
});
