import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RequestId } from "../../protocol/rules/types.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";
import { type PaymentSystem, startPayments } from "../support/x402.ts";

const PRICE = 2_500n;
const payer = systemAccount(ROLES.cheat + 2);

let system: System;
let payments: PaymentSystem;
let url: string;

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: 1 });
  payments = await startPayments(system, payer, systemAccount(ROLES.cheat + 3));
  const { asset, network, facilitatorUrl } = payments;
  const daemon = system.daemon("prover", ROLES.prover, [
    ...["prover", "--port", "0", "--payment-price", `${PRICE}`, "--payment-asset", asset],
    ...["--payment-network", network, "--payment-facilitator", facilitatorUrl],
  ]);
  url = String((await daemon.logged("prover is up")).url);
});
afterAll(async () => {
  await payments?.stop();
  await system.stop();
});

describe("a prover that is paid on finality", () => {
  it("default: a caller without a request of his own gets a final output, and pays its price", async () => {
    const prover = systemAccount(ROLES.prover).address;
    const answered = await payments.fetch(`${url}/v1/tools/sentiment?finality=final&timeout=300`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ text: "Profit beats forecasts" }),
    });
    const body = (await answered.json()) as { status: string; request: RequestId; result: { label: number } };
    expect([answered.status, body.status, answered.headers.has("payment-response")]).toEqual([
      200,
      "final",
      true,
    ]);
    const [requested] = system.events.all("Requested", ({ requestId }) => requestId === body.request);
    expect(requested?.request).toMatchObject({ requester: prover, exclusiveProver: prover });
    expect(await payments.balanceOf(prover)).toBe(PRICE);
    await system.events.until("Finalized", ({ requestId }) => requestId === body.request);
  });
});
