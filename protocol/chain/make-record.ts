/** Makes correctness records, with a node that answers `eth_getProof` and `eth_getLogs`. */
import type { Hex } from "viem";
import { BaseError } from "../../base/errors.ts";
import {
  type CorrectnessRecord,
  ENDINGS,
  type Payment,
  RECORD_FORMAT,
  type Unproven,
  verifyRecord,
} from "../rules/receipt/record.ts";
import type { ClaimId, RequestId } from "../rules/types.ts";
import type { Chain } from "./connect.ts";
import type { ChainEvent, EventOf } from "./events.ts";
import { candidateOf, lastOf } from "./finality.ts";
import { historyOf } from "./history.ts";
import { makeEvidence, unprovable } from "./make-receipt.ts";
import { claimUnknown } from "./past.ts";

/** What a record is to be about. */
export interface Recorded {
  readonly requestId: RequestId;
  /** default: what truth settled, else the newest claim */
  readonly claimId?: ClaimId | undefined;
  /** said in the record, unproven */
  readonly payment?: Payment | undefined;
}

/** A record at one block; nodes keep the state of old blocks for a while only, most of them 128 blocks.
 *  @throws BaseError REQUEST_UNKNOWN, REQUEST_UNANSWERED, CLAIM_UNKNOWN; RECEIPT_UNPROVABLE, BLOCK_UNKNOWN (retryable);
 *  faults of the node */
export async function makeRecord(chain: Chain, about: Recorded, blockHash: Hex): Promise<CorrectnessRecord> {
  return recordFrom(chain, await historyOf(chain, about.requestId), about, blockHash);
}

/** The same for whoever has the request's events. @param history all of them, in order @throws BaseError as makeRecord */
export async function recordFrom(
  chain: Chain,
  history: readonly ChainEvent[],
  { requestId, claimId, payment }: Recorded,
  blockHash: Hex,
): Promise<CorrectnessRecord> {
  const requested = lastOf(history, "Requested")?.args;
  if (requested === undefined) throw requestUnknown(requestId);
  const { output, claim } = claimId === undefined ? latest(history, requestId) : named(history, claimId);
  const provable = {
    request: requested.request,
    output,
    ...(claim === undefined ? {} : { claim: claim.terms }),
  };
  const evidence = await makeEvidence(chain, provable, blockHash);
  const record: CorrectnessRecord = {
    format: RECORD_FORMAT,
    ...evidence,
    input: requested.input,
    unproven: { ...unprovenOf(history, claim?.claimId), ...(payment === undefined ? {} : { payment }) },
  };
  const verdict = verifyRecord(record, { ...chain.game, ...chain.constants, blockHash });
  if (verdict.valid) return record;
  throw unprovable(blockHash, `request ${requestId} has this claim`, verdict.error);
}

function latest(history: readonly ChainEvent[], requestId: RequestId) {
  const found = candidateOf(history);
  if (found !== undefined) return found;
  throw requestUnanswered(requestId);
}

function named(history: readonly ChainEvent[], claimId: ClaimId) {
  const claimed = history.find(
    (event): event is EventOf<"Claimed"> => event.name === "Claimed" && event.args.claimId === claimId,
  );
  if (claimed === undefined) throw claimUnknown(claimId);
  return { output: claimed.args.output, claim: { claimId, terms: claimed.args.claim } };
}

function unprovenOf(history: readonly ChainEvent[], claimId: ClaimId | undefined): Unproven {
  const ofClaim = (event: ChainEvent) => "claimId" in event.args && event.args.claimId === claimId;
  const claimed = history.find((event) => event.name === "Claimed" && ofClaim(event));
  const ended = history.findLast((event) =>
    event.name === "Settled" ? claimId === undefined : isEnding(event) && ofClaim(event),
  );
  const unproven: Unproven = {
    ...(claimed === undefined ? {} : { claimed: claimed.transactionHash }),
    ...(ended === undefined || !isEnding(ended)
      ? {}
      : { ended: { event: ended.name, transaction: ended.transactionHash } }),
  };
  if (ended?.name !== "Fell") return unproven;
  const { step, element, expected, claimed: given } = ended.args;
  return { ...unproven, fault: { step, element, expected, claimed: given } };
}

const isEnding = (event: ChainEvent): event is EventOf<(typeof ENDINGS)[number]> =>
  (ENDINGS as readonly string[]).includes(event.name);

export const requestUnanswered = (id: RequestId) =>
  new BaseError({
    code: "REQUEST_UNANSWERED",
    shortMessage: `Nobody has claimed an output for request ${id} yet.`,
    nextStep: "Ask again once somebody has.",
    retryable: true,
  });

const requestUnknown = (id: RequestId) =>
  new BaseError({
    code: "REQUEST_UNKNOWN",
    shortMessage: `The chain has no request ${id}.`,
    nextStep: "Check the id, the RPC URL and the deployment.",
  });
