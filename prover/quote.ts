/** What a request would have to offer now for this prover to answer it. Pure. */
import { BaseError } from "../base/errors.ts";
import { claimGasPriceFor } from "../protocol/chain/move-costs.ts";
import { bondsOf } from "../protocol/rules/money.ts";
import { LANE } from "../protocol/rules/types.ts";
import { leastDeliveryFee, leastFee, settleCost, withMargin } from "./costs.ts";
import {
  bondAboveLimit,
  type ModelTerms,
  type Policy,
  type ProverState,
  type TruthTerms,
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
 *  @throws BaseError MODEL_CANNOT_RUN (retryable) for a model that this node can answer for in no lane,
 *  BOND_ABOVE_LIMIT (retryable) where it would not put up the bond */
export function quote(
  model: ModelTerms,
  { callbackGas, minBond }: QuoteTerms,
  { constants, baseFee, gasPrice, dataFee }: ProverState,
  policy: Policy,
): Quote {
  if (dataFee === undefined) throw unpriced();
  const prices = { gasPrice, dataFee };
  const common = {
    leastDeliveryFee:
      callbackGas === 0
        ? 0n
        : leastDeliveryFee({ callbackGas, outputLength: model.outputLength }, prices, policy),
    gasPrice,
    window: { least: 4 * constants.answerSeconds, most: policy.maxWindow },
  };
  if ((model.lanes & LANE.BOND) === 0) {
    const truth = truthFor(model, model.lanes);
    if (truth === undefined) throw unanswerable();
    const leastSettle = (one: TruthTerms): bigint =>
      withMargin(settleCost(one, model, model.maxCalldata ?? 0, prices), policy);
    return { ...common, leastFee: leastSettle(truth), bond: 0n, ticketBond: 0n };
  }
  const bonds = bondsOf(constants, {
    gasPrice: claimGasPriceFor(constants, baseFee, dataFee, model.depth),
    depth: model.depth,
    minBond,
    attempt: 0,
  });
  if (bonds.bond > policy.maxBond) throw aboveLimit(bonds.bond, policy.maxBond);
  return { ...common, leastFee: leastFee(model, prices, policy), ...bonds };
}

const aboveLimit = (bond: bigint, maxBond: bigint): BaseError =>
  new BaseError({
    code: "BOND_ABOVE_LIMIT",
    shortMessage: `This node claims nothing now: ${bondAboveLimit(bond, maxBond)}.`,
    nextStep: "Ask for a smaller bond, or again when gas costs less, or ask another node.",
    details: { bondWei: bond, maxBondWei: maxBond },
    retryable: true,
  });

const unpriced = (): BaseError =>
  new BaseError({
    code: "DATA_FEE_UNREADABLE",
    shortMessage:
      "What the chain asks for data could not be read, so this node cannot say what an answer costs.",
    nextStep: "Ask again later, or ask another node.",
    retryable: true,
  });

const unanswerable = (): BaseError =>
  new BaseError({
    code: "MODEL_CANNOT_RUN",
    shortMessage: "This node has no method ready for any lane of the model.",
    nextStep: "Ask another node; the operator of this one finds the reason in its log.",
    retryable: true,
  });
