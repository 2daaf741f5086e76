import { decodePaymentResponseHeader } from "@x402/core/http";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../../base/bytes.ts";
import { encodeProgram } from "../../../inference/program/encode.ts";
import { ClaimIndex } from "../../../protocol/chain/claim-index.ts";
import { NO_DATA_FEE } from "../../../protocol/chain/data-fee.ts";
import { StateReader } from "../../../protocol/chain/reads.ts";
import { registerModel } from "../../../protocol/chain/register.ts";
import { defenceGas, gasPriceRange } from "../../../protocol/rules/money.ts";
import type { RequestId } from "../../../protocol/rules/types.ts";
import { openDatabase, type SqliteDatabase } from "../../../protocol/service/journal/database.ts";
import type { Payment } from "../../../prover/http/parts.ts";
import type { ServedModel } from "../../../prover/models.ts";
import { connectFacilitator } from "../../../prover/payment/facilitator.ts";
import { ORDERS_SCHEMA, OrderStore } from "../../../prover/payment/order-store.ts";
import { Orders } from "../../../prover/payment/orders.ts";
import { accountAt, type LocalChain, startLocalChain } from "../../support/anvil.ts";
import { openLocalSystem } from "../../support/deploy.ts";
import { forecastInput } from "../../support/forecast.ts";
import {
  asked,
  bodyOf,
  calldata,
  codeOf,
  encodeText,
  forecast,
  JSON_TYPE,
  log,
  models,
  OCTETS,
  post,
  prover,
  right,
  sentiment,
  served,
  serveForTests,
} from "../../support/http-prover.ts";
import { type PaymentSystem, startPayments } from "../../support/x402.ts";

serveForTests();

const PRICE = 2_500n;
const VALID_SECONDS = 300;
const PATH = "/tools/forecast-vix";
const payer = accountAt(5);
const payee = accountAt(6);
let local: LocalChain;
let system: Awaited<ReturnType<typeof openLocalSystem>>;
let payments: PaymentSystem;
let orders = 0;
let stopOrders = async () => {};
beforeAll(async () => {
  local = await startLocalChain();
  system = await openLocalSystem(local);
  for (const { model, commitment, selector, laneBits: lanes, manifest } of [forecast, sentiment]) {
    const identity = { ...commitment, selector, lanes, vkHash: fromHex(manifest.assay.vkHash) };
    await registerModel(system.chain, system.sender, encodeProgram(model.program), identity);
  }
  payments = await startPayments(local, payer, accountAt(7));
});
afterEach(() => stopOrders());
afterAll(async () => {
  await payments?.stop();
  await system?.close();
  await local?.stop();
});

/** Switches payment on; requests go to the chain, what becomes of them is the test's.
 *  @param onOrder called when an order was placed
 *  @returns where the orders are kept */
function charge(
  onOrder: () => void,
  { facilitatorUrl = payments.facilitatorUrl, maxBonds = 10n ** 20n, claims = true } = {},
): OrderStore {
  const { asset, network } = payments;
  const to = { network, payTo: payee.address, facilitatorUrl };
  const terms = { price: PRICE, asset, ...to, binding: "accepted" } as const;
  const db: SqliteDatabase = openDatabase(`${system.folder}/${crypto.randomUUID()}.sqlite`, [ORDERS_SCHEMA]);
  const store = new OrderStore(db, 16);
  const made = new Orders({
    chain: system.chain,
    sender: system.sender,
    node: {
      get index() {
        return prover.index;
      },
      head: { number: 1n, hash: `0x${"00".repeat(32)}`, timestamp: 0 },
      state: {
        now: 0,
        own: system.chain.account.address,
        constants: system.chain.constants,
        baseFee: 10n ** 9n,
        gasPrice: 2n * 10n ** 9n,
        dataFee: NO_DATA_FEE,
        balance: 10n ** 20n,
        live: [],
        fallen: new Set(),
      },
      termsOf: ({ depth, outputLength }: ServedModel) => ({ lanes: 4, depth, outputLength }),
    },
    models,
    claims,
    policy: { marginPercent: 20, maxBonds, maxBond: 10n ** 20n, endingBudget: 10n ** 16n, maxWindow: 3_600 },
    store,
    service: connectFacilitator(terms, VALID_SECONDS),
    offer: { price: `${PRICE}`, asset },
    pollIntervalMs: 10,
    onEnd: () => {},
    nowMs: Date.now,
    log,
  });
  const stopping = new AbortController();
  const running = made.run(stopping.signal);
  orders = 0;
  prover.payment = {
    offer: made.offer,
    terms: (...asked) => made.terms(...asked),
    read: (...given) => made.read(...given),
    paidBefore: (...input) => made.paidBefore(...input),
    transferOf: (id) => made.transferOf(id),
    isWithheld: (id) => made.isWithheld(id),
    stateOf: (id, payment) => made.stateOf(id, payment),
    leastSeconds: () => 1,
    place: async (...order) => {
      const id = await made.place(...order);
      orders += 1;
      onOrder();
      return id;
    },
  } satisfies Payment;
  stopOrders = async () => {
    stopping.abort();
    await running;
    db.close();
    stopOrders = async () => {};
  };
  return store;
}
const pay = (path: string, headers: Record<string, string> = {}) =>
  payments.fetch(`${prover.server.url}${path}`, {
    method: "POST",
    body: Buffer.from(fromHex(calldata)),
    headers: { "content-type": OCTETS, ...headers },
  });
/** What the payee has got since. */
async function earnings(): Promise<() => Promise<bigint>> {
  const before = await payments.balanceOf(payee.address);
  return async () => (await payments.balanceOf(payee.address)) - before;
}

describe("calls that pay", () => {
  it("default: asks for payment, files the request, and takes the price once the output is final", async () => {
    charge(() => void asked("done"));
    const earned = await earnings();
    const unpaid = await post(`${PATH}?finality=final`, fromHex(calldata), OCTETS);
    expect([unpaid.status, unpaid.headers.has("payment-required"), orders]).toEqual([402, true, 0]);
    expect((await bodyOf(unpaid)).error).toMatchObject({
      code: "PAYMENT_REQUIRED",
      message: "A final output costs, and the call has no header PAYMENT-SIGNATURE.",
      details: { price: "2500", asset: payments.asset },
    });
    const paid = await pay(`${PATH}?finality=final`);
    expect([paid.status, paid.headers.get("assay-status"), orders]).toEqual([200, "final", 1]);
    expect(toHex(new Uint8Array(await paid.arrayBuffer()))).toBe(toHex(right));
    const request = paid.headers.get("assay-request") as RequestId;
    const { network, transaction } = decodePaymentResponseHeader(paid.headers.get("payment-response") ?? "");
    expect(prover.payment?.transferOf(request)).toEqual({ network, transaction });
    expect(await earned()).toBe(PRICE);
    // What is final and paid for is free.
    expect((await post(`${PATH}?finality=final`, fromHex(calldata), OCTETS)).status).toBe(200);
    expect([await earned(), orders]).toEqual([PRICE, 1]);
    // What is gone from the chain again is not final.
    prover.index = new ClaimIndex();
    expect((await post(`${PATH}?finality=final`, fromHex(calldata), OCTETS)).status).toBe(402);
  });
  it("behavior: an answer that is not final costs nothing", async () => {
    charge(() => void asked("busy"));
    const earned = await earnings();
    const unverified = await post(PATH, fromHex(calldata), OCTETS);
    expect([unverified.status, unverified.headers.get("assay-status")]).toEqual([200, "unverified"]);
    expect(await codeOf(pay(`${PATH}?finality=final&timeout=1`))).toEqual([504, "NOT_FINAL_IN_TIME"]);
    expect([orders, await earned()]).toEqual([1, 0n]);
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
  it("behavior: one payment is taken once, however often it is sent", async () => {
    charge(() => void asked("done"));
    const earned = await earnings();
    const path = `${PATH}?finality=final`;
    const headers = await payments.sign(await post(path, fromHex(calldata), OCTETS));
    const send = () => post(path, fromHex(calldata), OCTETS, headers);
    const both = await Promise.all([send(), send()]);
    expect([...both, await send()].map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await earned()).toBe(PRICE);
  });
  it("error: a payment that ends too soon, is of other terms, or is no payment is refused with the reason", async () => {
    charge(() => void asked("done"));
    const path = `${PATH}?finality=final`;
    const headers = await payments.sign(await post(path, fromHex(calldata), OCTETS));
    const payload = JSON.parse(
      Buffer.from(headers["PAYMENT-SIGNATURE"] as string, "base64").toString("utf8"),
    );
    const reasonOf = async (changed: unknown) => {
      const encoded =
        typeof changed === "string" ? changed : Buffer.from(JSON.stringify(changed)).toString("base64");
      const answer = await post(path, fromHex(calldata), OCTETS, { "PAYMENT-SIGNATURE": encoded });
      const { error } = await bodyOf(answer);
      return [answer.status, error?.code, error?.message];
    };
    const soon = structuredClone(payload);
    soon.payload.permit2Authorization.deadline = `${Math.floor(Date.now() / 1_000) + 60}`;
    expect(await reasonOf(soon)).toEqual([
      402,
      "PAYMENT_REFUSED",
      expect.stringContaining(`it must be for ${VALID_SECONDS} s`),
    ]);
    const cheaper = structuredClone(payload);
    cheaper.accepted.amount = "1";
    expect(await reasonOf(cheaper)).toEqual([402, "PAYMENT_REFUSED", expect.stringContaining("other terms")]);
    const forged = structuredClone(payload);
    forged.payload.permit2Authorization.nonce = "7";
    expect(await reasonOf(forged)).toEqual([
      402,
      "PAYMENT_REFUSED",
      expect.stringContaining("invalid_permit2_signature"),
    ]);
    expect(await reasonOf("$$")).toEqual([
      402,
      "PAYMENT_REFUSED",
      expect.stringContaining("not base64 of JSON"),
    ]);
    expect(await reasonOf({ x402Version: 1 })).toEqual([
      402,
      "PAYMENT_REFUSED",
      expect.stringContaining("its x402Version"),
    ]);
    const terms = { asset: payee.address, network: "eip155:1", payTo: payer.address, scheme: "exact" };
    for (const [field, value] of Object.entries(terms)) {
      const other = structuredClone(payload);
      other.accepted[field] = value;
      expect(await reasonOf(other)).toEqual([402, "PAYMENT_REFUSED", expect.stringContaining("other terms")]);
    }
    // What is signed must be what is accepted.
    const reasons = [
      ["permitted", { token: payee.address, amount: `${PRICE}` }, "permit2_token_mismatch"],
      ["permitted", { token: payments.asset, amount: `${PRICE - 1n}` }, "permit2_amount_mismatch"],
      ["spender", payer.address, "invalid_permit2_spender"],
      ["from", payee.address, "invalid_permit2_signature"],
      ["nonce", "9".repeat(78), "invalid_permit2_signature"],
      ["nonce", "9".repeat(79), "nonce is not as"],
      ["nonce", "-1", "nonce is not as"],
      ["deadline", "1e99", "deadline is not as"],
    ] as const;
    for (const [field, value, reason] of reasons) {
      const other = structuredClone(payload);
      other.payload.permit2Authorization[field] = value;
      expect([field, ...(await reasonOf(other))]).toEqual([
        field,
        402,
        "PAYMENT_REFUSED",
        expect.stringContaining(reason),
      ]);
    }
    const witnesses = [
      [{ to: payer.address }, "recipient_mismatch"],
      [{ facilitator: payer.address }, "facilitator_mismatch"],
      [{ validAfter: `${Math.floor(Date.now() / 1_000) + 60}` }, "permit2_not_yet_valid"],
    ] as const;
    for (const [changed, reason] of witnesses) {
      const other = structuredClone(payload);
      Object.assign(other.payload.permit2Authorization.witness, changed);
      expect(await reasonOf(other)).toEqual([402, "PAYMENT_REFUSED", expect.stringContaining(reason)]);
    }
    // Comparing it would take some seven seconds.
    const deep = `{"x402Version":2,"accepted":{"a":${"[".repeat(4_000)}${"]".repeat(4_000)}}}`;
    expect(await reasonOf(Buffer.from(deep).toString("base64"))).toEqual([
      402,
      "PAYMENT_REFUSED",
      expect.stringContaining("nested more than 16 levels"),
    ]);
    const large = Buffer.from(JSON.stringify(payload).padEnd(2 ** 20)).toString("base64");
    const { status } = await post(path, fromHex(calldata), OCTETS, { "PAYMENT-SIGNATURE": large });
    expect([status, orders]).toEqual([431, 0]);
  });

  it("error: one payment for two inputs, two models, at once: one is ordered", async () => {
    charge(() => {});
    const path = "?finality=final&timeout=1";
    const headers = await payments.sign(await post(`${PATH}${path}`, fromHex(calldata), OCTETS));
    const calls = [
      () => post(`${PATH}${path}`, fromHex(calldata), OCTETS, headers),
      () => post(`${PATH}${path}`, fromHex(forecastInput(forecast, 4)), OCTETS, headers),
      () => post(`/tools/sentiment${path}`, fromHex(encodeText("Profit falls")), OCTETS, headers),
      () => post(`/v1/tools/sentiment${path}`, JSON.stringify({ text: "Profit falls" }), JSON_TYPE, headers),
    ];
    const codes = await Promise.all(calls.map((call) => codeOf(call())));
    // Which of them comes first is open; both forms of one question are one order.
    expect(new Set(codes.map(([, code]) => code))).toEqual(new Set(["NOT_FINAL_IN_TIME", "PAYMENT_USED"]));
    const ordered = codes.flatMap(([, code], i) => (code === "NOT_FINAL_IN_TIME" ? [i] : []));
    expect([[0], [1], [2, 3]]).toContainEqual(ordered);
  });

  it("error: no spelling of the path goes past the gate", async () => {
    charge(() => void asked("done"));
    const named = ["/TOOLS/forecast-vix", "/tools/forecast-vix/", "/tools/forecast%2Dvix"];
    for (const path of [...named, `/tools/${served.id}`]) {
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
    expect(await codeOf(pay(`${PATH}?finality=final`))).toEqual([402, "PAYMENT_REFUSED"]);
    await payments.approve(1_000_000n);
    expect(orders).toBe(0);
  });

  it("error: what this node could not bond on now is not taken, and costs no gas", async () => {
    const { client } = local;
    const bond =
      20n *
      defenceGas(system.chain.constants, served.depth) *
      gasPriceRange(system.chain.constants, 10n ** 9n).greatest;
    const store = charge(() => {}, { maxBonds: bond });
    const { address } = system.chain.account;
    const other = accountAt(8);
    await payments.give(other.address, PRICE);
    const second = await payments.as(other);
    const path = `${PATH}?finality=final&timeout=1`;
    expect(await codeOf(pay(path))).toEqual([504, "NOT_FINAL_IN_TIME"]);
    // The first one's request is on the chain, and the index does not know it yet.
    const sent = await client.getTransactionCount({ address });
    const call = second.fetch(`${prover.server.url}${path}`, {
      method: "POST",
      body: Buffer.from(fromHex(forecastInput(forecast, 4))),
      headers: { "content-type": OCTETS },
    });
    expect(await codeOf(call)).toEqual([503, "TOO_BUSY"]);
    expect([await client.getTransactionCount({ address }), store.open()]).toEqual([
      sent,
      [expect.anything()],
    ]);
  });

  it("error: a node that claims nothing takes no orders", async () => {
    const store = charge(() => {}, { claims: false });
    const [status, code] = await codeOf(pay(`${PATH}?finality=final&timeout=1`));
    expect([status >= 400, code, store.open()]).toEqual([true, "ORDER_REFUSED", []]);
  });

  it("behavior: a request that a re-org takes away for a moment leaves its order and its payment alone", async () => {
    const store = charge(() => {});
    expect(await codeOf(pay(`${PATH}?finality=final&timeout=1`))).toEqual([504, "NOT_FINAL_IN_TIME"]);
    const [order] = store.open();
    const stateOf = async () =>
      (await new StateReader(system.chain).requestWord(order?.request as RequestId)).state;
    expect(await stateOf()).toBe("OPEN");
    await local.control.request({ method: "anvil_reorg", params: [1, []] } as never);
    await expect.poll(stateOf, { timeout: 20_000, interval: 5 }).toBe("OPEN");
    expect(store.open()).toEqual([order]);
  });

  it("error: without its facilitator nothing final is given", async () => {
    charge(() => void asked("done"), { facilitatorUrl: "http://127.0.0.1:65500" });
    expect(await codeOf(post(`${PATH}?finality=final`, fromHex(calldata), OCTETS))).toEqual([
      503,
      "FACILITATOR_UNREACHABLE",
    ]);
    expect(orders).toBe(0);
  });
});
