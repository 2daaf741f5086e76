/** Signed answers that callers of HTTP pay for: the price is taken once the claim is signed and journalled, and the answer
 *  is given once the price is taken. docs/X402.md has the rules. */
import { BaseError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { PaidOrder } from "../../protocol/rules/paid-order.ts";
import { PROMISE_LIMITS } from "../../protocol/rules/promises/limits.ts";
import type { Digest } from "../../protocol/rules/promises/signed-claim.ts";
import { readPayment } from "./read-payment.ts";
import { signedExtension } from "./record-extension.ts";
import type { PaymentService, SignedPayment } from "./service.ts";
import type { SignedOrder, SignedSale, SignedSaleStore } from "./signed-sale-store.ts";

export interface SignedSalesParts {
  readonly store: SignedSaleStore;
  readonly service: PaymentService;
  /** price, asset, network and payee, for errors */
  readonly offer: Readonly<Record<string, string>>;
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** What was bought, and the header that tells its payer; null: whether the price was taken is not known. */
export interface Sold<Answer> {
  readonly answer: Answer;
  readonly receipt: string | null;
}

export class SignedSales {
  readonly offer: SignedSalesParts["offer"];
  readonly #parts: SignedSalesParts;
  /** Sales that are under way, by payment: the same one at once is sold one after the other. */
  readonly #selling = new Map<string, Promise<unknown>>();

  constructor(parts: SignedSalesParts) {
    this.#parts = parts;
    this.offer = parts.offer;
  }

  terms(url: string, reason: string, order: PaidOrder): Promise<string> {
    return this.#parts.service.terms(url, reason, order);
  }

  /** @throws BaseError as readPayment does */
  async read(header: string, order: PaidOrder): Promise<SignedPayment> {
    const { service, store } = this.#parts;
    // What was asked for is asked for again, whatever this node now asks for; its name alone, which the token's chain
    // shows to all, is not enough.
    const asked = store.asked(service.whose(header, order));
    if (asked !== undefined && service.isSame(header, asked)) return asked;
    return readPayment(
      service,
      header,
      order,
      () => false,
      () => this.#now,
    );
  }

  /** @param again gives what this payment bought before; undefined for what the journal has no more
   *  @param make signs an answer; throws where there is none, and then the payment is free
   *  @throws BaseError PAYMENT_USED, PAYMENT_REFUSED, FACILITATOR_UNREACHABLE, PAYMENT_UNKNOWN; what `make` throws */
  async sell<Answer extends { readonly digest: Digest }>(
    order: SignedOrder,
    payment: SignedPayment,
    again: (bought: Digest) => Answer | undefined,
    make: () => Promise<Answer>,
  ): Promise<Sold<Answer>> {
    const key = `${payment.payer} ${payment.nonce}`;
    const before = this.#selling.get(key) ?? Promise.resolve();
    const selling = before.catch(() => undefined).then(() => this.#sell(order, payment, again, make));
    this.#selling.set(key, selling);
    try {
      return await selling;
    } finally {
      if (this.#selling.get(key) === selling) this.#selling.delete(key);
    }
  }

  async #sell<Answer extends { readonly digest: Digest }>(
    order: SignedOrder,
    payment: SignedPayment,
    again: (bought: Digest) => Answer | undefined,
    make: () => Promise<Answer>,
  ): Promise<Sold<Answer>> {
    const { store } = this.#parts;
    const sale = store.place(order, payment, this.#now);
    let answer = sale.digest === null ? undefined : again(sale.digest);
    if (answer === undefined) {
      this.#requireUnended(sale);
      try {
        answer = await make();
      } catch (error) {
        store.free(payment);
        throw error;
      }
    }
    if (sale.state !== "taken") return { answer, receipt: await this.#take(sale, payment, answer.digest) };
    if (answer.digest !== sale.digest) store.replace(payment, answer.digest);
    return { answer, receipt: sale.receipt };
  }

  /** What was bought lives for a day. If the journal has it no more, another takes its place until then, and not later:
   *  it would be a second one for the same price.
   *  @throws BaseError PAYMENT_USED */
  #requireUnended({ state, digest, placedAt }: SignedSale): void {
    if (state === "held" || this.#now - placedAt <= PROMISE_LIMITS.maxLife) return;
    throw new BaseError({
      code: "PAYMENT_USED",
      shortMessage: `The payment bought the signed claim ${digest} at ${placedAt}, which has lived its ${PROMISE_LIMITS.maxLife} s and is not kept any more.`,
      nextStep: "Sign a new payment; nothing was taken now.",
      details: { digest: `${digest}`, placedAt, limitSeconds: PROMISE_LIMITS.maxLife },
    });
  }

  /** seconds */
  get #now(): number {
    return this.#parts.nowMs() / 1_000;
  }

  /** @returns the receipt; null where it is not known, and counts as taken */
  async #take(sale: SignedSale, payment: SignedPayment, digest: Digest): Promise<string | null> {
    const { store, service, log } = this.#parts;
    const wasAsked = sale.state === "asked";
    store.ask(payment, digest);
    const result = await service.settle(payment, signedExtension(digest));
    const facts = { digest, payer: payment.payer };
    if (result.status === "taken") {
      store.taken(payment, result.receipt);
      log.info({ ...facts, transaction: result.transaction }, "a signed answer was paid for");
      return result.receipt;
    }
    const { status, reason } = result;
    if (status === "unknown" || (status === "later" && wasAsked)) {
      log.warn(
        { ...facts, reason },
        "whether a signed answer was paid for is not known; asked again when its payer comes",
      );
      throw notKnown(reason);
    }
    if (wasAsked) {
      // What cannot be taken now may have been taken when it was asked for before.
      log.warn({ ...facts, reason }, "whether a payment was taken is not known; it counts as taken");
      store.taken(payment, null);
      return null;
    }
    store.hold(payment);
    throw status === "later" ? notNow(reason) : notTaken(reason);
  }
}

const notTaken = (reason: string) =>
  new BaseError({
    code: "PAYMENT_REFUSED",
    shortMessage: `The answer is signed, and the payment could not be taken: ${reason.slice(0, 200)}.`,
    nextStep: "Send the call again with a payment that can be taken; nothing was taken.",
    details: { reason: reason.slice(0, 200) },
  });

const notNow = (reason: string) =>
  new BaseError({
    code: "FACILITATOR_UNREACHABLE",
    shortMessage: `The payment could not be taken now: ${reason.slice(0, 200)}.`,
    nextStep: "Send the same call again: it is paid once; nothing was taken.",
    retryable: true,
  });

const notKnown = (reason: string) =>
  new BaseError({
    code: "PAYMENT_UNKNOWN",
    shortMessage: `Whether the payment was taken is not known: ${reason.slice(0, 200)}.`,
    nextStep: "Send the same call again: it is paid once, and then the answer is given.",
    retryable: true,
  });
