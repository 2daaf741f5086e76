/** What a request would have to offer now for this prover to answer it. Pure. */
import { BaseError } from "../base/errors.ts";
import { bondsOf } from "../protocol/rules/money.ts";
import { LANE } from "../protocol/rules/types.ts";
import {
  claimGasPrice,
  leastDeliveryFee,
  leastFee,
  leastSettleFee,
  type ModelTerms,
  type Policy,
  type ProverState,
  truthFor,
} from "./decide.ts";

/** Amounts in wei, times in seconds. */
export interface Quote {
  readonly leastFee: bigint;
  /** for a callback with this gas; 0 without one */
  readonly leastDeliveryFee: bigint;
  /** what a unit of gas costs now */
  readonly gasPrice: bigint;
  /** 0 for a model that nobody bonds on */
  readonly bond: bigint;
  readonly ticketBond: bigint;
  readonly window: { readonly least: number; readonly most: number };
}

export interface QuoteTerms {
  readonly callbackGas: number;
  readonly minBond: bigint;
}

/** By a claim, or by truth for a model without the lane BOND.
 *  @throws BaseError MODEL_CANNOT_RUN (retryable) for a model that this node can answer for in no lane */
export function quote(
  model: ModelTerms,
  { callbackGas, minBond }: QuoteTerms,
  { constants, baseFee, gasPrice }: ProverState,
  policy: Policy,
): Quote {
  const common = {
    leastDeliveryFee: callbackGas === 0 ? 0n : leastDeliveryFee(callbackGas, gasPrice, policy),
    gasPrice,
    window: { least: 4 * constants.answerSeconds, most: policy.maxWindow },
  };
  if ((model.lanes & LANE.BOND) === 0) {
    const truth = truthFor(model, model.lanes);
    if (truth === undefined) throw unanswerable();
    return { ...common, leastFee: leastSettleFee(truth, gasPrice, policy), bond: 0n, ticketBond: 0n };
  }
  const bonds = bondsOf(constants, {
    gasPrice: claimGasPrice(constants, baseFee),
    depth: model.depth,
    minBond,
    attempt: 0,
  });
  return { ...common, leastFee: leastFee(model, gasPrice, policy), ...bonds };
}

const unanswerable = (): BaseError =>
  new BaseError({
    code: "MODEL_CANNOT_RUN",
    shortMessage: "This node has no method ready for any lane of the model.",
    nextStep: "Ask another node; the operator of this one finds the reason in its log.",
    retryable: true,
  });
