/** What each lane would cost for one result, before anything is spent, and which one to take. Pure.
 *  Seconds, bytes and gas come from `estimates.ts`; money and rules are DESIGN's: a bond must outweigh the value. */

import { bondsOf, gasPriceRange } from "../../rules/money.ts";
import { type GameConstants, LANE, type LaneName } from "../../rules/types.ts";
import { type DataFee, dataFeeOf, NO_DATA_FEE } from "../data-fee.ts";
import { claimGasPriceFor } from "../move-costs.ts";

/** Ways to finality, in order of trust. */
export const METHODS = ["execution", "execution-compiled", "groth16", "ezkl", "bond"] as const;
export type Method = (typeof METHODS)[number];

export const LANE_OF: Readonly<Record<Method, LaneName>> = {
  execution: "EXECUTION",
  "execution-compiled": "EXECUTION",
  groth16: "PROOF",
  ezkl: "PROOF",
  bond: "BOND",
};

/** What one result takes by this method; all of it is estimated unless the row says otherwise. */
export interface Estimate {
  /** once for the prover: keys, or 0 */
  readonly setupSeconds: number;
  /** from calldata to evidence */
  readonly seconds: number;
  readonly memoryBytes: number;
  /** proving key, or 0 */
  readonly keyBytes: number;
  /** gas once for the model on this chain: weights, code, keys; 0 where it is there already */
  readonly gasSetup: bigint;
  /** whole transactions of one result, the request's included where there is one */
  readonly gasPerResult: bigint;
  /** calldata of those transactions, for chains that charge for data */
  readonly bytesPerResult: readonly number[];
  /** the largest single transaction */
  readonly gasOfLargest: bigint;
  /** what makes this row weaker than its lane, such as development keys */
  readonly caution?: string;
}

/** An estimate, or why this method cannot be used. */
export type Offer = Estimate | { readonly unavailable: string };

/** What is assumed where nobody says otherwise. */
export const ASSUMED = {
  /** of a chain that is not known */
  blockSeconds: 12,
  capitalPercent: 5,
  /** answering times in a window */
  windowAnswers: 4,
} as const;

export interface PlanTerms {
  /** bits of the model */
  readonly modelLanes: number;
  /** bits that the request accepts; absent: all */
  readonly acceptedLanes?: number;
  readonly depth: number;
  readonly offers: Readonly<Record<Method, Offer>>;
  readonly constants: GameConstants;
  /** wei a unit of gas */
  readonly gasPrice: bigint;
  /** what the chain asks for data; absent: nothing */
  readonly dataFee?: DataFee;
  /** wei that the consumer has at stake on this output */
  readonly value: bigint;
  /** seconds in which a claim can be challenged */
  readonly window: number;
  readonly blockSeconds: number;
  /** most gas of one transaction on this chain */
  readonly transactionGas: bigint;
  /** what locked money costs a year, in percent */
  readonly capitalPercent: number;
}

export type PlanRow =
  | {
      readonly lane: LaneName;
      readonly method: Method;
      readonly available: true;
      readonly estimate: Estimate;
      /** from the claim to finality, 0 without a claim */
      readonly lockedWei: bigint;
      readonly lockedSeconds: number;
      readonly secondsToFinality: number;
      /** against the int8 file: every method gives its bytes; undefined for ezkl, whose model is another function with
       *  figures of its own */
      readonly accuracyLoss: 0 | undefined;
      /** gas, data, and what locked money costs meanwhile; without set-up */
      readonly costWei: bigint;
      /** part of it: what the chain asks for the calldata of a result */
      readonly dataFeeWei: bigint;
      readonly usable: boolean;
    }
  | {
      readonly lane: LaneName;
      readonly method: Method;
      readonly available: false;
      readonly reason: string;
    };

export interface Plan {
  readonly rows: readonly PlanRow[];
  /** the cheapest usable method, absent if there is none */
  readonly choice?: Method;
}

const YEAR_SECONDS = 365n * 86_400n;

export function plan(terms: PlanTerms): Plan {
  const rows = METHODS.map((method) => rowOf(method, terms));
  let choice: (PlanRow & { available: true }) | undefined;
  for (const row of rows) {
    if (!row.available || !row.usable) continue;
    // A tie goes to the lane that is trusted more, which comes first.
    if (choice === undefined || row.costWei < choice.costWei) choice = row;
  }
  return choice === undefined ? { rows } : { rows, choice: choice.method };
}

function rowOf(method: Method, terms: PlanTerms): PlanRow {
  const { offers, modelLanes, acceptedLanes = modelLanes, transactionGas } = terms;
  const lane = LANE_OF[method];
  const no = (reason: string): PlanRow => ({ lane, method, available: false, reason });
  const offer = offers[method];
  if ((modelLanes & LANE[lane]) === 0) {
    // A lane that it could not have either says why.
    const why = "unavailable" in offer ? `: ${offer.unavailable}` : "";
    return no(`the model has no lane ${lane}${why}`);
  }
  if ((acceptedLanes & LANE[lane]) === 0) return no(`the request does not accept lane ${lane}`);
  if ("unavailable" in offer) return no(offer.unavailable);
  if (offer.gasOfLargest > transactionGas) {
    return no(
      `it needs a transaction of about ${offer.gasOfLargest} gas, the chain's limit is ${transactionGas}`,
    );
  }
  const { locked, lockedSeconds } = method === "bond" ? lockedBy(terms) : { locked: 0n, lockedSeconds: 0 };
  const rent =
    (locked * BigInt(terms.capitalPercent) * BigInt(Math.ceil(lockedSeconds))) / (100n * YEAR_SECONDS);
  const dataFeeWei = dataFeeOf(terms.dataFee ?? NO_DATA_FEE, ...offer.bytesPerResult);
  return {
    lane,
    method,
    available: true,
    estimate: offer,
    lockedWei: locked,
    lockedSeconds,
    secondsToFinality: secondsToFinality(method, offer, terms),
    accuracyLoss: method === "ezkl" ? undefined : 0,
    costWei: offer.gasPerResult * terms.gasPrice + dataFeeWei + rent,
    dataFeeWei,
    usable: offer.caution === undefined,
  };
}

/** A cheat gains at most the value and loses its bond, so the bond must be the larger of the two. */
function lockedBy({ constants, gasPrice, dataFee, depth, value, window, blockSeconds }: PlanTerms) {
  const { least } = gasPriceRange(constants, gasPrice);
  // A prover names more where a defence costs data.
  const named = dataFee === undefined ? least : claimGasPriceFor(constants, gasPrice, dataFee, depth);
  const p = dataFee?.kind === "none" || named < least ? least : named;
  const { bond } = bondsOf(constants, { gasPrice: p, depth, minBond: value + 1n, attempt: 0 });
  return { locked: bond, lockedSeconds: window + 2 * blockSeconds };
}

/** From the moment in which the request is on the chain; an execution needs none. */
function secondsToFinality(
  method: Method,
  { seconds }: Estimate,
  { window, blockSeconds }: PlanTerms,
): number {
  if (LANE_OF[method] === "EXECUTION") return 0;
  if (method === "bond") return seconds + window + 2 * blockSeconds;
  return seconds + blockSeconds;
}
