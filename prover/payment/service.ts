/** Who moves tokens, as orders see it. */
import type { PaidOrder } from "../../protocol/rules/paid-order.ts";
import type { Payment } from "../../protocol/rules/receipt/record.ts";

/** A caller's promise: one transfer, once, of at most the price. */
export interface SignedPayment {
  /** lower case */
  readonly payer: string;
  /** decimal; of one payer each is used once */
  readonly nonce: string;
  /** seconds since 1970 */
  readonly validUntil: number;
  /** payload and terms, as the service takes them */
  readonly signed: string;
}

/** What became of a transfer that was asked for. */
export type Settlement =
  /** receipt: for the payer, a header's value */
  | { readonly status: "taken"; readonly receipt: string; readonly transaction: string }
  /** it cannot be made, now or later */
  | { readonly status: "refused"; readonly reason: string }
  /** it cannot be made now, for a reason that the payer or the service's own node may have given */
  | { readonly status: "doubtful"; readonly reason: string }
  /** nobody was asked, or it may be made later */
  | { readonly status: "later"; readonly reason: string }
  /** it may have been made */
  | { readonly status: "unknown"; readonly reason: string };

export interface PaymentService {
  /** Seconds that a payment must be valid for when it is given. */
  readonly validSeconds: number;
  /** The terms for the header PAYMENT-REQUIRED.
   *  @param url what is paid for @param reason why a payment was not taken, or that there was none
   *  @throws BaseError FACILITATOR_UNREACHABLE (retryable) */
  terms(url: string, reason: string, order: PaidOrder): Promise<string>;
  /** By what a payment's header is known, unverified, whatever its terms and this node's.
   *  @throws BaseError PAYMENT_REFUSED, PAYMENT_OTHER_ORDER */
  whose(header: string, order: PaidOrder): Pick<SignedPayment, "payer" | "nonce">;
  /** What a payment's header says, unverified.
   *  @throws BaseError PAYMENT_REFUSED, PAYMENT_OTHER_ORDER, PAYMENT_UNBOUND, FACILITATOR_UNREACHABLE (retryable) */
  read(header: string, order: PaidOrder): Promise<SignedPayment>;
  /** Whether a header has the signature of a payment that was taken in before. @throws BaseError PAYMENT_REFUSED */
  isSame(header: string, payment: Pick<SignedPayment, "signed">): boolean;
  /** Checks signature, allowance, balance, and that it could be taken now.
   *  @throws BaseError PAYMENT_REFUSED, FACILITATOR_UNREACHABLE (retryable) */
  verify(payment: SignedPayment): Promise<void>;
  /** Takes the price. Never throws.
   *  @param extensions by which the receipt says what was paid for */
  settle(
    payment: Pick<SignedPayment, "signed">,
    extensions: Readonly<Record<string, unknown>>,
  ): Promise<Settlement>;
  /** The transfer that a receipt tells of. */
  transferIn(receipt: string): Payment;
}
