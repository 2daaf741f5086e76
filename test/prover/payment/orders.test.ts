import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SILENT } from "../../../base/log.ts";
import { ClaimIndex } from "../../../protocol/chain/claim-index.ts";
import { LANE, type ModelId, type RequestId } from "../../../protocol/rules/types.ts";
import { openDatabase, type SqliteDatabase } from "../../../protocol/service/journal/database.ts";
import { ORDERS_SCHEMA, OrderStore } from "../../../prover/payment/order-store.ts";
import { type OrderParts, Orders } from "../../../prover/payment/orders.ts";
import { MAX_CREDIT, MAX_ORDERS, RECORD_SECONDS } from "../../../prover/payment/rules.ts";
import type { PaymentService, Settlement } from "../../../prover/payment/service.ts";
import { temporaryFolder } from "../../support/deploy.ts";

const STRANGERS = 3;
const model = `0x${"11".repeat(32)}` as ModelId;
const hashOf = (n: number): `0x${string}` => `0x${n.toString(16).padStart(64, "0")}`;
const input = (n: number) => ({ model, inputHash: hashOf(n), outputHash: hashOf(n + 1_000) });
const request = (n: number) => hashOf(n + 2_000) as RequestId;
const payment = (payer: string, nonce: number, validUntil = 10_000) => ({
  payer,
  nonce: `${nonce}`,
  validUntil,
  signed: `${payer}/${nonce}`,
});

let folder: ReturnType<typeof temporaryFolder>;
let db: SqliteDatabase;
let store: OrderStore;
let index: ClaimIndex;
let now = 0;
beforeEach(() => {
  folder = temporaryFolder();
  db = openDatabase(`${folder.path}/orders.sqlite`, [ORDERS_SCHEMA]);
  store = new OrderStore(db, STRANGERS);
  index = new ClaimIndex();
  now = 0;
});
afterEach(() => {
  db.close();
  folder.remove();
});

/** The request of an input is done, with its output. */
function final(n: number): void {
  index.requests.set(request(n), {
    ...{ id: request(n), status: "done", attempt: 0, delivered: false, changedAt: 1n, input: "0x" },
    request: { modelId: model, inputHash: hashOf(n) } as never,
    block: { number: 1n, hash: hashOf(1) },
    result: { lane: LANE.BOND, outputHash: hashOf(n + 1_000), output: "0x" },
  });
}
const place = (n: number, payer: string, nonce = n) =>
  store.place(input(n), payment(payer, nonce), request(n), now).order;
const codeOf = (work: () => unknown): string => {
  try {
    work();
    return "placed";
  } catch (error) {
    return (error as { code: string }).code;
  }
};
/** Orders whose facilitator answers this, one after the other. */
function ordersWith(...answers: readonly Settlement[]) {
  const asked: string[] = [];
  const left = [...answers];
  const settle: PaymentService["settle"] = async ({ signed }) => {
    asked.push(signed);
    return left.shift() ?? { status: "unknown", reason: "no more answers" };
  };
  const parts = { store, node: { index, head: undefined }, service: { settle }, nowMs: () => 1_000 * now };
  // What the loop uses; a facilitator of the official packages stands in test/prover/payment/paid-calls.test.ts.
  const orders = new Orders({ ...parts, offer: {}, onEnd: () => {}, log: SILENT } as unknown as OrderParts);
  const tick = async () => {
    await orders.tick();
    await orders.settled();
  };
  return { tick, asked };
}
const pay = async (n: number, payer: string) => {
  const { id } = place(n, payer);
  final(n);
  await ordersWith({ status: "taken", receipt: "r", transaction: "0x1" }).tick();
  expect(store.get(id)?.state).toBe("paid");
};

describe("OrderStore", () => {
  it("error: one payment buys one order", () => {
    const { id } = place(1, "a");
    expect(place(1, "a").id).toBe(id);
    expect(codeOf(() => place(2, "a", 1))).toBe("PAYMENT_USED");
    expect(codeOf(() => store.place(input(3), payment("a", 1), undefined, now))).toBe("PAYMENT_USED");
  });

  it("behavior: a payer may have one order at once, and one more for each that he paid, up to a limit", async () => {
    for (let paid = 0; paid < MAX_CREDIT + 2; paid++) {
      const credit = Math.min(MAX_CREDIT, paid + 1);
      const placed = Array.from({ length: credit }, (_, i) => place(10_000 * (paid + 1) + i, "a"));
      expect(codeOf(() => place(10_000 * (paid + 1) + 999, "a"))).toBe("PAYER_BUSY");
      for (const order of placed) store.void(order, now);
      await pay(paid, "a");
    }
  });

  it("behavior: of payers without a record only some orders are at risk, at once and within an hour", async () => {
    await pay(1, "known");
    for (let n = 2; n < 2 + STRANGERS; n++) place(n, `stranger ${n}`);
    expect(codeOf(() => place(50, "one more"))).toBe("TOO_BUSY");
    expect(codeOf(() => place(51, "known"))).toBe("placed");
    for (let n = 2; n < 2 + STRANGERS; n++) final(n);
    const refused = { status: "refused", reason: "balance" } as const;
    await ordersWith(refused, refused, refused).tick();
    expect(store.open()).toHaveLength(1);
    expect(codeOf(() => place(50, "one more"))).toBe("TOO_BUSY");
    now = RECORD_SECONDS + 1;
    expect(codeOf(() => place(50, "one more"))).toBe("placed");
    // Who did not pay is not forgotten.
    expect(codeOf(() => place(52, "stranger 2"))).toBe("PAYMENT_OWED");
  });

  it("error: no more orders at once than the limit, whoever asks", async () => {
    for (let n = 0; n < MAX_ORDERS; n++) await pay(1_000 + n, `payer ${n}`);
    for (let n = 0; n < MAX_ORDERS; n++) place(n, `payer ${n}`);
    await expect(pay(9_000, "payer 0")).rejects.toThrow(expect.objectContaining({ code: "TOO_BUSY" }));
  });

  it("behavior: a void order gives its payments back", () => {
    store.void(place(1, "a"), now);
    expect(codeOf(() => place(2, "a", 1))).toBe("placed");
  });
});

describe("Orders", () => {
  const taken = { status: "taken", receipt: "receipt", transaction: "0x1" } as const;
  const refused = { status: "refused", reason: "permit2_insufficient_balance" } as const;
  const unknown = { status: "unknown", reason: "no answer" } as const;
  const later = { status: "later", reason: "connection refused" } as const;

  it("behavior: nothing is taken before the output is final", async () => {
    place(1, "a");
    const { tick, asked } = ordersWith(taken);
    await tick();
    expect([asked, store.isUnpaid(request(1))]).toEqual([[], true]);
    final(1);
    await tick();
    await tick();
    expect([asked, store.isUnpaid(request(1))]).toEqual([["a/1"], false]);
  });

  it("behavior: the first payer whose payment can be taken pays, the others do not", async () => {
    const { id } = place(1, "a");
    for (const payer of ["b", "c"]) store.place(input(1), payment(payer, 1), undefined, now);
    final(1);
    const { tick, asked } = ordersWith(refused, taken);
    await tick();
    await tick();
    expect([asked, store.get(id)?.state]).toEqual([["a/1", "b/1"], "paid"]);
    expect(codeOf(() => place(2, "c", 1))).toBe("placed");
  });

  it("behavior: an unpaid order is open again when somebody pays for it", async () => {
    const { id } = place(1, "a");
    final(1);
    const { tick } = ordersWith(refused, refused, taken);
    await tick();
    expect([store.get(id)?.state, store.isUnpaid(request(1))]).toEqual(["unpaid", true]);
    // The debtor himself, in vain, and then another.
    store.place(input(1), payment("a", 2), undefined, now);
    await tick();
    expect([store.get(id)?.state, codeOf(() => place(2, "a", 3))]).toEqual(["unpaid", "PAYMENT_OWED"]);
    store.place(input(1), payment("b", 1), undefined, now);
    await tick();
    expect([store.get(id)?.state, codeOf(() => place(2, "a", 3))]).toEqual(["paid", "placed"]);
  });

  it("behavior: what was asked for without an answer is asked for again, and never counts against the payer", async () => {
    const { id } = place(1, "a");
    final(1);
    const { tick, asked } = ordersWith(unknown);
    await tick();
    expect([asked.length, store.get(id)?.state]).toEqual([1, "open"]);
    await tick();
    expect(asked).toHaveLength(1);
    // The process was killed there: another one finds the payment asked for, and taken by now.
    const next = ordersWith(refused);
    await next.tick();
    expect([next.asked, store.get(id)?.state]).toEqual([["a/1"], "paid"]);
  });

  it("behavior: a facilitator that was not reached was not asked; a payment that ended meanwhile is not paid", async () => {
    const { id } = place(1, "a");
    final(1);
    const { tick } = ordersWith(later, later);
    await tick();
    expect([store.payments(id)[0]?.state, store.get(id)?.state]).toEqual(["held", "open"]);
    now = 10_001;
    await tick();
    expect([store.payments(id)[0]?.state, store.get(id)?.state]).toEqual(["refused", "unpaid"]);
  });
});
