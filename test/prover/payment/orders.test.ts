import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MAX_CREDIT, MAX_ORDERS, RECORD_SECONDS } from "../../../prover/payment/rules.ts";
import {
  codeOf,
  input,
  later,
  type OrderDesk,
  openOrderDesk,
  payment,
  refused,
  request,
  taken,
  unknown,
} from "../../support/orders.ts";

const STRANGERS = 3;

let desk: OrderDesk;
let store: OrderDesk["store"];
let place: OrderDesk["place"];
let final: OrderDesk["final"];
let pay: OrderDesk["pay"];
let ordersWith: OrderDesk["ordersWith"];
beforeEach(() => {
  desk = openOrderDesk(STRANGERS);
  ({ store, place, final, pay, ordersWith } = desk);
});
afterEach(() => desk.close());

describe("OrderStore", () => {
  it("error: one payment buys one order", () => {
    const { id } = place(1, "a");
    expect(place(1, "a").id).toBe(id);
    expect(codeOf(() => place(2, "a", 1))).toBe("PAYMENT_USED");
    expect(codeOf(() => store.place(input(3), payment("a", 1), undefined, 0))).toBe("PAYMENT_USED");
  });

  it("behavior: a payer may have one order at once, and one more for each that he paid, up to a limit", async () => {
    for (let paid = 0; paid < MAX_CREDIT + 2; paid++) {
      const credit = Math.min(MAX_CREDIT, paid + 1);
      const placed = Array.from({ length: credit }, (_, i) => place(10_000 * (paid + 1) + i, "a"));
      expect(codeOf(() => place(10_000 * (paid + 1) + 999, "a"))).toBe("PAYER_BUSY");
      for (const order of placed) store.void(order, 0);
      await pay(paid, "a");
    }
  });

  it("behavior: of payers without a record only some orders are at risk, at once and within an hour", async () => {
    await pay(1, "known");
    for (let n = 2; n < 2 + STRANGERS; n++) place(n, `stranger ${n}`);
    expect(codeOf(() => place(50, "one more"))).toBe("TOO_BUSY");
    expect(codeOf(() => place(51, "known"))).toBe("placed");
    for (let n = 2; n < 2 + STRANGERS; n++) final(n);
    await ordersWith(refused, refused, refused).tick();
    expect(store.open()).toHaveLength(1);
    expect(codeOf(() => place(50, "one more"))).toBe("TOO_BUSY");
    desk.clock.now = RECORD_SECONDS + 1;
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
    store.void(place(1, "a"), 0);
    expect(codeOf(() => place(2, "a", 1))).toBe("placed");
  });
});

describe("Orders", () => {
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
    for (const payer of ["b", "c"]) desk.join(1, payer, 1);
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
    desk.join(1, "a", 2);
    await tick();
    expect([store.get(id)?.state, codeOf(() => place(2, "a", 3))]).toEqual(["unpaid", "PAYMENT_OWED"]);
    desk.join(1, "b", 1);
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
    desk.clock.now = 10_001;
    await tick();
    expect([store.payments(id)[0]?.state, store.get(id)?.state]).toEqual(["refused", "unpaid"]);
  });
});
