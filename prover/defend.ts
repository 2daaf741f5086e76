/** Answers to challengers: the trace, and what they demand of it. */
import { fromHex, toHex } from "../base/bytes.ts";
import { decodePosition } from "../inference/commit/positions.ts";
import { foldTops } from "../inference/commit/reveal.ts";
import type { Action } from "../protocol/chain/actions.ts";
import type { ClaimId } from "../protocol/rules/types.ts";
import { ClaimTrace } from "./claim-trace.ts";
import { type Context, carryOut } from "./context.ts";
import { hasProgram, type ServedProgram } from "./models.ts";
import { again, DONE, type Outcome } from "./workers.ts";

interface Defended {
  readonly model: ServedProgram;
  readonly trace: ClaimTrace;
  readonly over: AbortController;
}

export class Defence {
  readonly #context: Context;
  /** Of claims in dispute; a trace never changes, so it is made once, for all who wait for it. */
  readonly #defended = new Map<ClaimId, Defended>();

  constructor(context: Context) {
    this.#context = context;
  }

  /** @param due last second for it */
  async commitTrace(id: ClaimId, due: number): Promise<Outcome> {
    const { actions, store } = this.#context;
    const found = store.index.claimAndRequest(id);
    if (found?.claim.status !== "active" || found.claim.trace !== undefined) return DONE;
    const defended = this.#defend(id);
    if (defended === undefined) return noFolder(due);
    const tops = await defended.trace.tops(this.#leftMs(due)).catch(noTrace);
    if ("kind" in tops) return tops;
    const root = foldTops(defended.model.prepared.program.steps.length, tops);
    const action = actions.commitTrace(found.claim.claim, tops.map(toHex));
    return carryOut(this.#context, this.#owed(action, due), {
      move: "commitTrace",
      claim: id,
      traceRoot: toHex(root),
    });
  }

  /** @param position encoded @param due last second for it */
  async reveal(id: ClaimId, position: bigint, due: number): Promise<Outcome> {
    const { actions, store } = this.#context;
    const found = store.index.claimAndRequest(id);
    if (found?.claim.status !== "active" || found.claim.demands.get(position)?.content !== undefined)
      return DONE;
    const { trace: committed, claim } = found.claim;
    if (committed === undefined) return again("a re-org took the trace away");
    const defended = this.#defend(id);
    if (defended === undefined) return noFolder(due);
    const decoded = decodePosition(position);
    const root = fromHex(committed.root);
    const reveal = await defended.trace.reveal(decoded, root, this.#leftMs(due)).catch(noTrace);
    if ("kind" in reveal) return reveal;
    const { content, path } = reveal;
    const action = actions.reveal(claim, position, content.map(toHex), path.map(toHex));
    return carryOut(this.#context, this.#owed(action, due), { move: "reveal", claim: id, ...decoded });
  }

  #owed(action: Action, due: number): Action {
    return { ...action, owed: { secondsLeft: due - (this.#context.clock.now ?? due) } };
  }

  /** @returns undefined while the chain has told no time */
  #leftMs(due: number): number | undefined {
    const { now } = this.#context.clock;
    return now === undefined ? undefined : 1_000 * (due - now);
  }

  /** Drops traces of claims that are over, also those in the making. */
  tidy(): void {
    const { index } = this.#context.store;
    for (const [id, { over }] of this.#defended) {
      if (index.claims.get(id)?.status === "active") continue;
      this.#defended.delete(id);
      over.abort();
    }
  }

  /** @returns undefined where no folder here holds the claim's model */
  #defend(id: ClaimId): Defended | undefined {
    const known = this.#defended.get(id);
    if (known !== undefined) return known;
    const { models, runs, traceWorkers: workers, signal, store, log } = this.#context;
    const found = store.index.claimAndRequest(id);
    const model = found && models.get(found.claim.claim.modelId);
    if (found === undefined || model === undefined || !hasProgram(model)) return undefined;
    const over = new AbortController();
    const order = {
      ...{ model, calldata: fromHex(found.request.input), output: fromHex(found.claim.output) },
      signal: AbortSignal.any([signal, over.signal]),
    };
    const defended = { model, over, trace: new ClaimTrace({ runs, workers, log }, order) };
    this.#defended.set(id, defended);
    return defended;
  }
}

const noFolder = (due: number): Outcome =>
  again(`no folder here holds its model; the answer is owed until ${due}`, 1_000);

/** Whoever asks next tries again. */
const noTrace = (error: unknown): Outcome =>
  again(`no trace: ${error instanceof Error ? error.message : String(error)}`);
