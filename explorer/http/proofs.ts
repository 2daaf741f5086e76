/** GET /v1/requests/{id}/receipt and /v1/requests/{id}/record. */
import { type Response, Router } from "express";
import type { Hex } from "viem";
import { BaseError } from "../../base/errors.ts";
import { renderReceipt } from "../../protocol/rules/receipt/receipt.ts";
import { renderRecord } from "../../protocol/rules/receipt/record.ts";
import { Slots } from "../../protocol/service/http/slots.ts";
import { withinTime } from "../../protocol/service/http/time-limit.ts";
import { idPath, recordQuery } from "../api/schemas/queries.ts";
import type { AnswerParts } from "../read/parts.ts";
import { receiptOf, recordOf } from "../read/proofs.ts";
import { parsed } from "./parsed.ts";

/** Proofs that the node makes for callers, at once. */
const MAX_PROOFS = 8;
/** Longest that it may take, ms. */
const TIMEOUT_MS = 10_000;

export function proofRoutes(parts: AnswerParts): Router {
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
    const record = await within(response, () => recordOf(parts, id as Hex, claim as Hex | undefined));
    response.type("application/json").setHeader("Cache-Control", "no-cache").send(renderRecord(record));
  });
  return router;
}

const tooSlow = (): BaseError =>
  new BaseError({
    code: "NODE_SILENT",
    shortMessage: `The chain's node gave no proof within ${TIMEOUT_MS / 1_000} s.`,
    nextStep: "Ask again later; GET /healthz says when the node is back.",
    retryable: true,
  });
