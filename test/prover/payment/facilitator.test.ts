import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from "@x402/core/http";
import express from "express";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { PaidOrder } from "../../../protocol/rules/paid-order.ts";
import type { ClaimId, RequestId } from "../../../protocol/rules/types.ts";
import { type HttpServer, listen } from "../../../protocol/service/http/listen.ts";
import { connectFacilitator } from "../../../prover/payment/facilitator.ts";
import { recordExtension } from "../../../prover/payment/record-extension.ts";
import { accountAt } from "../../support/anvil.ts";

let server: HttpServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const RECORDED = {
  request: `0x${"ab".repeat(32)}` as RequestId,
  claim: `0x${"cd".repeat(32)}` as ClaimId,
};
const ORDER: PaidOrder = {
  ...{ kind: "final", chainId: 1, assay: accountAt(5).address, requester: accountAt(4).address },
  ...{ model: `0x${"11".repeat(32)}`, inputHash: `0x${"22".repeat(32)}` },
};
const serviceAt = (facilitatorUrl: string) => {
  const { address } = accountAt(6);
  const terms = { price: 1n, asset: address, network: "eip155:1", payTo: address } as const;
  return connectFacilitator({ ...terms, facilitatorUrl, binding: "accepted" }, 600);
};
const SIGNED = { signed: JSON.stringify({ payload: {}, requirements: {} }) };

/** How a settlement ends whose facilitator answers this. */
async function statusOf(answer: object, httpStatus = 200): Promise<string> {
  const app = express();
  app.post("/settle", (_request, response) => void response.status(httpStatus).json(answer));
  server = await listen(app, "127.0.0.1", 0);
  const { status } = await serviceAt(server.url).settle(SIGNED, RECORDED);
  await server.close();
  server = undefined;
  return status;
}
const failed = (errorReason: string) =>
  statusOf({ success: false, errorReason, transaction: "", network: "eip155:1" });

/** A facilitator that takes every payment of the scheme upto. */
async function openTaker(answer: object) {
  const app = express();
  const kind = {
    x402Version: 2,
    scheme: "upto",
    network: "eip155:1",
    extra: { facilitatorAddress: accountAt(7).address },
  };
  app.get(
    "/supported",
    (_request, response) => void response.json({ kinds: [kind], extensions: [], signers: {} }),
  );
  app.post("/settle", (_request, response) => void response.json(answer));
  server = await listen(app, "127.0.0.1", 0);
  return serviceAt(server.url);
}

describe("the extension assay-record", () => {
  it("default: the terms say that nothing is taken before finality", async () => {
    const service = await openTaker({});
    const terms = decodePaymentRequiredHeader(
      await service.terms("https://prover.example/tools/a", "none", ORDER),
    );
    const extension = terms.extensions?.["assay-record"] as {
      info: object;
      schema: z.core.JSONSchema.JSONSchema;
    };
    expect(extension.info).toMatchObject({ taken: "when final", refund: "none: a final output cannot fall" });
    const schema = z.fromJSONSchema(extension.schema);
    expect(schema.safeParse(extension.info).success).toBe(true);
    expect(schema.safeParse({ ...extension.info, taken: "before" }).success).toBe(false);
  });

  it("default: the receipt leads to the record of the claim, or of what truth settled", async () => {
    const extensions = { other: { info: {} } };
    const taken = { success: true, transaction: RECORDED.claim, network: "eip155:1", extensions };
    const service = await openTaker(taken);
    const infoFor = async (of: Parameters<typeof recordExtension>[0]) => {
      const settled = await service.settle(SIGNED, recordExtension(of));
      if (settled.status !== "taken") throw new Error(settled.reason);
      expect(service.transferIn(settled.receipt)).toEqual({
        network: "eip155:1",
        transaction: RECORDED.claim,
      });
      const { extensions: all } = decodePaymentResponseHeader(settled.receipt);
      return all;
    };
    const url = `/v1/requests/${RECORDED.request}/record`;
    const format = "assay-record-1";
    expect(await infoFor(RECORDED)).toEqual({
      ...extensions,
      "assay-record": { info: { format, url: `${url}?claim=${RECORDED.claim}`, ...RECORDED } },
    });
    const { request } = RECORDED;
    expect(await infoFor({ request })).toEqual({
      ...extensions,
      "assay-record": { info: { format, url, request } },
    });
  });
});

describe("settle", () => {
  it("behavior: what the payer did is refused for good", async () => {
    const reasons = [
      "permit2_insufficient_balance",
      "permit2_allowance_required",
      "permit2_deadline_expired",
      "permit2_invalid_nonce",
      "invalid_permit2_signature",
    ];
    for (const reason of reasons) expect([reason, await failed(reason)]).toEqual([reason, "refused"]);
  });

  it("behavior: what the facilitator itself met is not", async () => {
    const reasons = [
      "transaction_failed: The total cost (gas * gas fee + value) of executing this transaction exceeds the balance of the account.",
      "transaction_failed: Nonce provided for the transaction is lower than the current nonce of the account.",
      "transaction_failed: HTTP request failed.\nthe API key's allowance is used up",
      "invalid_upto_evm_transaction_failed",
    ];
    for (const reason of reasons) expect([reason, await failed(reason)]).toEqual([reason, "later"]);
    expect(await failed("permit2_simulation_failed")).toBe("doubtful");
    expect(await failed("settlement_pending")).toBe("unknown");
    expect(await statusOf({ message: "bad gateway" }, 502)).toBe("unknown");
  });
});
