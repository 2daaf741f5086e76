/** Receipts and records: what shows, to whoever trusts one block's hash and without a node, that an output is final, or
 *  how a claim stands or ended. Made of what is indexed, with the node's proof of the words in the contract's storage at
 *  the newest indexed block. */
import type { Hex } from "viem";
import { candidateOf } from "../../protocol/chain/finality.ts";
import { makeReceipt } from "../../protocol/chain/make-receipt.ts";
import { recordFrom, requestUnanswered } from "../../protocol/chain/make-record.ts";
import type { Receipt } from "../../protocol/rules/receipt/receipt.ts";
import type { CorrectnessRecord } from "../../protocol/rules/receipt/record.ts";
import type { ClaimId, RequestId } from "../../protocol/rules/types.ts";
import type { AnswerParts } from "./parts.ts";
import { requestUnknown } from "./unknown.ts";

/** @throws BaseError REQUEST_UNKNOWN, REQUEST_UNANSWERED; as makeReceipt */
export async function receiptOf(parts: AnswerParts, id: Hex): Promise<Receipt> {
  const requestId = id as RequestId;
  const { history, blockHash } = await indexed(parts, requestId);
  const requested = history.find((event) => event.name === "Requested");
  if (requested === undefined) throw requestUnknown(id);
  const candidate = candidateOf(history);
  if (candidate === undefined) throw requestUnanswered(requestId);
  const { output, claim } = candidate;
  const provable = {
    request: requested.args.request,
    output,
    ...(claim === undefined ? {} : { claim: claim.terms }),
  };
  return makeReceipt(parts.chain, provable, blockHash);
}

/** @param claim absent: what truth settled, else the newest claim @throws BaseError as recordFrom */
export async function recordOf(
  parts: AnswerParts,
  id: Hex,
  claim: Hex | undefined,
): Promise<CorrectnessRecord> {
  const requestId = id as RequestId;
  const { history, blockHash } = await indexed(parts, requestId);
  return recordFrom(parts.chain, history, { requestId, claimId: claim as ClaimId | undefined }, blockHash);
}

/** What is known of a request, and the block at which that holds. @throws BaseError REQUEST_UNKNOWN */
async function indexed({ index }: AnswerParts, requestId: RequestId) {
  const [events, blockHash] = await index.read(async ({ events, head }) => [
    await events.ofRequest(requestId),
    head?.hash,
  ]);
  const history = events.map(({ event }) => event);
  if (history.length === 0 || blockHash === undefined) throw requestUnknown(requestId);
  return { history, blockHash };
}
