/** What a call for a final output pays. docs/X402.md has the rules. */
import type { Request, Response } from "express";
import { keccak256 } from "viem";
import { BaseError } from "../../base/errors.ts";
import { statusOf } from "../../protocol/service/http/errors.ts";
import type { ServedModel } from "../models.ts";
import type { SignedPayment } from "../payment/service.ts";
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
  { payment, node, limits }: HttpParts,
  request: Request,
  response: Response,
  model: ServedModel,
  calldata: Uint8Array,
  waitMs: number,
): Promise<PaidCall | undefined> {
  if (payment === undefined) return undefined;
  const withheld = payment.isWithheld.bind(payment);
  if (hasResult(node.index, model.id, keccak256(calldata), withheld)) return undefined;
  const least = Math.min(payment.leastSeconds(model), limits.maxWaitSeconds);
  if (waitMs < 1_000 * least) {
    const range = `${least} to ${limits.maxWaitSeconds} seconds: no output is final earlier`;
    throw queryInvalid("timeout", `${waitMs / 1_000}`, range);
  }
  const terms = <T>(work: () => Promise<T> | T) => withTerms(payment, request, response, work);
  const signed = await terms(() => read(payment, request));
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

function read(payment: Payment, request: Request): Promise<SignedPayment> {
  const header = request.get("PAYMENT-SIGNATURE");
  if (header === undefined) throw required();
  return payment.read(header);
}

/** Gives the terms with every refusal that a payment would end, in x402's header and in the error. */
async function withTerms<T>(
  payment: Payment,
  request: Request,
  response: Response,
  work: () => Promise<T> | T,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BaseError) || statusOf(error) !== 402) throw error;
    const url = `${request.protocol}://${request.get("Host") ?? ""}${request.originalUrl}`;
    response.setHeader("PAYMENT-REQUIRED", await payment.terms(url, error.shortMessage));
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

const required = () =>
  new BaseError({
    code: "PAYMENT_REQUIRED",
    shortMessage: "A final output costs, and the call has no header PAYMENT-SIGNATURE.",
    nextStep:
      "Sign a payment by the terms in PAYMENT-REQUIRED (x402 version 2) and send the call again; nothing is taken unless the output is final.",
  });

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
