/** Orders and their payments in SQLite: written before an order costs gas, so that no restart forgets who pays. */
import { fileURLToPath } from "node:url";
import type { Hex } from "viem";
import { BaseError } from "../../base/errors.ts";
import type { ModelId, RequestId } from "../../protocol/rules/types.ts";
import type { SchemaPart, SqliteDatabase } from "../../protocol/service/journal/database.ts";
import { busy, type Exposure, MAX_PAYERS, type PayerRecord, RECORD_SECONDS, refusalOf } from "./rules.ts";
import type { SignedPayment } from "./service.ts";

/** The tables of orders. */
export const ORDERS_SCHEMA: SchemaPart = {
  name: "orders",
  folder: fileURLToPath(new URL("store", import.meta.url)),
};

export type OrderState = "open" | "paid" | "unpaid" | "void";

/** What is ordered: one input of one model. */
export interface OrderedOutput {
  readonly model: ModelId;
  readonly inputHash: Hex;
  /** computed by this node, to become final */
  readonly outputHash: Hex;
}

export interface Order extends OrderedOutput {
  readonly id: number;
  readonly state: OrderState;
  /** filed by this node; absent: the chain had been asked already */
  readonly request: RequestId | undefined;
  /** seconds */
  readonly placedAt: number;
}

export interface HeldPayment extends SignedPayment {
  readonly state: "held" | "asked" | "taken" | "refused";
  readonly reason: string | null;
  readonly receipt: string | null;
}

interface OrderRow {
  id: number;
  model: ModelId;
  input_hash: Hex;
  output_hash: Hex;
  request: RequestId | null;
  placed_at: number;
  state: OrderState;
}

const PAYMENT = "payer, nonce, valid_until AS validUntil, signed, state, reason, receipt";
/** A payment with a receipt: one without only counts as taken. */
const PAID = "state = 'taken' AND receipt IS NOT NULL";
/** An order of a payer who has never paid: none of its payers has. */
const OF_STRANGERS = `NOT EXISTS (SELECT 1 FROM payments WHERE ${PAID}
  AND payer IN (SELECT payer FROM payments WHERE order_id = orders.id))`;

export class OrderStore {
  readonly #db: SqliteDatabase;
  readonly #maxStrangers: number;

  /** @param db opened with ORDERS_SCHEMA @param maxStrangers as `refusalOf` takes it */
  constructor(db: SqliteDatabase, maxStrangers: number) {
    this.#db = db;
    this.#maxStrangers = maxStrangers;
  }

  get(id: number): Order | undefined {
    const row = this.#db.prepare<[number], OrderRow>("SELECT * FROM orders WHERE id = ?").get(id);
    return row && toOrder(row);
  }

  /** The order of an input that is not paid for and not void. */
  current(model: ModelId, inputHash: Hex): Order | undefined {
    const row = this.#db
      .prepare<[string, string], OrderRow>(
        "SELECT * FROM orders WHERE model = ? AND input_hash = ? AND state IN ('open', 'unpaid')",
      )
      .get(model, inputHash);
    return row && toOrder(row);
  }

  /** The newest order of an input that was paid for. */
  paid(model: ModelId, inputHash: Hex): Order | undefined {
    const row = this.#db
      .prepare<[string, string], OrderRow>(
        "SELECT * FROM orders WHERE model = ? AND input_hash = ? AND state = 'paid' ORDER BY id DESC LIMIT 1",
      )
      .get(model, inputHash);
    return row && toOrder(row);
  }

  open(): Order[] {
    return this.#db
      .prepare<[], OrderRow>("SELECT * FROM orders WHERE state = 'open' ORDER BY id")
      .all()
      .map(toOrder);
  }

  /** Whether this request was filed for an order that is not paid. */
  isUnpaid(request: RequestId): boolean {
    return (
      this.#db
        .prepare("SELECT 1 FROM orders WHERE request = ? AND state IN ('open', 'unpaid')")
        .get(request) !== undefined
    );
  }

  /** What the payer of a request's output was told, if it was paid for and that is known. */
  receiptOf(request: RequestId): string | undefined {
    return this.#db
      .prepare<[string], { receipt: string }>(
        `SELECT receipt FROM payments JOIN orders ON order_id = orders.id WHERE request = ? AND payments.${PAID}`,
      )
      .get(request)?.receipt;
  }

  payments(order: number): HeldPayment[] {
    return this.#db
      .prepare<[number], HeldPayment>(`SELECT ${PAYMENT} FROM payments WHERE order_id = ? ORDER BY rowid`)
      .all(order);
  }

  /** Which order a payment was given for. */
  orderOf({ payer, nonce }: Pick<SignedPayment, "payer" | "nonce">): Order | undefined {
    const row = this.#db
      .prepare<[string, string], OrderRow>(
        "SELECT orders.* FROM orders JOIN payments ON order_id = orders.id WHERE payer = ? AND nonce = ?",
      )
      .get(payer, nonce);
    return row && toOrder(row);
  }

  /** Binds a payment to the order of an input, which is made if there is none. All checks and the writing are one step,
   *  however many ask at once.
   *  @param request that this node would file for a new order; absent: none
   *  @param now seconds
   *  @returns the order, and whether it is new
   *  @throws BaseError PAYMENT_USED, and as refusalOf */
  place(
    output: OrderedOutput,
    payment: SignedPayment,
    request: RequestId | undefined,
    now: number,
  ): { readonly order: Order; readonly isNew: boolean } {
    const write = this.#db.transaction(() => {
      if (this.#hasBoughtSigned(payment)) throw paymentUsed();
      const bound = this.orderOf(payment);
      const current = this.current(output.model, output.inputHash);
      if (bound !== undefined) {
        if (bound.id === current?.id) return { order: bound, isNew: false };
        throw paymentUsed();
      }
      // Who owes for this very output may pay for it.
      const isOwn =
        current !== undefined && this.payments(current.id).some(({ payer }) => payer === payment.payer);
      if (!isOwn) this.#admit(payment.payer, now);
      if (!isOwn && current !== undefined) this.#requireRoom(current);
      const order = current ?? this.#insert(output, request, now);
      this.#bind(order, payment);
      return { order: this.get(order.id) as Order, isNew: current === undefined };
    });
    return write.immediate();
  }

  /** Written before the facilitator is asked: its answer may never come.
   *  @returns the payment as it was; undefined if it is no longer this order's to take */
  ask(order: number, { payer, nonce }: SignedPayment): HeldPayment | undefined {
    const write = this.#db.transaction(() => {
      const payment = this.payments(order).find((own) => own.payer === payer && own.nonce === nonce);
      if (payment?.state !== "held" && payment?.state !== "asked") return undefined;
      this.#db.prepare("UPDATE payments SET state = 'asked' WHERE payer = ? AND nonce = ?").run(payer, nonce);
      return payment;
    });
    return write.immediate();
  }

  /** The facilitator was not asked after all. */
  held({ payer, nonce }: SignedPayment): void {
    this.#db.prepare("UPDATE payments SET state = 'held' WHERE payer = ? AND nonce = ?").run(payer, nonce);
  }

  /** @param order with the request by which its output is final, also if somebody else filed it
   *  @param reason why it is not known for certain */
  taken(
    order: Order,
    { payer, nonce }: SignedPayment,
    receipt: string | null,
    now: number,
    reason: string | null = null,
  ): void {
    const write = this.#db.transaction(() => {
      this.#db
        .prepare(
          "UPDATE payments SET state = 'taken', signed = '', receipt = ?, reason = ? WHERE payer = ? AND nonce = ?",
        )
        .run(receipt, reason, payer, nonce);
      this.#db.prepare("DELETE FROM payments WHERE order_id = ? AND state = 'held'").run(order.id);
      // Of two orders by the same request, one is enough.
      this.#db
        .prepare("UPDATE OR IGNORE orders SET request = ? WHERE id = ?")
        .run(order.request ?? null, order.id);
      this.#end(order, "paid", now);
    });
    write.immediate();
  }

  refused({ payer, nonce }: SignedPayment, reason: string): void {
    this.#db
      .prepare("UPDATE payments SET state = 'refused', signed = '', reason = ? WHERE payer = ? AND nonce = ?")
      .run(reason, payer, nonce);
  }

  unpaid(order: Order, now: number): void {
    this.#end(order, "unpaid", now);
  }

  /** It cannot become final: its payments are free again. */
  void(order: Order, now: number): void {
    const write = this.#db.transaction(() => {
      this.#db.prepare("DELETE FROM payments WHERE order_id = ?").run(order.id);
      this.#end(order, "void", now);
    });
    write.immediate();
  }

  #end({ id }: Order, state: OrderState, now: number): void {
    this.#db
      .prepare("UPDATE orders SET state = ?, ended_at = ? WHERE id = ?")
      .run(state, Math.floor(now), id);
  }

  #hasBoughtSigned({ payer, nonce }: SignedPayment): boolean {
    const found = this.#db
      .prepare("SELECT 1 FROM signed_sales WHERE payer = ? AND nonce = ?")
      .get(payer, nonce);
    return found !== undefined;
  }

  /** @throws BaseError as refusalOf */
  #admit(payer: string, now: number): void {
    const refusal = refusalOf(this.#record(payer), this.#exposure(now), this.#maxStrangers);
    if (refusal !== undefined) throw refusal;
  }

  /** @throws BaseError TOO_BUSY */
  #requireRoom({ id }: Order): void {
    const held = this.payments(id).filter(({ state }) => state !== "refused").length;
    if (held >= MAX_PAYERS) throw busy(`${MAX_PAYERS} payers have signed for this output already`);
  }

  #record(payer: string): PayerRecord {
    const row = this.#db
      .prepare<[string], PayerRecord>(
        `SELECT count(*) FILTER (WHERE orders.state = 'open') AS open,
           count(*) FILTER (WHERE orders.state = 'unpaid') AS owed,
           count(*) FILTER (WHERE payments.${PAID}) AS paid
         FROM payments JOIN orders ON order_id = orders.id WHERE payer = ?`,
      )
      .get(payer);
    return row ?? { open: 0, owed: 0, paid: 0 };
  }

  #exposure(now: number): Exposure {
    const row = this.#db
      .prepare<[number], Exposure>(
        `SELECT count(*) FILTER (WHERE state = 'open') AS open, count(*) FILTER (WHERE ${OF_STRANGERS}) AS strangers
         FROM orders WHERE state = 'open' OR (state IN ('unpaid', 'paid') AND ended_at > ?)`,
      )
      .get(Math.floor(now) - RECORD_SECONDS);
    return row ?? { open: 0, strangers: 0 };
  }

  #insert(
    { model, inputHash, outputHash }: OrderedOutput,
    request: RequestId | undefined,
    now: number,
  ): { id: number } {
    const { lastInsertRowid } = this.#db
      .prepare(
        "INSERT INTO orders (model, input_hash, output_hash, request, placed_at) VALUES (?, ?, ?, ?, ?)",
      )
      .run(model, inputHash, outputHash, request ?? null, Math.floor(now));
    // Nobody waits for one of those any more. The new one is in, so none of their numbers comes again.
    this.#db
      .prepare("DELETE FROM orders WHERE state = 'void' AND ended_at <= ?")
      .run(Math.floor(now) - RECORD_SECONDS);
    return { id: Number(lastInsertRowid) };
  }

  /** One payment of a payer is held for an order, the newest; an order that was not paid for is open again. */
  #bind({ id }: { readonly id: number }, { payer, nonce, signed, validUntil }: SignedPayment): void {
    this.#db
      .prepare("DELETE FROM payments WHERE order_id = ? AND payer = ? AND state IN ('held', 'refused')")
      .run(id, payer);
    this.#db
      .prepare("INSERT INTO payments (payer, nonce, order_id, signed, valid_until) VALUES (?, ?, ?, ?, ?)")
      .run(payer, nonce, id, signed, validUntil);
    this.#db
      .prepare("UPDATE orders SET state = 'open', ended_at = NULL WHERE id = ? AND state = 'unpaid'")
      .run(id);
  }
}

const toOrder = ({ id, model, input_hash, output_hash, request, placed_at, state }: OrderRow): Order => ({
  ...{ id, model, state },
  inputHash: input_hash,
  outputHash: output_hash,
  request: request ?? undefined,
  placedAt: placed_at,
});

export const paymentUsed = (): BaseError =>
  new BaseError({
    code: "PAYMENT_USED",
    shortMessage: "This payment was given for another order.",
    nextStep: "Sign one for each input; the same payment may be sent again for the same input.",
  });
