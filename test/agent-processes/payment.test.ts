import { setTimeout as sleep } from "node:timers/promises";
import { decodePaymentResponseHeader } from "@x402/core/http";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { paidTool } from "../../agent/sdk/adapters/x402.ts";
import { askSigned, type ModelManifest, openModel } from "../../agent/sdk/index.ts";
import type { Daemon } from "../../cli/demo/processes.ts";
import { readHeader } from "../../protocol/rules/receipt/header.ts";
import { parseRecord, verifyRecord } from "../../protocol/rules/receipt/record.ts";
import { LANE, type RequestId } from "../../protocol/rules/types.ts";
import { fetchMetrics } from "../support/exposition.ts";
import { longTest } from "../support/long-test.ts";
import { promisesBy } from "../support/promises/signed-answers.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";
import { type PaymentSystem, startPayments } from "../support/x402.ts";

const PRICE = 2_500n;
const SIGNED_PRICE = 100n;
const payer = systemAccount(ROLES.cheat + 2);
const other = systemAccount(ROLES.cheat + 4);
const payee = systemAccount(ROLES.prover).address;

let system: System;
let payments: PaymentSystem;
let daemon: Daemon;
let url: string;
/** The least. */
const FORGET_AFTER = 256;

function runProver(name: string, role: number, ...more: string[]): Daemon {
  const { asset, network, facilitatorUrl } = payments;
  return system.daemon(name, role, [
    ...["prover", "--port", "0", "--payment-price", `${PRICE}`, "--payment-asset", asset],
    ...["--payment-network", network, "--payment-facilitator", facilitatorUrl, "--poll-interval-ms", "200"],
    ...["--forget-after", `${FORGET_AFTER}`],
    ...more,
  ]);
}

async function startProver(name: string): Promise<void> {
  daemon = runProver(name, ROLES.prover);
  url = String((await daemon.logged("prover is up")).url);
}

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: 1 });
  payments = await startPayments(system, payer, systemAccount(ROLES.cheat + 3));
  await startProver("prover");
});
afterAll(async () => {
  await payments?.stop();
  await system.stop();
});

interface Body {
  readonly status?: string;
  readonly request?: RequestId;
  readonly digest?: string;
  readonly error?: { code: string; message: string; details: Record<string, string> };
}
const ask = (
  text: string,
  query = "",
  headers: Record<string, string> = {},
  through: typeof fetch = fetch,
  at = url,
) =>
  through(`${at}/v1/tools/sentiment${query}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ text }),
  });
const body = async (response: Response) => (await response.json()) as Body;
const statusOf = async (text: string) => (await body(await ask(text))).status;
const codeOf = async (response: Promise<Response>) => {
  const answered = await response;
  return [answered.status, (await body(answered)).error?.code];
};
const signed = async (text: string, by: PaymentSystem = payments) =>
  by.sign(await ask(text, "?finality=final&timeout=60"));
const requested = (text: string) =>
  system.events.until("Requested", ({ input }) => Buffer.from(input.slice(2), "hex").includes(text));
const finalized = async (text: string) => {
  const { requestId } = await requested(text);
  await system.events.until("Finalized", (event) => event.requestId === requestId);
};
const earned = () => payments.balanceOf(payee);
const orders = async (end: string) =>
  (await fetchMetrics(url)).get(`assay_prover_orders_total{end="${end}"}`) ?? 0;
const SOON = { timeout: 60_000, interval: 200 };

/** The payment's answer leads to a record that anybody verifies who knows the hash of its block. */
async function expectRecorded(answered: Response, requestId: RequestId | undefined): Promise<void> {
  const settled = decodePaymentResponseHeader(answered.headers.get("payment-response") ?? "");
  const extension = settled.extensions?.["assay-record"] as { info: { url: string; claim: Hex } } | undefined;
  if (extension === undefined) throw new Error("The payment's answer names no record.");
  const { info } = extension;
  const record = parseRecord(await (await fetch(new URL(info.url, answered.url))).text());
  const { number } = readHeader(record.header);
  const { hash: blockHash } = await system.client.getBlock({ blockNumber: number });
  const { game, constants } = system.chain;
  const subject = { requestId: requestId as Hex, claimId: info.claim };
  const verdict = verifyRecord(record, { ...game, ...constants, blockHash }, subject);
  expect(verdict).toMatchObject({ valid: true, end: "FINAL", fall: "NONE" });
  const { network, transaction } = settled;
  expect(record.unproven.payment).toEqual({ network, transaction });
}

describe("a prover that is paid on finality", () => {
  it("default: a caller without a request of his own gets a final output, and pays its price", async () => {
    const text = "Profit beats forecasts";
    const answered = await ask(text, "?finality=final&timeout=300", {}, payments.fetch);
    const { status, request } = await body(answered);
    expect([answered.status, status, answered.headers.has("payment-response")]).toEqual([200, "final", true]);
    const [event] = system.events.all("Requested", ({ requestId }) => requestId === request);
    expect(event?.request).toMatchObject({ requester: payee, exclusiveProver: payee });
    expect(await earned()).toBe(PRICE);
    await expectRecorded(answered, request);
    await system.events.until("Finalized", ({ requestId }) => requestId === request);
    // What was paid for is free.
    const again = await ask(text, "?finality=final&timeout=1");
    expect([again.status, (await body(again)).status, await earned()]).toEqual([200, "final", PRICE]);
    const { manifest } = system.model("sentiment");
    const tool = paidTool({
      chain: system.chain,
      model: await openModel(system.chain, manifest as ModelManifest),
      name: "sentiment",
      url: `${url}/tools/sentiment`,
      fetch: payments.fetch,
      policy: { lanes: LANE.BOND, minBond: 1n, minWindow: 4 },
      waitSeconds: 300,
    });
    expect(await tool.run({ text })).toMatchObject({
      status: "final",
      lane: "BOND",
      requestId: request,
      meaning: { kind: "classes", text: expect.stringMatching(/^(bearish|neutral|bullish) \(/) },
    });
    expect(await earned()).toBe(PRICE);
  });

  it("error: too short a wait is refused with the least one, and nothing is filed", async () => {
    const before = system.events.all("Requested").length;
    const headers = await signed("One header");
    for (const text of ["One", "Two", "Three", "Four", "Five", "Six"]) {
      const refused = await ask(text, "?finality=final&timeout=1", headers);
      const { error } = await body(refused);
      expect([refused.status, error?.code]).toEqual([400, "QUERY_INVALID"]);
      expect(error?.message).toContain("must be 14 to 600 seconds: no output is final earlier");
    }
    expect(system.events.all("Requested")).toHaveLength(before);
  });

  it("behavior: one header orders one input; who leaves pays all the same, and nobody is told before that", async () => {
    const before = await earned();
    const headers = await signed("The first input");
    const leaving = new AbortController();
    const left = fetch(`${url}/v1/tools/sentiment?finality=final&timeout=60`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ text: "The first input" }),
      signal: leaving.signal,
    }).catch(() => "left");
    await requested("The first input");
    leaving.abort();
    expect(await left).toBe("left");
    for (const text of ["The second input", "The third input"])
      expect(await codeOf(ask(text, "?finality=final&timeout=60", headers))).toEqual([402, "PAYMENT_USED"]);
    // Nothing is said of an order's finality while its payment has not been taken.
    for (;;) {
      const status = await statusOf("The first input");
      const paid = (await earned()) - before;
      if (status === "final") {
        expect(paid).toBe(PRICE);
        break;
      }
      expect(status).toBe("unverified");
      await sleep(100);
    }
    expect(
      system.events.all("Requested", ({ input }) =>
        input.includes(Buffer.from("second input").toString("hex")),
      ),
    ).toEqual([]);
  });

  it("behavior: two payers of one input: one request, one price", async () => {
    const before = [await earned(), system.events.all("Requested").length] as const;
    await payments.give(other.address, 10n * PRICE);
    const second = await payments.as(other);
    const query = "?finality=final&timeout=60";
    const answers = await Promise.all([
      ask("Asked by two", query, {}, payments.fetch),
      ask("Asked by two", query, {}, second.fetch),
    ]);
    expect(await Promise.all(answers.map(async (answer) => (await body(answer)).status))).toEqual([
      "final",
      "final",
    ]);
    expect(answers.filter(({ headers }) => headers.has("payment-response"))).toHaveLength(1);
    expect([(await earned()) - before[0], system.events.all("Requested").length - before[1]]).toEqual([
      PRICE,
      1,
    ]);
  });

  it("behavior: a signed answer costs its own price, before it is given, and the same payment gives it again", async () => {
    const text = "Signed and paid for";
    const signer = systemAccount(ROLES.cheat + 6).address;
    const { actions, must } = promisesBy(await system.open("staker", ROLES.cheat + 7));
    await must(actions.deposit(signer, 10n ** 18n, "stake"));
    const signs = ["--sign", "on", "--signed-price", `${SIGNED_PRICE}`];
    const signing = runProver("signer", ROLES.cheat + 6, ...signs);
    const at = String((await signing.logged("prover is up")).url);
    const earned = () => payments.balanceOf(signer);
    const query = "?finality=signed";
    const call = (headers: Record<string, string> = {}, through: typeof fetch = fetch, input = text) =>
      ask(input, query, headers, through, at);
    await expect.poll(async () => (await call()).status, SOON).toBe(402);
    const asking = await call();
    expect((await body(asking.clone())).error).toMatchObject({
      code: "PAYMENT_REQUIRED",
      details: { price: `${SIGNED_PRICE}` },
    });
    const model = await openModel(system.chain, system.model("sentiment").manifest as ModelManifest);
    const terms = { url: at, prover: signer, fetch: payments.fetch };
    const taken = await askSigned(system.chain, model, { text }, terms);
    expect([taken.meaning?.kind, await earned()]).toEqual(["classes", SIGNED_PRICE]);

    const headers = await payments.sign(asking);
    const answers = [await call(headers), await call(headers)];
    const [first, second] = await Promise.all(answers.map(body));
    expect(first).toMatchObject({ status: "signed", digest: expect.any(String) });
    expect(second).toEqual(first);
    const receipt = decodePaymentResponseHeader(answers[0]?.headers.get("payment-response") ?? "");
    expect(receipt.extensions?.["assay-signed-claim"]).toMatchObject({ info: { digest: first?.digest } });
    expect(await earned()).toBe(2n * SIGNED_PRICE);
    // It buys one answer to one input, and nothing that is final.
    expect(await codeOf(call(headers, fetch, "Another input"))).toEqual([402, "PAYMENT_USED"]);
    const final = ask(text, "?finality=final&timeout=60", headers, fetch, at);
    expect(await codeOf(final)).toEqual([402, "PAYMENT_REFUSED"]);
    expect(await codeOf(call(await signed(text)))).toEqual([402, "PAYMENT_REFUSED"]);
    // Whoever stole a payment that names its order has it for nothing else, and its payer gets his answer.
    const bound = await payments.as(payer, system.chain.game);
    const mine = `?finality=signed&requester=${payer.address}`;
    const stolen = await bound.sign(await ask("Mine", mine, {}, fetch, at));
    for (const [input, thief] of [
      ["Mine", "?finality=signed"],
      ["Mine", `?finality=signed&requester=${other.address}`],
      ["Not mine", mine],
    ] as const)
      expect(await codeOf(ask(input, thief, stolen, fetch, at))).toEqual([402, "PAYMENT_OTHER_ORDER"]);
    expect((await ask("Mine", mine, stolen, fetch, at)).status).toBe(200);
    const own = { ...terms, fetch: bound.fetch, requester: payer.address };
    const { presented } = await askSigned(system.chain, model, { text: "Bound" }, own);
    expect([presented.claim.requester, await earned()]).toEqual([payer.address, 4n * SIGNED_PRICE]);
    // Who moves his tokens away gets no answer.
    const drained = await payments.as(systemAccount(ROLES.cheat + 8));
    expect(await codeOf(call({}, drained.fetch))).toEqual([402, "PAYMENT_REFUSED"]);
    // A payment buys one answer.
    const many = await fetch(`${at}/v1/tools/sentiment/signed-claims`, {
      ...{ method: "POST", headers: { "Content-Type": "application/json" } },
      body: JSON.stringify({ inputs: [{ text }, { text }] }),
    });
    expect(await codeOf(Promise.resolve(many))).toEqual([409, "SOLD_SINGLY"]);
    // What nobody signs is free.
    const free = await body(await ask(text, "", {}, fetch, at));
    expect([free.status, await earned()]).toEqual(["unverified", 4n * SIGNED_PRICE]);
    await signing.stop();
  });

  it("behavior: killed between claim and settlement, the prover takes the price once when it is back", async () => {
    const before = await earned();
    const headers = await signed("Killed before it was paid");
    const call = ask("Killed before it was paid", "?finality=final&timeout=60", headers).catch(
      () => undefined,
    );
    const { requestId } = await requested("Killed before it was paid");
    await system.events.until("Claimed", (event) => event.requestId === requestId);
    process.kill(daemon.pid as number, "SIGKILL");
    await daemon.ended;
    await call;
    expect(await earned()).toBe(before);
    await startProver("prover");
    await expect.poll(earned, SOON).toBe(before + PRICE);
    // The prover hears of the payment after the chain has it.
    await expect.poll(() => statusOf("Killed before it was paid"), SOON).toBe("final");
    // The payer who comes back with his payment pays no more.
    const back = await ask("Killed before it was paid", "?finality=final&timeout=60", headers);
    expect([back.status, await earned()]).toEqual([200, before + PRICE]);
  });

  longTest("error: a payer who drains his account gets nothing more, until the order is paid", async () => {
    const poor = systemAccount(ROLES.cheat + 5);
    await payments.give(poor.address, PRICE);
    const drained = await payments.as(poor);
    const query = "?finality=final&timeout=60";
    const before = await earned();
    const call = codeOf(ask("Drained", query, {}, drained.fetch));
    await requested("Drained");
    expect(await codeOf(ask("A second one", query, {}, drained.fetch))).toEqual([429, "PAYER_BUSY"]);
    await drained.transfer(other.address, PRICE);
    expect(await call).toEqual([402, "PAYMENT_REFUSED"]);
    await finalized("Drained");
    expect([await orders("unpaid"), await earned(), await statusOf("Drained")]).toEqual([
      1,
      before,
      "unverified",
    ]);
    await payments.give(poor.address, PRICE);
    expect(await codeOf(ask("A second one", query, {}, drained.fetch))).toEqual([402, "PAYMENT_OWED"]);
    // Somebody else pays for it, then it is free to all.
    const paid = await ask("Drained", query, {}, payments.fetch);
    expect([paid.status, await earned(), await statusOf("Drained")]).toEqual([200, before + PRICE, "final"]);
    expect(
      system.events.all("Requested", ({ input }) =>
        input.includes(Buffer.from("A second one").toString("hex")),
      ),
    ).toEqual([]);
    expect((await ask("A second one", query, {}, drained.fetch)).status).toBe(200);
  });

  it("behavior: what was paid for is free when its request is forgotten", async () => {
    const before = [await earned(), system.events.all("Requested").length];
    await system.control.mine({ blocks: FORGET_AFTER + 50 });
    const { number } = await system.client.getBlock();
    const headOf = async () =>
      BigInt(((await (await fetch(`${url}/healthz`)).json()) as { head: { number: string } }).head.number);
    await expect.poll(headOf, SOON).toBeGreaterThanOrEqual(number);
    const text = "Profit beats forecasts";
    await expect.poll(() => statusOf(text), SOON).toBe("unverified");
    const again = await ask(text, "?finality=final&timeout=60");
    expect([again.status, (await body(again)).status]).toEqual([200, "final"]);
    expect([await earned(), system.events.all("Requested").length]).toEqual(before);
  });
});
