/** Payments for signed answers, with a facilitator whose answers are the test's; one of the official packages stands in
 *  test/agent-processes/payment.test.ts. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SILENT } from "../../../base/log.ts";
import type { Digest } from "../../../protocol/rules/promises/signed-claim.ts";
import { openDatabase, type SqliteDatabase } from "../../../protocol/service/journal/database.ts";
import { ORDERS_SCHEMA, OrderStore } from "../../../prover/payment/order-store.ts";
import type { PaymentService, Settlement } from "../../../prover/payment/service.ts";
import { SignedSaleStore } from "../../../prover/payment/signed-sale-store.ts";
import { SignedSales } from "../../../prover/payment/signed-sales.ts";
import { temporaryFolder } from "../../support/deploy.ts";
import {
  codeOf,
  hashOf,
  input,
  later,
  model,
  payment,
  refused,
  request,
  taken,
  unknown,
} from "../../support/orders.ts";

const doubtful = { status: "doubtful", reason: "simulation_failed" } as const;
/** The service of these tests reads no orders. */
const ANY = {} as never;
const order = (n: number) => ({ model, inputHash: hashOf(n) });

let folder: ReturnType<typeof temporaryFolder>;
let db: SqliteDatabase;
/** seconds */
let now: number;
beforeEach(() => {
  folder = temporaryFolder();
  db = openDatabase(`${folder.path}/orders.sqlite`, [ORDERS_SCHEMA]);
  now = 1_000;
});
afterEach(() => {
  db.close();
  folder.remove();
});

/** As a process that starts on the database. @param answers of the facilitator, one after the other */
function open(...answers: Settlement[]) {
  const settled: [signed: string, extensions: unknown][] = [];
  const service: PaymentService = {
    validSeconds: 600,
    terms: async () => "terms",
    whose: (header) => JSON.parse(header),
    read: async (header) => {
      const read = JSON.parse(header);
      if (read.terms !== undefined)
        throw Object.assign(new Error("other terms"), { code: "PAYMENT_REFUSED" });
      return read;
    },
    isSame: (header, payment) => JSON.parse(header).signed === payment.signed,
    verify: async () => {},
    settle: async ({ signed }, extensions) => {
      settled.push([signed, extensions]);
      return answers.shift() ?? unknown;
    },
    transferIn: () => ({ network: "eip155:1", transaction: "0x" }),
  };
  const store = new SignedSaleStore(db);
  const sales = new SignedSales({ store, service, offer: {}, nowMs: () => 1_000 * now, log: SILENT });
  const signed: Digest[] = [];
  const make = async () => {
    const digest = hashOf(9_000 + signed.length) as Digest;
    signed.push(digest);
    return { digest };
  };
  const sell = (n: number, payer = "a", nonce = 1, validUntil = now + 600) =>
    sales.sell(order(n), payment(payer, nonce, validUntil), again, make);
  return { sales, store, sell, settled, signed };
}
/** The journal has it. */
const again = (digest: Digest) => ({ digest });
const forgotten = () => undefined;
const codeIn = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "sold",
    ({ code }: { code: string }) => code,
  );

describe("SignedSales", () => {
  it("default: the price is taken for what was signed, once, and the same payment gives the same answer", async () => {
    const { sell, settled, signed } = open(taken);
    const sold = await sell(1);
    expect(sold).toEqual({ answer: { digest: signed[0] }, receipt: "receipt" });
    const [digest] = signed;
    const info = { url: `/v1/signed-claims/${digest}`, digest };
    expect(settled).toEqual([["a/1", { "assay-signed-claim": { info } }]]);
    expect(await sell(1)).toEqual(sold);
    // Another process on the same folder knows it, too.
    const restarted = open();
    expect(await restarted.sell(1)).toEqual(sold);
    expect([settled.length, restarted.settled, restarted.signed]).toEqual([1, [], []]);
  });

  it("behavior: sent twice at once, one answer is signed and one price taken", async () => {
    const { sell, settled, signed } = open(taken);
    const [one, two] = await Promise.all([sell(1), sell(1)]);
    expect([one, settled.length, signed.length]).toEqual([two, 1, 1]);
  });

  it("behavior: an answer of the facilitator that never came is asked for again, and never against the payer", async () => {
    const { sell } = open(unknown, later);
    expect(await codeIn(sell(1))).toBe("PAYMENT_UNKNOWN");
    // Ended before the answer came, and the facilitator is away.
    const second = open(later, refused);
    expect(await codeIn(second.sell(1))).toBe("PAYMENT_UNKNOWN");
    const sold = await second.sell(1);
    expect(sold.receipt).toBeNull();
    expect(second.signed).toEqual([]);
    expect(await second.sell(1)).toEqual(sold);
  });

  it("behavior: what was asked for stays as it was, whatever the terms are now", async () => {
    const { sell } = open(unknown);
    expect(await codeIn(sell(1))).toBe("PAYMENT_UNKNOWN");
    const { sales, settled, signed } = open(taken);
    const sent = { ...payment("a", 1), terms: "of another price" };
    const held = await sales.read(JSON.stringify(sent), ANY);
    const sold = await sales.sell(order(1), held, again, async () => ({ digest: hashOf(5) as Digest }));
    expect([sold.receipt, settled.map(([paid]) => paid), signed]).toEqual(["receipt", ["a/1"], []]);
    // Nobody was asked to take it: it has to be what it says, by the terms of now.
    const other = JSON.stringify({ ...sent, ...payment("a", 2) });
    expect(await codeIn(sales.read(other, ANY))).toBe("PAYMENT_REFUSED");
  });

  it("error: who knows a payment's payer and nonce, as the token's chain shows them, is not given its answer", async () => {
    const { sales, sell } = open(taken);
    await sell(1);
    const forged = JSON.stringify({ ...payment("a", 1), signed: "nobody's", terms: "no longer" });
    expect(await codeIn(sales.read(forged, ANY))).toBe("PAYMENT_REFUSED");
  });

  it.each([
    ["refused", refused, "PAYMENT_REFUSED"],
    ["found impossible without a reason", doubtful, "PAYMENT_REFUSED"],
    ["not asked for", later, "FACILITATOR_UNREACHABLE"],
  ] as const)(
    "behavior: a payment that was %s buys nothing, and may be given again",
    async (_, end, code) => {
      const { sell, signed } = open(end, taken);
      expect(await codeIn(sell(1))).toBe(code);
      expect(await sell(1)).toEqual({ answer: { digest: signed[0] }, receipt: "receipt" });
      expect(signed).toHaveLength(1);
    },
  );

  it("behavior: where nothing was signed, the payment is free", async () => {
    const { sales, sell } = open(taken);
    const paused = () => Promise.reject(Object.assign(new Error("paused"), { code: "SIGNING_PAUSED" }));
    expect(await codeIn(sales.sell(order(1), payment("a", 1), again, paused))).toBe("SIGNING_PAUSED");
    expect(await codeIn(sell(2))).toBe("sold");
  });

  it("behavior: a claim that a journal has lost is signed anew within its day, and not paid again", async () => {
    const { sell } = open(taken);
    await sell(1);
    now += 86_400;
    const { sales, store, settled } = open();
    const digest = hashOf(77) as Digest;
    const sold = await sales.sell(order(1), payment("a", 1), forgotten, async () => ({ digest }));
    expect([sold.answer, sold.receipt, settled]).toEqual([{ digest }, "receipt", []]);
    expect(store.get(payment("a", 1))?.digest).toBe(digest);
  });

  it.each([
    ["taken", taken],
    ["asked for, without an answer,", unknown],
  ] as const)(
    "error: a payment that was %s buys no other claim after the day of the one that it bought",
    async (_, end) => {
      const { sell } = open(end);
      await sell(1, "a", 1, now + 2 * 86_400).catch(() => undefined);
      now += 86_401;
      const { sales, signed, settled } = open(refused);
      const make = async () => ({ digest: hashOf(signed.push(hashOf(78) as Digest)) as Digest });
      const error = await sales.sell(order(1), payment("a", 1), forgotten, make).catch((thrown) => thrown);
      expect(error).toMatchObject({
        code: "PAYMENT_USED",
        details: { placedAt: 1_000, limitSeconds: 86_400 },
      });
      expect([signed, settled]).toEqual([[], []]);
    },
  );

  it("error: a payment that outlives what is known of it buys nothing, now or once that is forgotten", async () => {
    const { sales, sell, store, signed, settled } = open(taken);
    const years = now + 5 * 365 * 86_400;
    for (const validUntil of [now + 3 * 86_400 + 1, years, Number.MAX_SAFE_INTEGER]) {
      const read = await sales.read(JSON.stringify(payment("a", 1, validUntil)), ANY);
      const error = await sales
        .sell(order(1), read, again, async () => ({ digest: hashOf(1) as Digest }))
        .catch((thrown) => thrown);
      expect(error).toMatchObject({ code: "PAYMENT_REFUSED", details: { limitSeconds: 3 * 86_400 } });
      expect(error.message).toMatch(/valid for \d+ s more, it may be for 259200 s/);
    }
    expect([signed, settled, store.get(payment("a", 1))]).toEqual([[], [], undefined]);
    expect(await codeIn(sell(1, "a", 1, now + 3 * 86_400))).toBe("sold");
  });

  it("error: nobody buys for years with one payment: each that lives is known, and what is not known has ended", async () => {
    const { store, sales, sell } = open(taken);
    const end = now + 3 * 86_400;
    await sell(1, "a", 1, end);
    for (; now <= end; now += 6 * 3_600) {
      const { signed } = open();
      await sales
        .sell(order(1), payment("a", 1, end), forgotten, async () => ({
          digest: hashOf(signed.push(hashOf(1) as Digest)) as Digest,
        }))
        .catch(() => undefined);
      if (now > 1_000 + 86_400) expect(signed).toEqual([]);
      // Another's sale is what drops rows.
      store.place(order(2), payment("b", now, now), now);
      expect(store.get(payment("a", 1))?.state).toBe("taken");
    }
  });

  it("error: one payment for two inputs, or for a signed and a final output", async () => {
    const orders = new OrderStore(db, 3);
    const { sell } = open(taken, taken);
    await sell(1);
    expect(await codeIn(sell(2))).toBe("PAYMENT_USED");
    const final = (nonce: number) =>
      codeOf(() => orders.place(input(3), payment("a", nonce), request(3), now));
    expect([final(1), final(2)]).toEqual(["PAYMENT_USED", "placed"]);
    expect(await codeIn(sell(3, "a", 2))).toBe("PAYMENT_USED");
  });

  it("behavior: sales are kept as long as their answers are, and not longer", async () => {
    const { sell, store } = open(taken, taken, taken);
    await sell(1);
    now += 3 * 86_400;
    await sell(2, "a", 2);
    expect(store.get(payment("a", 1))).toBeDefined();
    now += 1;
    await sell(3, "a", 3);
    expect(store.get(payment("a", 1))).toBeUndefined();
  });

  it("error: a payment buys no other claim once the one that it bought is forgotten", async () => {
    const { sales, sell } = open(taken, refused);
    await sell(1);
    now += 3 * 86_400 + 1;
    const anew = async () => ({ digest: hashOf(78) as Digest });
    expect(await codeIn(sales.sell(order(1), payment("a", 1, 1_100), forgotten, anew))).toBe(
      "PAYMENT_REFUSED",
    );
  });
});
