/** Claims of others that owe an overdue answer, and so block requests that this node would serve. */
import { size } from "viem";
import type { ClaimEntry, RequestEntry } from "../protocol/chain/claim-index.ts";
import { dataFeeOf } from "../protocol/chain/data-fee.ts";
import {
  ENDING_GAS,
  type Ending,
  endingDelay,
  endWithinBudget,
  overdueAnswer,
  owesAnswer,
} from "../protocol/chain/endings.ts";
import { BYTES } from "../protocol/chain/move-costs.ts";
import type { ClaimId, ModelId, RequestId } from "../protocol/rules/types.ts";
import type { ClaimWord } from "../protocol/rules/words.ts";
import { type Context, carryOut, isOwn } from "./context.ts";
import { claimCost, settleCost, withMargin } from "./costs.ts";
import {
  decideRequests,
  type ModelTerms,
  type Policy,
  type ProverState,
  type RequestDecision,
} from "./decide.ts";
import type { Job } from "./jobs.ts";
import { DONE, type Outcome } from "./workers.ts";

/** A request with the claim that blocks it. */
export interface Blocked {
  readonly request: RequestEntry;
  readonly claim: ClaimEntry;
}

/** Requests whose live claim is another's and owes an answer, late or not. */
export function blockedRequests(context: Pick<Context, "chain" | "store">): Blocked[] {
  const { index } = context.store;
  return [...index.claims.values()].flatMap((claim): Blocked[] => {
    if (!owesAnswer(claim) || isOwn(context, claim)) return [];
    const request = index.requests.get(claim.claim.requestId);
    return request === undefined ? [] : [{ request, claim }];
  });
}

/** Those that this node would serve if the claim had fallen, for a fee that pays for its gas and for ending the claim.
 *  Pure. @param chosen on open requests: what they take of balance and limit is not there for these */
export function servable(
  blocked: readonly Blocked[],
  models: ReadonlyMap<ModelId, ModelTerms>,
  state: ProverState,
  policy: Policy,
  chosen: ReadonlyMap<RequestId, RequestDecision> = new Map(),
): Blocked[] {
  const bonded = [...chosen.values()].filter((decision) => decision.kind === "claim");
  const left: ProverState = {
    ...state,
    balance: state.balance - bonded.reduce((sum, { bond }) => sum + bond, 0n),
    live: [...state.live, ...bonded.map(({ bond, gasPrice }) => ({ bond, gasPrice, depth: 0 }))],
  };
  const asOpen = blocked.map(({ request }) => ({
    ...request,
    status: "open" as const,
    attempt: request.attempt + 1,
  }));
  const decisions = decideRequests(asOpen, models, left, policy);
  return blocked.filter(({ request: { id, request, attempt, input } }) => {
    const decision = decisions.get(id);
    const model = models.get(request.modelId);
    if (decision === undefined || decision.kind === "skip" || model === undefined) return false;
    const { gasPrice, dataFee } = state;
    if (dataFee === undefined) return false;
    const prices = { gasPrice, dataFee };
    const answer =
      decision.kind === "settle"
        ? settleCost(decision.truth, model, size(input), prices)
        : claimCost(model, prices);
    // As if it had ended all claims before: who files one after the other gets no more gas out of it than the fee.
    const ending = ENDING_GAS * gasPrice + dataFeeOf(dataFee, BYTES.end);
    return request.fee >= withMargin(answer + ending * BigInt(attempt + 1), policy);
  });
}

/** The move that ends a blocking claim, once its answer is overdue and others, who may be nearer to it, had time.
 *  Pure. @param word at the same block as the claim */
function decideEnding(
  claim: ClaimEntry,
  word: ClaimWord,
  { now, own, constants }: Pick<ProverState, "now" | "own" | "constants">,
): Ending | undefined {
  return overdueAnswer(claim, word, now - endingDelay(own, claim.id, constants.answerSeconds));
}

/** What ends the claims that block requests, as far as something may. */
export function decideEndings(
  blocked: readonly Blocked[],
  words: ReadonlyMap<ClaimId, ClaimWord>,
  state: ProverState,
): Map<ClaimId, Ending> {
  const endings = new Map<ClaimId, Ending>();
  for (const { claim } of blocked) {
    const word = words.get(claim.id);
    const ending = word && decideEnding(claim, word, state);
    if (ending !== undefined) endings.set(claim.id, ending);
  }
  return endings;
}

export const endingJobs = (endings: ReadonlyMap<ClaimId, Ending>, now: number): Job[] =>
  [...endings.keys()].map((subject) => ({ kind: "end", subject, due: now }));

/** @param ending that was decided on at the newest block */
export async function endBlocking(
  context: Context,
  id: ClaimId,
  ending: Ending | undefined,
): Promise<Outcome> {
  const { actions, signal, store } = context;
  const claim = store.index.claims.get(id);
  if (claim?.status !== "active" || ending === undefined) return DONE;
  const action =
    ending.kind === "timeoutTrace"
      ? actions.timeoutTrace(claim.claim)
      : actions.timeoutDemand(claim.claim, ending.position);
  const send = () => endWithinBudget(context, action, claim.claim.bond, signal);
  return carryOut(context, action, { move: ending.kind, claim: id, request: claim.claim.requestId }, send);
}
