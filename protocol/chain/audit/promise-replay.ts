/** What the audit of promises plays moves on: the state, what must come next, and the claims in Assay. */

import type { Address } from "viem";
import type { GameAddress } from "../../rules/ids.ts";
import { type GameState, newGame } from "../../rules/machine.ts";
import type { BatchId } from "../../rules/promises/batch.ts";
import type { PromiseMove, PromiseResult } from "../../rules/promises/moves.ts";
import type { PromisesAddress } from "../../rules/promises/signed-claim.ts";
import type { BatchState } from "../../rules/promises/state.ts";
import type { GameConstants, ModelId, RequestId } from "../../rules/types.ts";
import type { PromiseEvent, PromiseEventOf } from "../promises/events.ts";
import { type About, KeptPromises } from "./kept-promises.ts";
import { type FiledClaim, PromiseSequence } from "./promise-sequence.ts";
import type { AuditedBlock, AuditedModel } from "./request-audit.ts";
import { must, RuleBroken } from "./rules.ts";

export interface PromiseAuditTerms {
  readonly at: PromisesAddress;
  readonly game: GameAddress;
  readonly constants: GameConstants;
  readonly models: ReadonlyMap<ModelId, AuditedModel>;
  /** A request with its claims, as Assay's audit has it. */
  readonly requestIn: (id: RequestId) => GameState;
}

export type ArgsOf<Name extends PromiseEvent["name"]> = PromiseEventOf<Name>["args"];
type WithoutBlock<AMove> = AMove extends unknown ? Omit<AMove, "now" | "baseFee"> : never;
export type Made = Extract<PromiseResult, { readonly ok: true }>;

export class PromiseReplay {
  readonly terms: PromiseAuditTerms;
  readonly kept: KeptPromises;
  readonly sequence: PromiseSequence;
  /** that of the event */
  block: AuditedBlock = { timestamp: 0, baseFee: 0n };
  /** promises and leaves that became a claim */
  readonly #filed = new Set<string>();

  constructor(terms: PromiseAuditTerms) {
    const { at, game, constants, models } = terms;
    this.terms = terms;
    this.sequence = new PromiseSequence(at.promises);
    this.kept = new KeptPromises(at, newGame(game, constants, models));
  }

  get at(): PromisesAddress {
    return this.terms.at;
  }

  /** @param assay the claim's request in Assay, for a move that ends one
   *  @throws RuleBroken if the machine refuses the move, or the books do not balance after it */
  play(move: WithoutBlock<PromiseMove>, about: About, assay?: GameState): Made {
    const { timestamp: now, baseFee } = this.block;
    return this.kept.play({ ...move, now, baseFee } as PromiseMove, about, assay);
  }

  /** The claim in Assay must be the one that the machine files: its bond, window, gas price, lanes and salt. */
  requireClaim({ state, claimId }: Made, claim: FiledClaim, prover: Address): void {
    if (claimId === undefined)
      throw new RuleBroken("moves", `claim ${claim.claimId} is filed, where the promise must wait for stake`);
    const game = this.terms.requestIn(claim.requestId);
    const request = state.assay.requests.get(state.filed.get(claimId)?.requestId as RequestId)?.request;
    requireSame("request", game.requests.get(claim.requestId)?.request, request);
    requireSame("claim", game.claims.get(claim.claimId)?.claim, state.assay.claims.get(claimId)?.claim);
    must("identity", "the claim's id", claim.claimId, claimId);
    this.kept.inAssay(prover, claim.bond);
  }

  /** @throws RuleBroken if this became a claim before */
  once(what: string): void {
    if (this.#filed.has(what)) throw new RuleBroken("once", `${what} became a claim before`);
    this.#filed.add(what);
  }

  /** @throws RuleBroken for a batch that was not posted */
  batch(id: BatchId): BatchState {
    const batch = this.kept.batches.get(id);
    if (batch === undefined) throw new RuleBroken("identity", `no event posts batch ${id}`);
    return batch;
  }
}

function requireSame(what: string, actual: object | undefined, required: object | undefined): void {
  const found = actual as Readonly<Record<string, unknown>> | undefined;
  for (const [field, value] of Object.entries(required ?? {}))
    must("identity", `the ${field} of the ${what}`, found?.[field], value);
}
