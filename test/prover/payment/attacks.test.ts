/** Attacks on orders by payers who know their rules. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MAX_PAYERS, RECORD_SECONDS } from "../../../prover/payment/rules.ts";
import {
  codeOf,
  input,
  later,
  type OrderDesk,
  openOrderDesk,
  payment,
  refused,
  taken,
  unknown,
} from "../../support/orders.ts";

const STRANGERS = 3;
const doubtful = { status: "doubtful", reason: "permit2_simulation_failed" } as const;

let desk: OrderDesk;
let store: OrderDesk["store"];
beforeEach(() => {
  desk = openOrderDesk(STRANGERS);
  store = desk.store;
});
afterEach(() => desk.close());
const stateOf = (id: number) => store.get(id)?.state;

describe("payers who change their payments while one is asked for", () => {
  it("error: a payment that was replaced meanwhile, and given for another order, is not taken for the first", async () => {
    await desk.pay(90, "b");
    const first = desk.place(1, "a").id;
    desk.join(1, "b", 1);
    desk.final(1);
    let second = 0;
    const { tick, asked } = desk.ordersWith(() => {
      // While a's payment fails, b gives a new one and orders something else with the old one.
      desk.join(1, "b", 2);
      second = desk.place(2, "b", 1).id;
      return refused;
    }, taken);
    await tick();
    await tick();
    expect([asked, stateOf(first)]).toEqual([["a/1", "b/2"], "paid"]);
    expect(store.payments(second).map(({ nonce, state }) => [nonce, state])).toEqual([["1", "held"]]);
    desk.final(2);
    await desk.ordersWith(taken).tick();
    expect(stateOf(second)).toBe("paid");
  });

  it("behavior: who joins while the last payment fails is asked too, and owes nothing", async () => {
    const { id } = desk.place(1, "a");
    desk.final(1);
    const { tick, asked } = desk.ordersWith(() => {
      desk.join(1, "b", 1);
      return refused;
    }, taken);
    await tick();
    expect(stateOf(id)).toBe("open");
    await tick();
    expect([asked, stateOf(id)]).toEqual([["a/1", "b/1"], "paid"]);
  });
});

describe("payers whose payments can be taken neither now nor never", () => {
  it("behavior: they do not keep the others of an order from paying", async () => {
    const { id } = desk.place(1, "a");
    desk.join(1, "b", 1);
    desk.final(1);
    const { tick, asked } = desk.ordersWith(later, taken);
    await tick();
    expect([asked, stateOf(id)]).toEqual([["a/1", "b/1"], "paid"]);
  });

  it("behavior: a payment is asked for as long as one has to be valid, whatever end it names", async () => {
    const { orders, tick } = desk.ordersWith(later, later);
    const forEver = payment("a", 1, Number.MAX_SAFE_INTEGER);
    const { id } = store.place(
      input(1),
      await orders.read(JSON.stringify(forEver), {} as never),
      undefined,
      desk.clock.now,
    ).order;
    desk.final(1);
    await tick();
    expect(stateOf(id)).toBe("open");
    desk.clock.now = 601;
    await tick();
    expect(stateOf(id)).toBe("unpaid");
  });

  it("behavior: a fault of the facilitator's node is not held against the payer", async () => {
    const { id } = desk.place(1, "a");
    desk.final(1);
    const { tick } = desk.ordersWith(doubtful, taken);
    await tick();
    expect([stateOf(id), store.payments(id)[0]?.state]).toEqual(["open", "held"]);
    desk.clock.now = 6;
    await tick();
    expect(stateOf(id)).toBe("paid");
  });

  it("behavior: a transfer that is impossible for half a minute is", async () => {
    const { id } = desk.place(1, "a");
    desk.final(1);
    const { tick } = desk.ordersWith(doubtful, doubtful, doubtful);
    for (const now of [0, 29]) {
      desk.clock.now = now;
      await tick();
      expect(stateOf(id)).toBe("open");
    }
    desk.clock.now = 30;
    await tick();
    expect(stateOf(id)).toBe("open");
    desk.clock.now = 35;
    await tick();
    expect(stateOf(id)).toBe("unpaid");
  });

  it("behavior: without an answer in a payment's last second it counts as taken", async () => {
    const { id } = desk.place(1, "a");
    desk.final(1);
    desk.clock.now = 9_990;
    const { tick } = desk.ordersWith(() => {
      desk.clock.now = 10_020;
      return unknown;
    });
    await tick();
    expect([stateOf(id), codeOf(() => desk.place(2, "a"))]).toEqual(["paid", "placed"]);
  });

  it("error: what only counts as taken gives no record", async () => {
    const orderAndDrain = async (n: number) => {
      desk.place(n, `new ${n}`);
      desk.final(n);
      await desk.ordersWith(unknown).tick();
      await desk.ordersWith(refused).tick();
      expect(stateOf(store.payments(n)[0] === undefined ? 0 : n)).toBe("paid");
    };
    for (let n = 1; n <= STRANGERS; n++) await orderAndDrain(n);
    expect(codeOf(() => desk.place(50, "one more"))).toBe("TOO_BUSY");
    desk.clock.now = RECORD_SECONDS + 1;
    desk.place(51, "new 1");
    expect(codeOf(() => desk.place(52, "new 1"))).toBe("PAYER_BUSY");
  });
});

describe("what attackers leave in the database", () => {
  it("error: an order has no more payers at once than the limit", async () => {
    const { id } = desk.place(1, "payer 0");
    for (let n = 1; n < MAX_PAYERS; n++) desk.join(1, `payer ${n}`);
    expect(codeOf(() => desk.join(1, "one more"))).toBe("TOO_BUSY");
    // Whoever is among them may replace his payment.
    expect(codeOf(() => desk.join(1, "payer 3", 2))).toBe("placed");
    desk.final(1);
    await desk.ordersWith(...Array.from({ length: MAX_PAYERS }, () => refused)).tick();
    expect(stateOf(id)).toBe("unpaid");
    expect(codeOf(() => desk.join(1, "one more"))).toBe("placed");
  });

  it("behavior: of a refused payment nothing is kept but who owes", async () => {
    const { id } = desk.place(1, "a");
    desk.final(1);
    await desk.ordersWith(refused).tick();
    expect(store.payments(id)).toMatchObject([{ payer: "a", state: "refused", signed: "" }]);
  });

  it("behavior: orders that were void are forgotten", () => {
    const { id } = desk.place(1, "a");
    store.void({ ...input(1), id, state: "open", request: undefined, placedAt: 0 }, 0);
    expect(stateOf(id)).toBe("void");
    desk.clock.now = RECORD_SECONDS + 1;
    desk.place(2, "a");
    desk.place(3, "b");
    expect(store.open()).toHaveLength(2);
    expect(stateOf(id)).toBe(undefined);
  });
});
