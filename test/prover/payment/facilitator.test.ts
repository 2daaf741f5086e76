import express from "express";
import { afterEach, describe, expect, it } from "vitest";
import type { RequestId } from "../../../protocol/rules/types.ts";
import { type HttpServer, listen } from "../../../protocol/service/http/listen.ts";
import { connectFacilitator } from "../../../prover/payment/facilitator.ts";
import { accountAt } from "../../support/anvil.ts";

let server: HttpServer | undefined;
afterEach(() => server?.close());

/** How a settlement ends whose facilitator answers this. */
async function statusOf(answer: object, httpStatus = 200): Promise<string> {
  const app = express();
  app.post("/settle", (_request, response) => void response.status(httpStatus).json(answer));
  server = await listen(app, "127.0.0.1", 0);
  const { address } = accountAt(6);
  const terms = { price: 1n, asset: address, network: "eip155:1", payTo: address } as const;
  const service = connectFacilitator({ ...terms, facilitatorUrl: server.url }, 600);
  const { status } = await service.settle(
    { signed: JSON.stringify({ payload: {}, requirements: {} }) },
    { request: `0x${"00".repeat(32)}` as RequestId },
  );
  await server.close();
  server = undefined;
  return status;
}
const failed = (errorReason: string) =>
  statusOf({ success: false, errorReason, transaction: "", network: "eip155:1" });

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
