/** Sends settlements; proofs that are ready within one block go in one transaction, for they share its pairings. */
import type { Address, Hex } from "viem";
import type { Action, Actions } from "../protocol/chain/actions.ts";
import type { ClaimEntry, RequestEntry } from "../protocol/chain/book.ts";
import { LANE, type ModelId } from "../protocol/terms.ts";
import type { TruthTerms } from "./decide.ts";
import type { Outcome } from "./workers.ts";

/** Evidence for a request, ready to be sent. */
export interface Settling {
  readonly request: RequestEntry;
  readonly claim: ClaimEntry | undefined;
  readonly truth: TruthTerms;
  readonly output: Hex;
  readonly evidence: Hex;
}

export interface OutboxParts {
  readonly actions: Actions;
  /** the own account, to which proofs are bound */
  readonly submitter: Address;
  /** brings an action onto the chain @param facts of the log line */
  readonly carryOut: (action: Action, facts: Record<string, unknown>) => Promise<Outcome>;
}

/** Longest wait for other proofs where no block comes, ms. */
const WAIT_MS = 2_000;

interface Waiting {
  readonly settling: Settling;
  readonly done: (outcome: Outcome) => void;
}

export class Outbox {
  readonly #parts: OutboxParts;
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  /** Resolves when the settlement is on the chain, or cannot be now. */
  async send(settling: Settling): Promise<Outcome> {
    // Only proofs are cheaper together.
    if (settling.truth.lane !== LANE.PROOF) return this.#single(settling);
    return new Promise((done) => {
      this.#waiting.push({ settling, done });
      this.#timer ??= setTimeout(() => this.flush(), WAIT_MS);
    });
  }

  /** Sends what waits; called at each block, and before the node stops. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const groups = new Map<ModelId, Waiting[]>();
    for (const one of this.#waiting) {
      const { modelId } = one.settling.request.request;
      groups.set(modelId, [...(groups.get(modelId) ?? []), one]);
    }
    this.#waiting = [];
    for (const [modelId, group] of groups) {
      void this.#together(modelId, group).catch((error: unknown) => {
        for (const { done } of group) done({ kind: "again", reason: String(error) });
      });
    }
  }

  async #together(modelId: ModelId, group: readonly Waiting[]): Promise<void> {
    const settlings = group.map(({ settling }) => settling);
    const batch = settlings.length > 1 ? await this.#batch(modelId, settlings) : undefined;
    if (batch?.kind === "done") {
      for (const { done } of group) done(batch);
      return;
    }
    // One that somebody else settled meanwhile, or one wrong proof, stops a batch: then each stands for itself.
    await Promise.all(group.map(async ({ settling, done }) => done(await this.#single(settling))));
  }

  #single(settling: Settling): Promise<Outcome> {
    const { request, claim, truth, output, evidence } = settling;
    const action = this.#parts.actions.settle(
      request.request,
      claim?.claim,
      truth.lane,
      request.input,
      output,
      evidence,
    );
    return this.#parts.carryOut(action, { move: "settle", means: truth.means, request: request.id });
  }

  #batch(modelId: ModelId, settlings: readonly Settling[]): Promise<Outcome> {
    const action = this.#parts.actions.settleBatch(
      modelId,
      this.#parts.submitter,
      settlings.map(({ request, claim, output, evidence }) => ({
        request: request.request,
        claim: claim?.claim,
        input: request.input,
        output,
        evidence,
      })),
    );
    return this.#parts.carryOut(action, {
      move: "settleBatch",
      requests: settlings.map(({ request }) => request.id),
    });
  }
}
