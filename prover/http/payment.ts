/** Payment for final outputs by x402, in the scheme `upto`: a caller signs the most that may be taken, and nothing is
 *  taken unless the answer is final. */
import { HTTPFacilitatorClient } from "@x402/core/server";
import { UptoEvmScheme } from "@x402/evm/upto/server";
import { paymentMiddleware, setSettlementOverrides, x402ResourceServer } from "@x402/express";
import type { RequestHandler } from "express";
import type { Address } from "viem";

export interface PaymentTerms {
  /** units of the token, for one final output */
  readonly price: bigint;
  /** ERC-20 token */
  readonly asset: Address;
  /** CAIP-2 name of the token's chain, such as eip155:8453 */
  readonly network: `eip155:${number}`;
  readonly payTo: Address;
  readonly facilitatorUrl: string;
}

/** Seconds for the payment itself, after the longest wait. */
const SETTLE_SECONDS = 60;

/** Before a route whose calls cost: answers 402 with the terms, verifies a payment before the route runs, and takes it
 *  after the route answered, if it called `takePayment`.
 *  @param maxWaitSeconds longest that the route takes */
export function paymentGate(terms: PaymentTerms, maxWaitSeconds: number): RequestHandler {
  const { price, asset, network, payTo, facilitatorUrl: url } = terms;
  const server = new x402ResourceServer(new HTTPFacilitatorClient({ url })).register(
    network,
    new UptoEvmScheme(),
  );
  const accepts = {
    scheme: "upto",
    network,
    payTo,
    price: { asset, amount: price.toString() },
    maxTimeoutSeconds: maxWaitSeconds + SETTLE_SECONDS,
  };
  // Express decided which calls come here: a second pattern for paths could be passed by.
  const gate = paymentMiddleware({ "*": { accepts, description: "A final output of a model" } }, server);
  return (request, response, next) => {
    const run = (error?: unknown) => {
      setSettlementOverrides(response, NOTHING);
      next(error);
    };
    return gate(request, response, run);
  };
}

/** Nothing is owed until the route says so. */
const NOTHING = { amount: "0" };
