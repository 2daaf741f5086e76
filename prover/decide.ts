/** What to do about requests and own claims, from their state at one block. Pure. All times in seconds, money in wei. */
import type { Address } from "viem";
import { formatAmount } from "../base/amounts.ts";
import type { ClaimEntry, RequestEntry } from "../protocol/chain/claim-index.ts";
import { isFinal } from "../protocol/rules/machine.ts";
import { bondsOf, defenceGas, gasPriceRange, MAX_AMOUNT } from "../protocol/rules/money.ts";
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
import { owedAnswers } from "./owed.ts";
import type { Method } from "./plan/plan.ts";
import { instanceCount } from "./proof/ezkl/instances.ts";

/** What an operator of a prover chooses. */
export interface Policy {
  /** how far a fee must lie above the gas that it pays for */
  readonly marginPercent: number;
  /** most wei in own bonds at once */
  readonly maxBonds: bigint;
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

type SkipCode =
  | "MODEL_NOT_SERVED"
  | "NO_LANE"
  | "EXPIRED"
  | "EXCLUSIVE"
  | "WINDOW_TOO_LONG"
  | "OWN_CLAIM_FELL"
  | "FEE_TOO_LOW"
  | "BOND_TOO_HIGH"
  | "BONDS_AT_LIMIT"
  | "BALANCE_TOO_LOW";

/** Gas of whole transactions, above what was measured on a local chain; test/integration/prover.test.ts holds them to it. */
export const GAS = {
  claim: 70_000n,
  perOutputByte: 40n,
  finalize: 75_000n,
  settle: 150_000n,
  settleProof: 320_000n,
  perSignal: 7_300n,
  settleEzkl: 760_000n,
  perInstance: 900n,
  deliver: 120_000n,
} as const;

/** Gas of a settlement by ezkl. @param model elements of its inputs and outputs */
export const ezklSettleGas = (model: { readonly inputs: number; readonly outputs: number }): bigint =>
  GAS.settleEzkl + GAS.perInstance * BigInt(instanceCount(model));

/** Gas that a claim costs who makes it, if nobody challenges it. */
export const claimGas = ({ outputLength }: Pick<ModelTerms, "outputLength">): bigint =>
  GAS.claim + GAS.perOutputByte * BigInt(outputLength) + GAS.finalize;

/** Least fee of a claim at a gas price. */
export const leastFee = (model: ModelTerms, gasPrice: bigint, policy: Policy): bigint =>
  withMargin(claimGas(model) * gasPrice, policy);

/** Least fee of a settlement at a gas price. */
export const leastSettleFee = ({ gas }: TruthTerms, gasPrice: bigint, policy: Policy): bigint =>
  withMargin(gas * gasPrice, policy);

/** Least fee for a delivery. */
export const leastDeliveryFee = (callbackGas: number, gasPrice: bigint, policy: Policy): bigint =>
  withMargin((GAS.deliver + BigInt(callbackGas)) * gasPrice, policy);

export const withMargin = (wei: bigint, { marginPercent }: Policy): bigint =>
  (wei * BigInt(100 + marginPercent)) / 100n;

/** Price to name in a claim: room for the base fee to rise by half before the claim is mined. That is at most one and
 *  a half times the least price, and twice the least is allowed. */
export const claimGasPrice = (constants: GameConstants, baseFee: bigint): bigint =>
  gasPriceRange(constants, (baseFee * 3n) / 2n).least;

/** Decides on open requests, the oldest first: what one takes of balance and limit is not there for the next.
 *  Of the lanes that a request accepts the one that costs the least gas is taken; a bond that cannot be put up leaves
 *  the truths. */
export function decideRequests(
  requests: readonly RequestEntry[],
  models: ReadonlyMap<ModelId, ModelTerms>,
  state: ProverState,
  policy: Policy,
): Map<RequestId, RequestDecision> {
  const budget = new BondBudget(state, policy);
  const decisions = new Map<RequestId, RequestDecision>();
  const oldestFirst = [...requests].sort((a, b) => Number(a.block.number - b.block.number));
  for (const entry of oldestFirst) {
    const model = models.get(entry.request.modelId);
    const decision =
      model === undefined ? notServed(entry) : decideRequest(entry, model, state, policy, budget);
    decisions.set(entry.id, decision);
  }
  return decisions;
}

function decideRequest(
  entry: RequestEntry,
  model: ModelTerms,
  state: ProverState,
  policy: Policy,
  budget: BondBudget,
): RequestDecision {
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
  const settle = (): RequestDecision => {
    const least = leastSettleFee(truth, state.gasPrice, policy);
    if (request.fee < least) return feeTooLow(request.fee, least, state.gasPrice);
    return budget.pay(truth) ?? { kind: "settle", truth };
  };
  if (!canBond) return settle();
  const [cheaper, dearer] = truth.gas < claimGas(model) ? [settle, bond] : [bond, settle];
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

/** What the account must keep for its live claims: whoever holds no gas for a defence has lost the bond. */
export const defenceReserve = ({ live, constants }: Pick<ProverState, "live" | "constants">): bigint =>
  live.reduce((sum, { depth, gasPrice }) => sum + defenceGas(constants, depth) * gasPrice, 0n);

/** What is left of the balance and of the limit on bonds while requests are decided on. */
class BondBudget {
  readonly #state: ProverState;
  readonly #policy: Policy;
  readonly #gasPrice: bigint;
  #bonded = 0n;
  #spent = 0n;

  constructor(state: ProverState, policy: Policy) {
    this.#state = state;
    this.#policy = policy;
    this.#gasPrice = claimGasPrice(state.constants, state.baseFee);
    this.#bonded = state.live.reduce((sum, { bond }) => sum + bond, 0n);
    this.#spent = defenceReserve(state);
  }

  settleCost(gas: bigint): bigint {
    return gas * this.#state.gasPrice;
  }

  /** Takes the gas of a settlement. @returns a refusal if it is not there */
  pay({ gas }: TruthTerms): RequestDecision | undefined {
    const needed = this.settleCost(gas);
    const left = this.#state.balance - this.#spent;
    if (needed > left) {
      return skip(
        "BALANCE_TOO_LOW",
        `a settlement costs ${formatAmount(needed)}, the balance has ${formatAmount(left)} for it`,
      );
    }
    this.#spent += needed;
    return undefined;
  }

  /** Takes bond and gas of a defence, or refuses. */
  bond({ request, attempt }: RequestEntry, { depth }: ModelTerms): RequestDecision {
    const { constants, balance } = this.#state;
    const gasPrice = this.#gasPrice;
    const { bond } = bondsOf(constants, { gasPrice, depth, minBond: request.minBond, attempt });
    const needed = bond + defenceGas(constants, depth) * gasPrice;
    const amounts = { bond, bonded: this.#bonded, needed, left: balance - this.#spent };
    const limit = unaffordable(amounts, this.#policy);
    if (limit !== undefined) return limit;
    this.#bonded += bond;
    this.#spent += needed;
    return { kind: "claim", gasPrice, bond };
  }
}

const skip = (code: SkipCode, reason: string): RequestDecision => ({ kind: "skip", code, reason });

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
  { now, own, gasPrice, fallen }: ProverState,
  policy: Policy,
): RequestDecision | undefined {
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
  const least = leastFee(model, gasPrice, policy);
  return fee >= least ? undefined : feeTooLow(fee, least, gasPrice);
}

function unaffordable(
  { bond, bonded, needed, left }: { bond: bigint; bonded: bigint; needed: bigint; left: bigint },
  { maxBonds }: Policy,
): RequestDecision | undefined {
  if (bond > MAX_AMOUNT)
    return skip(
      "BOND_TOO_HIGH",
      `its bond would be ${formatAmount(bond)}, 96 bits hold ${formatAmount(MAX_AMOUNT)}`,
    );
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
  { request, status, delivered }: RequestEntry,
  { now, gasPrice, settledAt }: { now: number; gasPrice: bigint; settledAt: number },
  policy: Policy,
): string | undefined {
  if (status !== "done") return "the request is not done";
  if (request.callback === ZERO_ADDRESS) return "it has no callback";
  if (delivered) return "it is delivered";
  if (settledAt !== 0 && now >= settledAt + LIMITS.reclaimDeliveryAfter)
    return "its delivery fee can be reclaimed";
  const least = leastDeliveryFee(request.callbackGas, gasPrice, policy);
  if (request.deliveryFee >= least) return undefined;
  return `its delivery fee is ${formatAmount(request.deliveryFee)}, gas and margin ask for ${formatAmount(least)}`;
}
