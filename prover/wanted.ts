/** What a prover has to do at a block, as jobs: each is derived anew from index and state, never kept. */
import type { ClaimEntry, RequestEntry } from "../protocol/chain/claim-index.ts";
import { isFinal } from "../protocol/rules/machine.ts";
import type { ClaimId, RequestId } from "../protocol/rules/types.ts";
import type { ClaimWord } from "../protocol/rules/words.ts";
import { withTruths } from "./claims.ts";
import { type Context, isOwn } from "./context.ts";
import {
  decideClaim,
  deliveryRefusal,
  disputeTruth,
  type ProverState,
  type RequestDecision,
} from "./decide.ts";
import type { Job } from "./jobs.ts";

/** Claims and settlements of open requests that were decided on. */
export function claimJobs(
  open: readonly RequestEntry[],
  decisions: ReadonlyMap<RequestId, RequestDecision>,
): Job[] {
  const chosen = open.filter(({ id }) => (decisions.get(id)?.kind ?? "skip") !== "skip");
  return chosen.map(({ id, request }) => ({ kind: "claim", subject: id, due: request.expiry }));
}

/** Seconds. */
export interface Times {
  readonly answerSeconds: number;
  /** time of the head: by it alone an answer counts as late */
  readonly headTime: number;
  /** not before it: by it claims may end */
  readonly now: number;
}

/** Answers that are owed for own claims, and ends of those that stood. */
export function endJobs(
  active: readonly ClaimEntry[],
  words: ReadonlyMap<ClaimId, ClaimWord>,
  { answerSeconds, headTime, now }: Times,
): Job[] {
  return active.flatMap((claim) => {
    const word = words.get(claim.id);
    if (word === undefined) return [];
    const time = isFinal(word, answerSeconds, now) ? now : headTime;
    const moves = decideClaim(claim, word, time, answerSeconds);
    return moves.map((move): Job => ({ due: time, ...move, subject: claim.id }));
  });
}

/** Truth for own claims that somebody disputes.
 *  @param now seconds */
export function truthJobs(context: Context, active: readonly ClaimEntry[], now: number): Job[] {
  const { models, chain, store } = context;
  return active.flatMap(({ id, claim, challengers }): Job[] => {
    const model = models.get(claim.modelId);
    const request = store.index.requests.get(claim.requestId);
    if (challengers.size === 0 || model === undefined || request === undefined) return [];
    const truth = disputeTruth(withTruths(context, model), request.request.lanes, chain.constants);
    return truth === undefined ? [] : [{ kind: "settle", subject: id, due: now }];
  });
}

/** Deliveries of outputs that this prover made final, where they pay. */
export function deliveryJobs(context: Context, { now, gasPrice, dataFee }: ProverState): Job[] {
  const { store, policy, failedDeliveries } = context;
  const givenUp = failedDeliveries.givenUp();
  return [...store.index.requests.values()].flatMap((request): Job[] => {
    if (request.status !== "done" || givenUp.has(request.id) || !isOwnResult(context, request)) return [];
    // The contract knows when it was settled; the index forgets old requests.
    const refusal = deliveryRefusal(request, { now, gasPrice, dataFee, settledAt: 0 }, policy);
    return refusal === undefined ? [{ kind: "deliver", subject: request.id, due: now }] : [];
  });
}

/** True if a claim or a truth of this prover made the request's output final. */
function isOwnResult(context: Context, { claimId, settled }: RequestEntry): boolean {
  const { store, chain } = context;
  const claim = claimId === undefined ? undefined : store.index.claims.get(claimId);
  if (claim !== undefined) return isOwn(context, claim);
  return settled?.submitter === chain.account.address;
}
