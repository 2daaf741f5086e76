/** Sends settlements; proofs that are ready within one block go in one transaction, for they share its pairings. */
import type { Address, Hex } from "viem";
import type { Action, Actions } from "../protocol/chain/actions.ts";
import type { ClaimEntry, RequestEntry } from "../protocol/chain/claim-index.ts";
import { LANE, type ModelId } from "../protocol/rules/types.ts";
import type { TruthTerms } from "./decide.ts";
import type { Outcome } from "./workers.ts";

/** What is to be settled, and by which method. */
export interface Target {
  readonly request: RequestEntry;
  readonly claim: ClaimEntry | undefined;
  readonly truth: TruthTerms;
}

/** The model's return data, and what shows that it is that. */
export interface Evidence {
  readonly output: Hex;
  readonly evidence: Hex;
}

type Settling = Target & Evidence;

export interface OutboxParts {
  readonly actions: Actions;
  /** the prover's account, to which proofs are bound */
  readonly submitter: Address;
  /** brings an action onto the chain @param facts of the log line */
  readonly carryOut: (action: Action, facts: Record<string, unknown>) => Promise<Outcome>;
}

interface Waiting {
  readonly settling: Settling;
  readonly done: (outcome: Outcome) => void;
}

const modelOf = ({ settling }: Waiting): ModelId => settling.request.request.modelId;

export class Outbox {
  readonly #parts: OutboxParts;
  /** Proofs in the making. */
  readonly #making = new Map<ModelId, number>();
  #waiting: Waiting[] = [];

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  /** Has the evidence made and sends it. A proof waits for others of its model that are in the making, but not beyond
   *  the next block.
   *  @returns when the settlement is on the chain, or cannot be now
   *  @throws what `make` throws */
  async settle(target: Target, make: () => Promise<Evidence>): Promise<Outcome> {
    // Only proofs are cheaper together.
    if (target.truth.lane !== LANE.PROOF) return this.#single({ ...target, ...(await make()) });
    const { modelId } = target.request.request;
    this.#making.set(modelId, this.#makingOf(modelId) + 1);
    let made: Evidence;
    try {
      made = await make();
    } catch (error) {
      this.#ended(modelId);
      throw error;
    }
    return new Promise((done) => {
      this.#waiting.push({ settling: { ...target, ...made }, done });
      this.#ended(modelId);
    });
  }

  /** Sends what waits; called at each block, and before the node stops. */
  flush(): void {
    for (const modelId of new Set(this.#waiting.map(modelOf))) this.#flushModel(modelId);
  }

  #makingOf(modelId: ModelId): number {
    return this.#making.get(modelId) ?? 0;
  }

  #ended(modelId: ModelId): void {
    const left = this.#makingOf(modelId) - 1;
    if (left > 0) {
      this.#making.set(modelId, left);
      return;
    }
    this.#making.delete(modelId);
    this.#flushModel(modelId);
  }

  #flushModel(modelId: ModelId): void {
    const group = this.#waiting.filter((one) => modelOf(one) === modelId);
    if (group.length === 0) return;
    this.#waiting = this.#waiting.filter((one) => modelOf(one) !== modelId);
    void this.#together(modelId, group).catch((error: unknown) => {
      for (const { done } of group) done({ kind: "again", reason: String(error) });
    });
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
    return this.#parts.carryOut(action, { move: "settle", method: truth.method, request: request.id });
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
