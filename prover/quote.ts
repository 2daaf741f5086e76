/** What a request would have to offer now for this prover to claim it. Pure. */
import { bondsOf } from "../protocol/money.ts";
import {
  claimGasPrice,
  leastDeliveryFee,
  leastFee,
  type ModelTerms,
  type Policy,
  type Standing,
} from "./decide.ts";

/** Amounts in wei, times in seconds. */
export interface Quote {
  readonly leastFee: bigint;
  /** for a callback with this gas; 0 without one */
  readonly leastDeliveryFee: bigint;
  /** what a unit of gas costs now */
  readonly gasPrice: bigint;
  readonly bond: bigint;
  readonly ticketBond: bigint;
  readonly window: { readonly least: number; readonly most: number };
}

export interface QuoteTerms {
  readonly callbackGas: number;
  readonly minBond: bigint;
}

export function quote(
  model: ModelTerms,
  { callbackGas, minBond }: QuoteTerms,
  { constants, baseFee, gasPrice }: Standing,
  policy: Policy,
): Quote {
  const bonds = bondsOf(constants, {
    gasPrice: claimGasPrice(constants, baseFee),
    depth: model.depth,
    minBond,
    attempt: 0,
  });
  return {
    leastFee: leastFee(model, gasPrice, policy),
    leastDeliveryFee: callbackGas === 0 ? 0n : leastDeliveryFee(callbackGas, gasPrice, policy),
    gasPrice,
    ...bonds,
    window: { least: 4 * constants.answerSeconds, most: policy.maxWindow },
  };
}
