/** What a call for a final output, or a signed answer, pays. docs/X402.md has the rules. */
import type { Request, Response } from "express";
import { keccak256 } from "viem";
import { BaseError } from "../../base/errors.ts";
import type { PaidOrder } from "../../protocol/rules/paid-order.ts";
import type { Digest } from "../../protocol/rules/promises/signed-claim.ts";
import { ZERO_ADDRESS } from "../../protocol/rules/types.ts";
import { statusOf } from "../../protocol/service/http/error-answer.ts";
import type { ServedModel } from "../models.ts";
import type { SignedOrder } from "../payment/signed-sale-store.ts";
import type { SignedSales } from "../payment/signed-sales.ts";
import { hasResult } from "./finality.ts";
import type { HttpParts, OrderStatus, Payment } from "./parts.ts";
import { queryInvalid } from "./query.ts";

/** A call that pays: what it ordered, once the output is computed. */
export interface PaidCall {
  /** @throws BaseError as Payment.place does */
  order(output: Uint8Array): Promise<void>;
  /** How its order stands, undefined before it is placed; the receipt is written into the answer.
   *  @throws BaseError PAYMENT_REFUSED, ORDER_VOID for one that ended unpaid or without an output */
  state(): OrderStatus["state"] | undefined;
}

/** Looks at a call for a final output before anything runs.
 *  @param waitMs how long the caller waits
 *  @returns undefined for a call that costs nothing: the output is final already, and paid for if this node ordered it
 *  @throws BaseError PAYMENT_REQUIRED, QUERY_INVALID for too short a wait, and as Payment.read does */
export async function admit(
  { payment, node, limits, chain }: HttpParts,
  request: Request,
  response: Response,
  model: ServedModel,
  calldata: Uint8Array,
  waitMs: number,
): Promise<PaidCall | undefined> {
  if (payment === undefined) return undefined;
  const withheld = payment.isWithheld.bind(payment);
  const inputHash = keccak256(calldata);
  if (hasResult(node.index, model.id, inputHash, withheld)) return undefined;
  const least = Math.min(payment.leastSeconds(model), limits.maxWaitSeconds);
  if (waitMs < 1_000 * least) {
    const range = `${least} to ${limits.maxWaitSeconds} seconds: no output is final earlier`;
    throw queryInvalid("timeout", `${waitMs / 1_000}`, range);
  }
  // A final output is everybody's.
  const paid = { ...chain.game, kind: "final", model: model.id, inputHash, requester: ZERO_ADDRESS } as const;
  const terms = <T>(work: () => Promise<T> | T) => withTerms(payment, paid, request, response, work);
  const signed = await terms(() => payment.read(paymentIn(request, FINAL), paid));
  let order: number | undefined;
  return {
    order: async (output) => {
      order = await terms(() => payment.place(model, calldata, output, signed));
    },
    state: () => {
      if (order === undefined) return undefined;
      const { state, receipt, reason } = payment.stateOf(order, signed);
      if (state === "void") throw orderVoid();
      if (state === "unpaid") throw unpaid(reason);
      if (receipt !== undefined) response.setHeader("PAYMENT-RESPONSE", receipt);
      return state;
    },
  };
}

const FINAL = ["A final output costs", "unless the output is final"] as const;
const SIGNED = ["A signed answer costs", "unless the answer is signed"] as const;

/** Sells a signed answer, as `SignedSales.sell` does; the receipt is written into the answer. */
export async function sellSigned<Answer extends { readonly digest: Digest }>(
  sales: SignedSales,
  request: Request,
  response: Response,
  order: PaidOrder & SignedOrder,
  again: (bought: Digest) => Answer | undefined,
  make: () => Promise<Answer>,
): Promise<Answer> {
  const { answer, receipt } = await withTerms(sales, order, request, response, async () =>
    sales.sell(order, await sales.read(paymentIn(request, SIGNED), order), again, make),
  );
  if (receipt !== null) response.setHeader("PAYMENT-RESPONSE", receipt);
  return answer;
}

/** @throws BaseError PAYMENT_REQUIRED */
function paymentIn(request: Request, [what, unless]: readonly [string, string]): string {
  const header = request.get("PAYMENT-SIGNATURE");
  if (header !== undefined) return header;
  throw new BaseError({
    code: "PAYMENT_REQUIRED",
    shortMessage: `${what}, and the call has no header PAYMENT-SIGNATURE.`,
    nextStep: `Sign a payment by the terms in PAYMENT-REQUIRED (x402 version 2) and send the call again; nothing is taken ${unless}.`,
  });
}

/** Gives the terms with every refusal that a payment would end, in x402's header and in the error. */
async function withTerms<T>(
  payment: Pick<Payment, "terms" | "offer">,
  order: PaidOrder,
  request: Request,
  response: Response,
  work: () => Promise<T> | T,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BaseError) || statusOf(error) !== 402) throw error;
    const url = `${request.protocol}://${request.get("Host") ?? ""}${request.originalUrl}`;
    response.setHeader("PAYMENT-REQUIRED", await payment.terms(url, error.shortMessage, order));
    response.setHeader("Cache-Control", "no-store");
    const { code, shortMessage, nextStep, details, cause } = error;
    const offered = { ...payment.offer, ...details };
    throw new BaseError({
      code,
      shortMessage,
      details: offered,
      cause,
      ...(nextStep === undefined ? {} : { nextStep }),
    });
  }
}

const unpaid = (reason = "no reason given") =>
  new BaseError({
    code: "PAYMENT_REFUSED",
    shortMessage: `The output is final, and the payment could not be taken: ${reason}.`,
    nextStep: "Ask again with a payment that can be taken.",
    details: { reason },
  });

const orderVoid = () =>
  new BaseError({
    code: "ORDER_VOID",
    shortMessage: "The request of this order ended without this output.",
    nextStep: "Ask again, or ask another node; nothing was taken.",
    retryable: true,
  });
