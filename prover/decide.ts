/** What to do about requests and own claims, from their state at one block. Pure. All times in seconds, money in wei. */
import { type Address, size } from "viem";
import { formatAmount } from "../base/amounts.ts";
import type { ClaimEntry, RequestEntry } from "../protocol/chain/claim-index.ts";
import { type DataFee, dataFeeOf } from "../protocol/chain/data-fee.ts";
import { BYTES, claimGasPriceFor, defenceDataFee } from "../protocol/chain/move-costs.ts";
import type { Method } from "../protocol/chain/plan/plan.ts";
import { isFinal } from "../protocol/rules/machine.ts";
import { bondsOf, defenceGas, MAX_AMOUNT } from "../protocol/rules/money.ts";
import {
  type GameConstants,
  LANE,
  LIMITS,
  type ModelId,
  type RequestId,
  type TruthLane,
  ZERO_ADDRESS,
} from "../protocol/rules/types.ts";
import type { ClaimWord } from "../protocol/rules/words.ts";
import {
  claimCost,
  defenceReserve,
  leastDeliveryFee,
  leastFee,
  type Prices,
  settleCost,
  withMargin,
} from "./costs.ts";
import { owedAnswers } from "./owed.ts";

/** What an operator of a prover chooses. */
export interface Policy {
  /** how far a fee must lie above the gas that it pays for */
  readonly marginPercent: number;
  /** most wei in own bonds at once */
  readonly maxBonds: bigint;
  /** most wei in the bond of one claim */
  readonly maxBond: bigint;
  /** most wei of gas an hour for ending overdue claims of others */
  readonly endingBudget: bigint;
  /** longest window, for a bond is locked as long */
  readonly maxWindow: number;
}

/** What a decision needs to know of a model. */
export interface ModelTerms {
  /** bits */
  readonly lanes: number;
  readonly depth: number;
  /** bytes */
  readonly outputLength: number;
  /** most bytes of a request's input; absent: not known */
  readonly maxCalldata?: number;
  /** how this node can settle its requests at once; absent: by no truth */
  readonly truths?: readonly TruthTerms[];
  /** what keeps this node from other truths that the model has, sentences */
  readonly missing?: readonly string[];
}

/** Method that this node has ready for a model. */
export interface TruthTerms {
  readonly method: Method;
  readonly lane: TruthLane;
  /** of the whole transaction that settles a request with it */
  readonly gas: bigint;
  /** of what `settle` takes beside input and output; absent: 0 */
  readonly evidenceBytes?: number;
}

/** The prover and the chain at one block. */
export interface ProverState {
  /** timestamp of the block */
  readonly now: number;
  readonly own: Address;
  readonly constants: GameConstants;
  readonly baseFee: bigint;
  /** what a unit of gas costs now, tip included */
  readonly gasPrice: bigint;
  /** what the chain asks for data; undefined: it could not be read */
  readonly dataFee: DataFee | undefined;
  readonly balance: bigint;
  /** own claims that are not over */
  readonly live: readonly { readonly bond: bigint; readonly gasPrice: bigint; readonly depth: number }[];
  /** requests on which a claim of this prover fell */
  readonly fallen: ReadonlySet<RequestId>;
}

export type RequestDecision =
  | { readonly kind: "claim"; readonly gasPrice: bigint; readonly bond: bigint }
  | { readonly kind: "settle"; readonly truth: TruthTerms }
  | { readonly kind: "skip"; readonly code: SkipCode; readonly reason: string };

/** Why a request is left to others. */
export const SKIP_CODES = [
  "MODEL_NOT_SERVED",
  "NO_LANE",
  "EXPIRED",
  "EXCLUSIVE",
  "WINDOW_TOO_LONG",
  "OWN_CLAIM_FELL",
  "DATA_FEE_UNKNOWN",
  "FEE_TOO_LOW",
  "BOND_TOO_HIGH",
  "BOND_ABOVE_LIMIT",
  "BONDS_AT_LIMIT",
  "DEFENCE_UNPAID",
  "BALANCE_TOO_LOW",
] as const;
export type SkipCode = (typeof SKIP_CODES)[number];

/** Decides on open requests, the oldest first: what one takes of balance and limit is not there for the next.
 *  Of the lanes that a request accepts the one that costs the least gas is taken; a bond that cannot be put up leaves
 *  the truths. */
export function decideRequests(
  requests: readonly RequestEntry[],
  models: ReadonlyMap<ModelId, ModelTerms>,
  state: ProverState,
  policy: Policy,
): Map<RequestId, RequestDecision> {
  const { dataFee } = state;
  const budget = dataFee && new BondBudget({ ...state, dataFee }, policy);
  const decisions = new Map<RequestId, RequestDecision>();
  const oldestFirst = [...requests].sort((a, b) => Number(a.block.number - b.block.number));
  for (const entry of oldestFirst) {
    const model = models.get(entry.request.modelId);
    const decision =
      model === undefined
        ? notServed(entry)
        : budget === undefined
          ? skip(
              "DATA_FEE_UNKNOWN",
              "the data fee of the chain could not be read: what it costs is not known",
            )
          : decideRequest(entry, model, budget);
    decisions.set(entry.id, decision);
  }
  return decisions;
}

function decideRequest(entry: RequestEntry, model: ModelTerms, budget: BondBudget): RequestDecision {
  const { state, policy } = budget;
  const { request } = entry;
  const truth = truthFor(model, request.lanes);
  const canBond = (request.lanes & model.lanes & LANE.BOND) !== 0;
  if (truth === undefined && !canBond) {
    const reasons = [
      "it accepts no lane in which this node can answer for the model",
      ...(model.missing ?? []),
    ];
    return skip("NO_LANE", reasons.join(": "));
  }
  const bond = (): RequestDecision => unsuited(entry, model, state, policy) ?? budget.bond(entry, model);
  if (truth === undefined) return bond();
  const inputBytes = size(entry.input);
  const settle = (): RequestDecision => {
    const cost = settleCost(truth, model, inputBytes, state);
    const least = withMargin(cost, policy);
    if (request.fee < least) return feeTooLow(request.fee, least, state.gasPrice);
    return budget.pay(cost) ?? { kind: "settle", truth };
  };
  if (!canBond) return settle();
  const [cheaper, dearer] =
    settleCost(truth, model, inputBytes, state) < claimCost(model, state) ? [settle, bond] : [bond, settle];
  const first = cheaper();
  if (first.kind !== "skip") return first;
  const second = dearer();
  return second.kind === "skip" ? first : second;
}

/** The cheapest truth among those of the accepted lanes. */
export function truthFor({ truths = [] }: ModelTerms, acceptedLanes: number): TruthTerms | undefined {
  const accepted = truths.filter(({ lane }) => (lane & acceptedLanes) !== 0);
  return accepted.reduce<TruthTerms | undefined>(
    (best, one) => (best === undefined || one.gas < best.gas ? one : best),
    undefined,
  );
}

/** The truth by which a disputed claim of this prover is ended: one that costs no more gas than defending it to the end. */
export function disputeTruth(
  model: ModelTerms,
  acceptedLanes: number,
  constants: GameConstants,
): TruthTerms | undefined {
  const truth = truthFor(model, acceptedLanes);
  return truth === undefined || truth.gas > defenceGas(constants, model.depth) ? undefined : truth;
}

/** What is left of the balance and of the limit on bonds while requests are decided on. */
class BondBudget {
  readonly state: PricedState;
  readonly policy: Policy;
  #bonded = 0n;
  #spent = 0n;

  constructor(state: PricedState, policy: Policy) {
    this.state = state;
    this.policy = policy;
    this.#bonded = state.live.reduce((sum, { bond }) => sum + bond, 0n);
    this.#spent = defenceReserve(state);
  }

  /** Takes what a settlement costs. @returns a refusal if it is not there */
  pay(needed: bigint): RequestDecision | undefined {
    const left = this.state.balance - this.#spent;
    if (needed > left) {
      return skip(
        "BALANCE_TOO_LOW",
        `a settlement costs ${formatAmount(needed)}, the balance has ${formatAmount(left)} for it`,
      );
    }
    this.#spent += needed;
    return undefined;
  }

  /** Takes bond, data fees and gas of a defence, or refuses. */
  bond({ request, attempt }: RequestEntry, { depth, outputLength }: ModelTerms): RequestDecision {
    const { constants, balance, baseFee, dataFee } = this.state;
    const gasPrice = claimGasPriceFor(constants, baseFee, dataFee, depth);
    const bonds = bondsOf(constants, { gasPrice, depth, minBond: request.minBond, attempt });
    const { bond } = bonds;
    const gas = defenceGas(constants, depth);
    const data = defenceDataFee(dataFee, depth);
    const needed = bond + gas * gasPrice + data + dataFeeOf(dataFee, BYTES.claim + outputLength);
    const amounts = { bond, bonded: this.#bonded, needed, left: balance - this.#spent };
    const limit = unaffordable(amounts, this.policy) ?? unpaid(bonds.ticketBond / 2n, gas * baseFee + data);
    if (limit !== undefined) return limit;
    this.#bonded += bond;
    this.#spent += needed;
    return { kind: "claim", gasPrice, bond };
  }
}

/** A state whose prices are all known. */
type PricedState = ProverState & Prices;

const skip = (code: SkipCode, reason: string): RequestDecision => ({ kind: "skip", code, reason });

/** INVARIANT: half of a ticket's bond pays for the defence against it, or whoever files tickets drains provers. The
 *  contract's bonds hold that for gas at its base fee; it knows nothing of data. */
const unpaid = (paid: bigint, cost: bigint): RequestDecision | undefined =>
  paid >= cost
    ? undefined
    : skip(
        "DEFENCE_UNPAID",
        `a defence would cost ${formatAmount(cost)} in gas and data, and half of a ticket's bond is ${formatAmount(paid)}`,
      );

/** Why nothing is claimed with this bond. */
export const bondAboveLimit = (bond: bigint, maxBond: bigint): string =>
  `its bond would be ${formatAmount(bond)} at the gas price of now, and --max-bond is ${formatAmount(maxBond)}`;

const notServed = ({ request }: RequestEntry): RequestDecision =>
  skip("MODEL_NOT_SERVED", `no folder here holds model ${request.modelId}`);

const feeTooLow = (fee: bigint, least: bigint, gasPrice: bigint): RequestDecision =>
  skip(
    "FEE_TOO_LOW",
    `its fee is ${formatAmount(fee)}, gas and margin ask for ${formatAmount(least)} at ${formatAmount(gasPrice)} a unit of gas`,
  );

/** Why nobody with this key and these models should claim it. */
function unsuited(
  { id, request }: RequestEntry,
  model: ModelTerms,
  state: PricedState,
  policy: Policy,
): RequestDecision | undefined {
  const { now, own, fallen } = state;
  const { expiry, exclusiveProver, exclusiveUntil, window, fee } = request;
  if (now >= expiry) return skip("EXPIRED", `it expired at ${expiry}, the chain is at ${now}`);
  if (exclusiveProver !== ZERO_ADDRESS && exclusiveProver !== own && now <= exclusiveUntil) {
    return skip("EXCLUSIVE", `only ${exclusiveProver} may claim it until ${exclusiveUntil}`);
  }
  if (window > policy.maxWindow) {
    return skip("WINDOW_TOO_LONG", `its window is ${window} s, the limit here ${policy.maxWindow} s`);
  }
  // Whatever made it fall would make it fall again, at twice the bond.
  if (fallen.has(id)) return skip("OWN_CLAIM_FELL", "a claim of this prover on it fell");
  const least = leastFee(model, state, policy);
  return fee >= least ? undefined : feeTooLow(fee, least, state.gasPrice);
}

function unaffordable(
  { bond, bonded, needed, left }: { bond: bigint; bonded: bigint; needed: bigint; left: bigint },
  { maxBond, maxBonds }: Policy,
): RequestDecision | undefined {
  if (bond > MAX_AMOUNT)
    return skip(
      "BOND_TOO_HIGH",
      `its bond would be ${formatAmount(bond)}, 96 bits hold ${formatAmount(MAX_AMOUNT)}`,
    );
  if (bond > maxBond) return skip("BOND_ABOVE_LIMIT", bondAboveLimit(bond, maxBond));
  if (bonded + bond > maxBonds) {
    return skip(
      "BONDS_AT_LIMIT",
      `its bond of ${formatAmount(bond)} and the ${formatAmount(bonded)} in bonds exceed ${formatAmount(maxBonds)}`,
    );
  }
  if (needed <= left) return undefined;
  return skip(
    "BALANCE_TOO_LOW",
    `bond and gas of a defence are ${formatAmount(needed)}, the balance has ${formatAmount(left)} for it`,
  );
}

export type ClaimMove =
  | { readonly kind: "commitTrace"; readonly due: number }
  | { readonly kind: "reveal"; readonly position: bigint; readonly due: number }
  | { readonly kind: "finalize" };

/** What a claim of this prover needs now: every answer that is owed and not late, or its end.
 *  @param word at the same block as the entry */
export function decideClaim(
  entry: ClaimEntry,
  word: ClaimWord,
  now: number,
  answerSeconds: number,
): ClaimMove[] {
  if (word.state !== "ACTIVE") return [];
  if (isFinal(word, answerSeconds, now)) return [{ kind: "finalize" }];
  return owedAnswers(entry, word).flatMap((owed): ClaimMove[] => {
    const { deadline: due } = owed;
    if (now > due) return [];
    return [
      owed.kind === "reveal" ? { kind: "reveal", position: owed.position, due } : { kind: owed.kind, due },
    ];
  });
}

/** Whether to bring a final output to its callback.
 *  @param settledAt 0 while it is not known
 *  @returns why not, or undefined */
export function deliveryRefusal(
  { request, status, delivered, result }: RequestEntry,
  {
    now,
    gasPrice,
    dataFee,
    settledAt,
  }: Pick<ProverState, "now" | "gasPrice" | "dataFee"> & { settledAt: number },
  policy: Policy,
): string | undefined {
  if (status !== "done") return "the request is not done";
  if (request.callback === ZERO_ADDRESS) return "it has no callback";
  if (delivered) return "it is delivered";
  if (settledAt !== 0 && now >= settledAt + LIMITS.reclaimDeliveryAfter)
    return "its delivery fee can be reclaimed";
  if (dataFee === undefined) return "the data fee of the chain could not be read";
  const outputLength = result === undefined ? 0 : size(result.output);
  const terms = { callbackGas: request.callbackGas, outputLength };
  const least = leastDeliveryFee(terms, { gasPrice, dataFee }, policy);
  if (request.deliveryFee >= least) return undefined;
  return `its delivery fee is ${formatAmount(request.deliveryFee)}, gas and margin ask for ${formatAmount(least)}`;
}
