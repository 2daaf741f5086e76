/** GET /v1/requests/{id}/receipt and /v1/requests/{id}/record: what shows, to whoever trusts one block's hash and without
 *  a node, that an output is final, or how a claim stands or ended. Made of what is indexed, with the node's proof of the
 *  words in the contract's storage at the newest indexed block. */
import { type Response, Router } from "express";
import type { Hex } from "viem";
import { BaseError } from "../../base/errors.ts";
import { candidateOf } from "../../protocol/chain/finality.ts";
import { makeReceipt } from "../../protocol/chain/make-receipt.ts";
import { recordFrom, requestUnanswered } from "../../protocol/chain/make-record.ts";
import { type Receipt, renderReceipt } from "../../protocol/rules/receipt/receipt.ts";
import { type CorrectnessRecord, renderRecord } from "../../protocol/rules/receipt/record.ts";
import type { ClaimId, RequestId } from "../../protocol/rules/types.ts";
import { Slots } from "../../protocol/service/http/slots.ts";
import { withinTime } from "../../protocol/service/http/time-limit.ts";
import { idPath, recordQuery } from "../api/schemas/queries.ts";
import type { ReadParts } from "../read/parts.ts";
import { requestUnknown } from "../read/unknown.ts";
import { parsed } from "./parsed.ts";

/** Proofs that the node makes for callers, at once. */
const MAX_PROOFS = 8;
/** Longest that it may take, ms. */
const TIMEOUT_MS = 10_000;

export function proofRoutes(parts: ReadParts): Router {
  const router = Router();
  const slots = new Slots({ what: "proofs", limit: MAX_PROOFS, nowMs: parts.nowMs });
  const within = <T>(response: Response, work: () => Promise<T>): Promise<T> =>
    slots.hold(() => withinTime(response, { timeoutMs: TIMEOUT_MS, late: tooSlow }, work));
  router.get("/v1/requests/:id/receipt", async (request, response) => {
    const { id } = parsed(idPath, request.params, "path");
    const receipt = await within(response, () => receiptOf(parts, id as Hex));
    response.type("application/json").setHeader("Cache-Control", "no-cache").send(renderReceipt(receipt));
  });
  router.get("/v1/requests/:id/record", async (request, response) => {
    const { id } = parsed(idPath, request.params, "path");
    const { claim } = parsed(recordQuery, request.query, "query");
    const record = await within(response, () => recordOf(parts, id as Hex, claim as ClaimId | undefined));
    response.type("application/json").setHeader("Cache-Control", "no-cache").send(renderRecord(record));
  });
  return router;
}

/** @throws BaseError REQUEST_UNKNOWN, REQUEST_UNANSWERED; as makeReceipt */
async function receiptOf(parts: ReadParts, id: Hex): Promise<Receipt> {
  const requestId = id as RequestId;
  const { history, blockHash } = indexed(parts, requestId);
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

/** @throws BaseError as recordFrom */
async function recordOf(parts: ReadParts, id: Hex, claimId: ClaimId | undefined): Promise<CorrectnessRecord> {
  const requestId = id as RequestId;
  const { history, blockHash } = indexed(parts, requestId);
  return recordFrom(parts.chain, history, { requestId, claimId }, blockHash);
}

/** What is known of a request, and the block at which that holds. @throws BaseError REQUEST_UNKNOWN */
function indexed({ index }: ReadParts, requestId: RequestId) {
  const history = index.store.eventsOfRequest(requestId);
  const blockHash = index.head?.hash;
  if (history.length === 0 || blockHash === undefined) throw requestUnknown(requestId);
  return { history, blockHash };
}

const tooSlow = (): BaseError =>
  new BaseError({
    code: "NODE_SILENT",
    shortMessage: `The chain's node gave no proof within ${TIMEOUT_MS / 1_000} s.`,
    nextStep: "Ask again later; GET /healthz says when the node is back.",
    retryable: true,
  });
