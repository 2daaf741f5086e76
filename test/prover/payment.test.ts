import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../base/bytes.ts";
import { ClaimIndex } from "../../protocol/chain/claim-index.ts";
import { paymentGate } from "../../prover/http/payment.ts";
import { accountAt, type LocalChain, startLocalChain } from "../support/anvil.ts";
import {
  asked,
  calldata,
  codeOf,
  MAX_WAIT_SECONDS,
  OCTETS,
  post,
  prover,
  right,
} from "../support/http-prover.ts";
import { type PaymentSystem, startPayments } from "../support/x402.ts";

const PRICE = 2_500n;
const PATH = "/tools/forecast-vix";
const payer = accountAt(5);
const payee = accountAt(6);

let local: LocalChain;
let payments: PaymentSystem;
let orders = 0;

beforeAll(async () => {
  local = await startLocalChain();
  payments = await startPayments(local, payer, accountAt(7));
});
afterAll(async () => {
  await payments?.stop();
  await local?.stop();
});

/** Switches payment on. @param onOrder what becomes of the request that the node files */
function charge(onOrder: () => void, facilitatorUrl = payments.facilitatorUrl): void {
  const { asset, network } = payments;
  const terms = { price: PRICE, asset, network, payTo: payee.address, facilitatorUrl };
  orders = 0;
  prover.payment = {
    gate: paymentGate(terms, MAX_WAIT_SECONDS),
    order: async () => {
      orders += 1;
      onOrder();
    },
  };
}
const body = () => Buffer.from(fromHex(calldata));
const pay = (path: string, headers: Record<string, string> = {}) =>
  payments.fetch(`${prover.server.url}${path}`, {
    method: "POST",
    body: body(),
    headers: { "content-type": OCTETS, ...headers },
  });
/** What the payee has got since. */
async function earnings(): Promise<() => Promise<bigint>> {
  const before = await payments.balanceOf(payee.address);
  return async () => (await payments.balanceOf(payee.address)) - before;
}

describe("paymentGate", () => {
  it("default: asks for payment, files the request, and takes the price once the output is final", async () => {
    charge(() => void asked("done"));
    const earned = await earnings();
    const unpaid = await post(`${PATH}?finality=final`, fromHex(calldata), OCTETS);
    expect([unpaid.status, unpaid.headers.has("payment-required"), orders]).toEqual([402, true, 0]);
    const paid = await pay(`${PATH}?finality=final`);
    expect([paid.status, paid.headers.get("assay-status"), orders]).toEqual([200, "final", 1]);
    expect(toHex(new Uint8Array(await paid.arrayBuffer()))).toBe(toHex(right));
    expect(paid.headers.has("settlement-overrides")).toBe(false);
    expect(await earned()).toBe(PRICE);
    // Who has asked before pays again for the answer, and nothing is filed twice.
    expect((await pay(`${PATH}?finality=final`)).status).toBe(200);
    expect([await earned(), orders]).toEqual([2n * PRICE, 1]);
  });

  it("behavior: an answer that is not final costs nothing", async () => {
    charge(() => void asked("busy"));
    const earned = await earnings();
    const unverified = await post(PATH, fromHex(calldata), OCTETS);
    expect([unverified.status, unverified.headers.get("assay-status")]).toEqual([200, "unverified"]);
    expect(await codeOf(pay(`${PATH}?finality=final&timeout=1`))).toEqual([504, "NOT_FINAL_IN_TIME"]);
    expect(orders).toBe(1);
    expect(await earned()).toBe(0n);
  });

  it("behavior: nothing is taken once the claim is convicted", async () => {
    charge(() => {
      asked("busy");
      // The conviction: the request is open again, and the claim is gone.
      setImmediate(() => {
        prover.index = new ClaimIndex();
        asked("open");
      });
    });
    const earned = await earnings();
    expect(await codeOf(pay(`${PATH}?finality=final&timeout=2`))).toEqual([504, "NOT_FINAL_IN_TIME"]);
    expect(await earned()).toBe(0n);
  });

  it("behavior: nothing is taken for what cannot be run or asked", async () => {
    charge(() => void asked("done"));
    const earned = await earnings();
    prover.failure = new Error("no memory");
    expect((await pay(`${PATH}?finality=final`)).status).toBeGreaterThanOrEqual(400);
    prover.failure = undefined;
    expect(await codeOf(pay(`${PATH}?finality=final&timeout=never`))).toEqual([400, "QUERY_INVALID"]);
    expect(await codeOf(pay("/tools/nothing?finality=final"))).toEqual([404, "MODEL_NOT_SERVED"]);
    expect(await earned()).toBe(0n);
  });

  it("error: one payment buys one answer", async () => {
    charge(() => void asked("done"));
    const earned = await earnings();
    const path = `${PATH}?finality=final`;
    const headers = await payments.sign(await post(path, fromHex(calldata), OCTETS));
    const once = await post(path, fromHex(calldata), OCTETS, headers);
    const twice = await post(path, fromHex(calldata), OCTETS, headers);
    expect([once.status, twice.status]).toEqual([200, 402]);
    expect(await earned()).toBe(PRICE);
  });

  it("error: two calls at once with one payment get one answer", async () => {
    charge(() => void asked("done"));
    const earned = await earnings();
    const path = `${PATH}?finality=final`;
    const headers = await payments.sign(await post(path, fromHex(calldata), OCTETS));
    const both = await Promise.all([0, 1].map(() => post(path, fromHex(calldata), OCTETS, headers)));
    expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await earned()).toBe(PRICE);
  });

  it("error: no spelling of the path goes past the gate", async () => {
    charge(() => void asked("done"));
    const spellings = [
      "/TOOLS/forecast-vix",
      "/tools/forecast-vix/",
      "/tools/forecast%2Dvix",
      "/v1/tools/forecast-vix",
    ];
    for (const path of spellings) {
      const { status } = await post(`${path}?finality=final`, fromHex(calldata), OCTETS);
      expect([path, status]).toEqual([path, 402]);
    }
    const twice = await post(`${PATH}?finality=final&finality=final`, fromHex(calldata), OCTETS);
    expect(twice.status).toBe(400);
    expect(orders).toBe(0);
  });

  it("error: a promise that cannot be kept is refused before anything runs", async () => {
    charge(() => void asked("done"));
    await payments.approve(PRICE - 1n);
    expect((await pay(`${PATH}?finality=final`)).status).toBe(402);
    await payments.approve(1_000_000n);
    expect(orders).toBe(0);
  });

  it("error: without its facilitator nothing final is given", async () => {
    charge(() => void asked("done"), "http://127.0.0.1:65500");
    const { status } = await pay(`${PATH}?finality=final`);
    expect(status).toBeGreaterThanOrEqual(500);
    expect(orders).toBe(0);
  });
});
