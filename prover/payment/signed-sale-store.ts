/** Payments for signed answers in SQLite: what a payment bought is written before its price is taken. */
import type { Hex } from "viem";
import { BaseError } from "../../base/errors.ts";
import type { Digest } from "../../protocol/rules/promises/signed-claim.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import type { SqliteDatabase } from "../../protocol/service/journal/database.ts";
import { paymentUsed } from "./order-store.ts";
import type { SignedPayment } from "./service.ts";

/** What is bought: an answer to one input of one model. */
export interface SignedOrder {
  readonly model: ModelId;
  readonly inputHash: Hex;
}

export interface SignedSale extends SignedOrder {
  readonly digest: Digest | null;
  /** seconds */
  readonly placedAt: number;
  readonly state: "held" | "asked" | "taken";
  readonly receipt: string | null;
}

type Named = Pick<SignedPayment, "payer" | "nonce">;

/** As long as the journal has the answer, seconds: a day that it lives, and two that it is kept. No payment outlives it,
 *  so that what it bought is known here for as long as it could buy. */
const KEPT_SECONDS = 3 * 86_400;
const OF = "WHERE payer = ? AND nonce = ?";

export class SignedSaleStore {
  readonly #db: SqliteDatabase;

  /** @param db opened with ORDERS_SCHEMA */
  constructor(db: SqliteDatabase) {
    this.#db = db;
  }

  get({ payer, nonce }: Named): SignedSale | undefined {
    return this.#db
      .prepare<[string, string], SignedSale>(
        `SELECT model, input_hash AS inputHash, digest, placed_at AS placedAt, state, receipt FROM signed_sales ${OF}`,
      )
      .get(payer, nonce);
  }

  /** A payment that the facilitator was told to take, as it was told; undefined: it was not. */
  asked({ payer, nonce }: Named): SignedPayment | undefined {
    return this.#db
      .prepare<[string, string], SignedPayment>(
        `SELECT payer, nonce, valid_until AS validUntil, signed FROM signed_sales ${OF} AND state != 'held'`,
      )
      .get(payer, nonce);
  }

  /** Binds a payment to an input. @param now seconds
   *  @throws BaseError PAYMENT_USED; PAYMENT_REFUSED for one that outlives what is known of it */
  place({ model, inputHash }: SignedOrder, payment: SignedPayment, now: number): SignedSale {
    const { payer, nonce, validUntil } = payment;
    if (validUntil - now > KEPT_SECONDS) throw outlives(validUntil - now);
    const placedAt = Math.floor(now);
    const write = this.#db.transaction(() => {
      // First: what it bought that is kept no more, it does not buy again.
      this.#db
        .prepare("DELETE FROM signed_sales WHERE placed_at < ? AND valid_until < ?")
        .run(placedAt - KEPT_SECONDS, placedAt);
      const found = this.get(payment);
      if (found !== undefined) {
        if (found.model === model && found.inputHash === inputHash) return found;
        throw paymentUsed();
      }
      if (this.#db.prepare(`SELECT 1 FROM payments ${OF}`).get(payer, nonce) !== undefined)
        throw paymentUsed();
      this.#db
        .prepare(
          "INSERT INTO signed_sales (payer, nonce, model, input_hash, placed_at, valid_until) VALUES (?, ?, ?, ?, ?, ?)",
        )
        .run(payer, nonce, model, inputHash, placedAt, Math.floor(validUntil));
      return { model, inputHash, digest: null, placedAt, state: "held", receipt: null } as const;
    });
    return write.immediate();
  }

  /** Before the facilitator is asked: what the payment buys. */
  ask({ payer, nonce, signed }: SignedPayment, digest: Digest): void {
    this.#db
      .prepare(`UPDATE signed_sales SET digest = ?, signed = ?, state = 'asked' ${OF} AND state != 'taken'`)
      .run(digest, signed, payer, nonce);
  }

  /** The signed claim in the place of one that the journal has no more. */
  replace({ payer, nonce }: Named, digest: Digest): void {
    this.#db.prepare(`UPDATE signed_sales SET digest = ? ${OF}`).run(digest, payer, nonce);
  }

  /** The facilitator was not asked after all, or could not take it: it may be given again, for the same answer. */
  hold({ payer, nonce }: Named): void {
    this.#db.prepare(`UPDATE signed_sales SET state = 'held' ${OF}`).run(payer, nonce);
  }

  /** @param receipt null: it is not known, and counts as taken */
  taken({ payer, nonce }: Named, receipt: string | null): void {
    this.#db.prepare(`UPDATE signed_sales SET state = 'taken', receipt = ? ${OF}`).run(receipt, payer, nonce);
  }

  /** Nothing was bought with it: it is free for another input. */
  free({ payer, nonce }: Named): void {
    this.#db
      .prepare(`DELETE FROM signed_sales ${OF} AND state = 'held' AND digest IS NULL`)
      .run(payer, nonce);
  }
}

/** @param seconds that a payment is valid for */
const outlives = (seconds: number) =>
  new BaseError({
    code: "PAYMENT_REFUSED",
    shortMessage: `The payment is valid for ${Math.floor(seconds)} s more, it may be for ${KEPT_SECONDS} s: so long this node knows what it bought.`,
    nextStep: "Sign one with maxTimeoutSeconds of PAYMENT-REQUIRED; nothing was taken.",
    details: { validSeconds: Math.floor(seconds), limitSeconds: KEPT_SECONDS },
  });
