/** Answers to challengers: the trace, and what they demand of it. */
import { fromHex, toHex } from "../base/bytes.ts";
import type { Commitment } from "../inference/commit/commitments.ts";
import { decodePosition } from "../inference/commit/positions.ts";
import { topsOf } from "../inference/commit/reveal.ts";
import type { ClaimId } from "../protocol/rules/types.ts";
import { type Context, carryOut } from "./context.ts";
import { hasProgram } from "./models.ts";
import { again, DONE, type Outcome } from "./workers.ts";

export class Defence {
  readonly #context: Context;
  /** Of claims in dispute; a trace never changes, so it is computed once. */
  readonly #traces = new Map<ClaimId, Commitment>();

  constructor(context: Context) {
    this.#context = context;
  }

  /** @param due last second for it */
  async commitTrace(id: ClaimId, due: number): Promise<Outcome> {
    const { actions } = this.#context;
    const found = this.#context.store.index.claimAndRequest(id);
    if (found?.claim.status !== "active" || found.claim.trace !== undefined) return DONE;
    const trace = this.#traceOf(id);
    if (trace === undefined)
      return again(`no folder here holds its model; the answer is owed until ${due}`, 1_000);
    const action = actions.commitTrace(found.claim.claim, topsOf(trace).map(toHex));
    return carryOut(this.#context, action, { move: "commitTrace", claim: id, traceRoot: toHex(trace.root) });
  }

  /** @param position encoded @param due last second for it */
  async reveal(id: ClaimId, position: bigint, due: number): Promise<Outcome> {
    const { actions, runs } = this.#context;
    const found = this.#context.store.index.claimAndRequest(id);
    if (found?.claim.status !== "active" || found.claim.demands.get(position)?.content !== undefined)
      return DONE;
    const trace = this.#traceOf(id);
    if (trace === undefined)
      return again(`no folder here holds its model; the answer is owed until ${due}`, 1_000);
    const decoded = decodePosition(position);
    const { content, path } = runs.reveal(trace, decoded);
    const action = actions.reveal(found.claim.claim, position, content.map(toHex), path.map(toHex));
    return carryOut(this.#context, action, { move: "reveal", claim: id, ...decoded });
  }

  /** Drops traces of claims that are over. */
  tidy(): void {
    const { index } = this.#context.store;
    for (const id of this.#traces.keys()) {
      if (index.claims.get(id)?.status !== "active") this.#traces.delete(id);
    }
  }

  #traceOf(id: ClaimId): Commitment | undefined {
    const known = this.#traces.get(id);
    if (known !== undefined) return known;
    const { models, runs } = this.#context;
    const found = this.#context.store.index.claimAndRequest(id);
    const model = found && models.get(found.claim.claim.modelId);
    if (found === undefined || model === undefined || !hasProgram(model)) return undefined;
    const trace = runs.trace(model, fromHex(found.request.input));
    this.#traces.set(id, trace);
    return trace;
  }
}
