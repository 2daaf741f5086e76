/** A caller's payment, checked before it is bound to what he asks for. */
import { BaseError } from "../../base/errors.ts";
import type { PaidOrder } from "../../protocol/rules/paid-order.ts";
import type { PaymentService, SignedPayment } from "./service.ts";

/** What a payment's time may be short of when it comes, seconds: its way here, and the payer's clock. */
const ON_ITS_WAY_SECONDS = 60;

/** @param isHeld whether it is bound here already @param now seconds
 *  @throws BaseError PAYMENT_REFUSED, PAYMENT_OTHER_ORDER, PAYMENT_UNBOUND, FACILITATOR_UNREACHABLE */
export async function readPayment(
  service: PaymentService,
  header: string,
  order: PaidOrder,
  isHeld: (payment: SignedPayment) => boolean,
  now: () => number,
): Promise<SignedPayment> {
  const payment = await service.read(header, order);
  // Verified when it came first; a payer who comes back with it shows who he is.
  if (isHeld(payment)) return payment;
  const left = payment.validUntil - now();
  if (left < service.validSeconds - ON_ITS_WAY_SECONDS) throw tooShort(left, service.validSeconds);
  await service.verify(payment);
  return payment;
}

const tooShort = (left: number, needed: number) =>
  new BaseError({
    code: "PAYMENT_REFUSED",
    shortMessage: `The payment is valid for ${Math.floor(left)} s more, it must be for ${needed} s: until what it buys is there, disputes included.`,
    nextStep: "Sign one with maxTimeoutSeconds of PAYMENT-REQUIRED; nothing was taken.",
    details: { validSeconds: Math.floor(left), neededSeconds: needed },
  });
