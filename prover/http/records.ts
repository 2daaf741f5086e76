/** GET /v1/requests/:id/record: how a claim stands or ended, right or wrong, with what shows it (docs/X402.md). */
import { Router } from "express";
import { makeRecord } from "../../protocol/chain/make-record.ts";
import { renderRecord } from "../../protocol/rules/receipt/record.ts";
import type { ClaimId, RequestId } from "../../protocol/rules/types.ts";
import { notReadYet } from "./chain.ts";
import { readChain } from "./chain-read.ts";
import { idOf } from "./ids.ts";
import type { HttpParts } from "./parts.ts";
import { queryInvalid } from "./query.ts";

export function recordRoutes(parts: HttpParts): Router {
  const { chain, node, payment } = parts;
  const router = Router();
  router.get("/v1/requests/:id/record", async (request, response) => {
    const requestId = idOf(request.params.id) as RequestId;
    const { claim } = request.query;
    if (claim !== undefined && typeof claim !== "string") throw queryInvalid("claim", claim, "one id");
    const claimId = claim === undefined ? undefined : (idOf(claim) as ClaimId);
    const { head } = node;
    if (head === undefined) throw notReadYet();
    const about = { requestId, claimId, payment: payment?.transferOf(requestId) };
    const record = await readChain(parts, () => makeRecord(chain, about, head.hash));
    response.type("application/json").send(renderRecord(record));
  });
  return router;
}
