/** Answers to challengers: the trace, and what they demand of it. */
import { fromHex, toHex } from "../base/bytes.ts";
import { decodePosition } from "../inference/commit/positions.ts";
import type { Action } from "../protocol/chain/actions.ts";
import type { ClaimId } from "../protocol/rules/types.ts";
import { type Context, carryOut } from "./context.ts";
import { hasProgram } from "./models.ts";
import type { Traced } from "./traced.ts";
import { again, DONE, type Outcome } from "./workers.ts";

export class Defence {
  readonly #context: Context;
  /** Of claims in dispute; a trace never changes, so it is computed once, for all who wait for it. */
  readonly #traces = new Map<ClaimId, { readonly trace: Promise<Traced>; readonly over: AbortController }>();

  constructor(context: Context) {
    this.#context = context;
  }

  /** @param due last second for it */
  async commitTrace(id: ClaimId, due: number): Promise<Outcome> {
    const { actions } = this.#context;
    const found = this.#context.store.index.claimAndRequest(id);
    if (found?.claim.status !== "active" || found.claim.trace !== undefined) return DONE;
    const traced = await this.#traceOf(id, due);
    if (traced.kind !== "traced") return traced;
    const { trace } = traced;
    const action = actions.commitTrace(found.claim.claim, trace.tops.map(toHex));
    return carryOut(this.#context, this.#owed(action, due), {
      move: "commitTrace",
      claim: id,
      traceRoot: toHex(trace.root),
    });
  }

  /** @param position encoded @param due last second for it */
  async reveal(id: ClaimId, position: bigint, due: number): Promise<Outcome> {
    const { actions } = this.#context;
    const found = this.#context.store.index.claimAndRequest(id);
    if (found?.claim.status !== "active" || found.claim.demands.get(position)?.content !== undefined)
      return DONE;
    const traced = await this.#traceOf(id, due);
    if (traced.kind !== "traced") return traced;
    const { trace } = traced;
    const decoded = decodePosition(position);
    const { content, path } = await trace.reveal(decoded, this.#leftMs(due));
    const action = actions.reveal(found.claim.claim, position, content.map(toHex), path.map(toHex));
    return carryOut(this.#context, this.#owed(action, due), { move: "reveal", claim: id, ...decoded });
  }

  #owed(action: Action, due: number): Action {
    return { ...action, owed: { secondsLeft: due - (this.#context.clock.now ?? due) } };
  }

  /** @returns undefined while the chain has told no time */
  #leftMs(due: number): number | undefined {
    const { now } = this.#context.clock;
    return now === undefined ? undefined : 1_000 * Math.max(0, due - now);
  }

  /** Drops traces of claims that are over, also those in the making. */
  tidy(): void {
    const { index } = this.#context.store;
    for (const [id, { over }] of this.#traces) {
      if (index.claims.get(id)?.status === "active") continue;
      this.#traces.delete(id);
      over.abort();
    }
  }

  /** @returns an outcome where there is no trace now */
  async #traceOf(
    id: ClaimId,
    due: number,
  ): Promise<{ readonly kind: "traced"; readonly trace: Traced } | Outcome> {
    const making = this.#traces.get(id) ?? this.#makeTrace(id, due);
    if (making === undefined)
      return again(`no folder here holds its model; the answer is owed until ${due}`, 1_000);
    try {
      return { kind: "traced", trace: await making.trace };
    } catch (error) {
      // The next who asks tries again.
      if (this.#traces.get(id) === making) this.#traces.delete(id);
      return again(`no trace: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #makeTrace(id: ClaimId, due: number) {
    const { models, runs, signal, store } = this.#context;
    const found = store.index.claimAndRequest(id);
    const model = found && models.get(found.claim.claim.modelId);
    if (found === undefined || model === undefined || !hasProgram(model)) return undefined;
    const over = new AbortController();
    const until = AbortSignal.any([signal, over.signal]);
    const order = { model, calldata: fromHex(found.request.input), signal: until, leftMs: this.#leftMs(due) };
    const making = { trace: runs.trace(order), over };
    this.#traces.set(id, making);
    return making;
  }
}
