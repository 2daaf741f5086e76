/** Orders and payments without a chain and without a facilitator: what both answer is the test's. */
import { SILENT } from "../../base/log.ts";
import { ClaimIndex } from "../../protocol/chain/claim-index.ts";
import { LANE, type ModelId, type RequestId } from "../../protocol/rules/types.ts";
import { openDatabase } from "../../protocol/service/journal/database.ts";
import { ORDERS_SCHEMA, OrderStore } from "../../prover/payment/order-store.ts";
import { type OrderParts, Orders } from "../../prover/payment/orders.ts";
import type { PaymentService, Settlement } from "../../prover/payment/service.ts";
import { temporaryFolder } from "./deploy.ts";

export const model = `0x${"11".repeat(32)}` as ModelId;
export const hashOf = (n: number): `0x${string}` => `0x${n.toString(16).padStart(64, "0")}`;
/** The n-th input with its output. */
export const input = (n: number) => ({ model, inputHash: hashOf(n), outputHash: hashOf(n + 1_000) });
export const request = (n: number) => hashOf(n + 2_000) as RequestId;
export const payment = (payer: string, nonce: number, validUntil = 10_000) => ({
  payer,
  nonce: `${nonce}`,
  validUntil,
  signed: `${payer}/${nonce}`,
});

export const taken = { status: "taken", receipt: "receipt", transaction: "0x1" } as const;
export const refused = { status: "refused", reason: "permit2_insufficient_balance" } as const;
export const unknown = { status: "unknown", reason: "no answer" } as const;
export const later = { status: "later", reason: "connection refused" } as const;

/** What happens while the facilitator is asked; absent: nothing. */
type Answer = Settlement | (() => Settlement);

export type OrderDesk = ReturnType<typeof openOrderDesk>;

/** @param strangers as OrderStore takes it */
export function openOrderDesk(strangers = 3) {
  const folder = temporaryFolder();
  const db = openDatabase(`${folder.path}/orders.sqlite`, [ORDERS_SCHEMA]);
  const store = new OrderStore(db, strangers);
  const index = new ClaimIndex();
  /** seconds */
  const clock = { now: 0 };
  const place = (n: number, payer: string, nonce = n) =>
    store.place(input(n), payment(payer, nonce), request(n), clock.now).order;
  /** The request of an input is done, with its output. */
  const final = (n: number) => {
    index.requests.set(request(n), {
      ...{ id: request(n), status: "done", attempt: 0, delivered: false, changedAt: 1n, input: "0x" },
      request: { modelId: model, inputHash: hashOf(n) } as never,
      block: { number: 1n, hash: hashOf(1) },
      result: { lane: LANE.BOND, outputHash: hashOf(n + 1_000), output: "0x" },
    });
  };
  /** Orders whose facilitator answers this, one after the other. */
  const ordersWith = (...answers: readonly Answer[]) => {
    const asked: string[] = [];
    const left = [...answers];
    const service: Partial<PaymentService> = {
      validSeconds: 600,
      read: async (header) => JSON.parse(header),
      verify: async () => {},
      settle: async ({ signed }) => {
        asked.push(signed);
        const answer = left.shift() ?? { status: "unknown", reason: "no more answers" };
        return typeof answer === "function" ? answer() : answer;
      },
    };
    const parts = { store, node: { index, head: undefined }, service, nowMs: () => 1_000 * clock.now };
    // What the loop uses; a facilitator of the official packages stands in test/prover/payment/paid-calls.test.ts.
    const orders = new Orders({ ...parts, offer: {}, onEnd: () => {}, log: SILENT } as unknown as OrderParts);
    const tick = async () => {
      await orders.tick();
      await orders.settled();
    };
    return { orders, tick, asked };
  };
  return {
    ...{ store, index, clock, place, final, ordersWith },
    /** Another payer of the n-th input. */
    join: (n: number, payer: string, nonce = n) =>
      store.place(input(n), payment(payer, nonce), undefined, clock.now).order,
    /** A payer gets a record. */
    pay: async (n: number, payer: string) => {
      const { id } = place(n, payer);
      final(n);
      await ordersWith(taken).tick();
      if (store.get(id)?.state !== "paid") throw new Error(`order ${id} is not paid`);
    },
    close: () => {
      db.close();
      folder.remove();
    },
  };
}

/** The code of the error that this throws, or "placed". */
export const codeOf = (work: () => unknown): string => {
  try {
    work();
    return "placed";
  } catch (error) {
    return (error as { code: string }).code;
  }
};
