/** What to do about requests and own claims, from their state at one block. Pure. All times in seconds, money in wei. */
import type { Address } from "viem";
import type { ClaimEntry, RequestEntry } from "../protocol/chain/book.ts";
import { isFinal } from "../protocol/machine.ts";
import { bondsOf, defenceGas, gasPriceRange, MAX_AMOUNT } from "../protocol/money.ts";
import {
  type GameConstants,
  LANE,
  LIMITS,
  type ModelId,
  type RequestId,
  ZERO_ADDRESS,
} from "../protocol/terms.ts";
import type { ClaimWord } from "../protocol/words.ts";

/** What an operator of a prover chooses. */
export interface Policy {
  /** how far a fee must lie above the gas that it pays for */
  readonly marginPercent: number;
  /** most wei in own bonds at once */
  readonly maxBonds: bigint;
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
}

/** The prover and the chain at one block. */
export interface Standing {
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
  /** requests on which an own claim fell */
  readonly fallen: ReadonlySet<RequestId>;
}

export type RequestDecision =
  | { readonly kind: "claim"; readonly gasPrice: bigint; readonly bond: bigint }
  | { readonly kind: "skip"; readonly code: SkipCode; readonly reason: string };

export type SkipCode =
  | "MODEL_NOT_SERVED"
  | "LANE_NOT_BOND"
  | "EXPIRED"
  | "EXCLUSIVE"
  | "WINDOW_TOO_LONG"
  | "OWN_CLAIM_FELL"
  | "FEE_TOO_LOW"
  | "BOND_TOO_HIGH"
  | "BONDS_AT_LIMIT"
  | "BALANCE_TOO_LOW";

/** Gas of whole transactions, above what was measured on a local chain; test/integration/prover.test.ts holds them to it. */
export const GAS = { claim: 70_000n, perOutputByte: 40n, finalize: 75_000n, deliver: 120_000n } as const;

/** Gas that a claim costs who makes it, if nobody challenges it. */
export const claimGas = ({ outputLength }: Pick<ModelTerms, "outputLength">): bigint =>
  GAS.claim + GAS.perOutputByte * BigInt(outputLength) + GAS.finalize;

/** Least fee at a gas price. */
export const leastFee = (model: ModelTerms, gasPrice: bigint, { marginPercent }: Policy): bigint =>
  (claimGas(model) * gasPrice * BigInt(100 + marginPercent)) / 100n;

/** Least fee for a delivery. */
export const leastDeliveryFee = (callbackGas: number, gasPrice: bigint, { marginPercent }: Policy): bigint =>
  ((GAS.deliver + BigInt(callbackGas)) * gasPrice * BigInt(100 + marginPercent)) / 100n;

/** Price to name in a claim: room for the base fee to rise by half before the claim is mined. */
export function claimGasPrice(constants: GameConstants, baseFee: bigint): bigint {
  const { least, greatest } = gasPriceRange(constants, baseFee);
  const { least: later } = gasPriceRange(constants, (baseFee * 3n) / 2n);
  return later < greatest ? max(later, least) : greatest;
}

/** Decides on open requests, the oldest first: what one takes of balance and limit is not there for the next. */
export function decideRequests(
  requests: readonly RequestEntry[],
  models: ReadonlyMap<ModelId, ModelTerms>,
  standing: Standing,
  policy: Policy,
): Map<RequestId, RequestDecision> {
  const gasPrice = claimGasPrice(standing.constants, standing.baseFee);
  let bonded = 0n;
  let spent = 0n;
  for (const claim of standing.live) {
    bonded += claim.bond;
    // Whoever holds no gas for its defence has lost its bond.
    spent += defenceGas(standing.constants, claim.depth) * claim.gasPrice;
  }
  const decisions = new Map<RequestId, RequestDecision>();
  const oldestFirst = [...requests].sort((a, b) => Number(a.block.number - b.block.number));
  for (const entry of oldestFirst) {
    const model = models.get(entry.request.modelId);
    const refusal = model === undefined ? notServed(entry) : unsuited(entry, model, standing, policy);
    if (model === undefined || refusal !== undefined) {
      decisions.set(entry.id, refusal ?? notServed(entry));
      continue;
    }
    const { minBond } = entry.request;
    const { bond } = bondsOf(standing.constants, {
      gasPrice,
      depth: model.depth,
      minBond,
      attempt: entry.attempt,
    });
    const needed = bond + defenceGas(standing.constants, model.depth) * gasPrice;
    const limit = unaffordable({ bond, bonded, needed, left: standing.balance - spent }, policy);
    decisions.set(entry.id, limit ?? { kind: "claim", gasPrice, bond });
    if (limit !== undefined) continue;
    bonded += bond;
    spent += needed;
  }
  return decisions;
}

const skip = (code: SkipCode, reason: string): RequestDecision => ({ kind: "skip", code, reason });

const notServed = ({ request }: RequestEntry): RequestDecision =>
  skip("MODEL_NOT_SERVED", `no folder here holds model ${request.modelId}`);

/** Why nobody with this key and these models should claim it. */
function unsuited(
  { id, request }: RequestEntry,
  model: ModelTerms,
  { now, own, gasPrice, fallen }: Standing,
  policy: Policy,
): RequestDecision | undefined {
  const { lanes, expiry, exclusiveProver, exclusiveUntil, window, fee } = request;
  if ((lanes & model.lanes & LANE.BOND) === 0)
    return skip("LANE_NOT_BOND", "it does not accept the BOND lane");
  if (now >= expiry) return skip("EXPIRED", `it expired at ${expiry}, the chain is at ${now}`);
  if (exclusiveProver !== ZERO_ADDRESS && exclusiveProver !== own && now <= exclusiveUntil) {
    return skip("EXCLUSIVE", `only ${exclusiveProver} may claim it until ${exclusiveUntil}`);
  }
  if (window > policy.maxWindow) {
    return skip("WINDOW_TOO_LONG", `its window is ${window} s, the limit here ${policy.maxWindow} s`);
  }
  // Whatever made it fall would make it fall again, at twice the bond.
  if (fallen.has(id)) return skip("OWN_CLAIM_FELL", "an own claim on it fell");
  const least = leastFee(model, gasPrice, policy);
  if (fee >= least) return undefined;
  return skip(
    "FEE_TOO_LOW",
    `its fee is ${fee} wei, gas and margin ask for ${least} wei at ${gasPrice} wei a gas`,
  );
}

function unaffordable(
  { bond, bonded, needed, left }: { bond: bigint; bonded: bigint; needed: bigint; left: bigint },
  { maxBonds }: Policy,
): RequestDecision | undefined {
  if (bond > MAX_AMOUNT)
    return skip("BOND_TOO_HIGH", `its bond would be ${bond} wei, 96 bits hold ${MAX_AMOUNT}`);
  if (bonded + bond > maxBonds) {
    return skip(
      "BONDS_AT_LIMIT",
      `its bond of ${bond} wei and the ${bonded} wei in bonds exceed ${maxBonds} wei`,
    );
  }
  if (needed <= left) return undefined;
  return skip(
    "BALANCE_TOO_LOW",
    `bond and gas of a defence are ${needed} wei, the balance has ${left} wei for it`,
  );
}

export type ClaimMove =
  | { readonly kind: "commitTrace"; readonly due: number }
  | { readonly kind: "reveal"; readonly position: bigint; readonly due: number }
  | { readonly kind: "finalize" };

/** What an own claim needs now: every answer that is owed and not late, or its end.
 *  @param word at the same block as the entry */
export function decideClaim(
  entry: ClaimEntry,
  word: ClaimWord,
  now: number,
  answerSeconds: number,
): ClaimMove[] {
  if (word.state !== "ACTIVE") return [];
  if (isFinal(word, answerSeconds, now)) return [{ kind: "finalize" }];
  const moves: ClaimMove[] = [];
  if (entry.trace === undefined && word.traceDeadline !== 0 && now <= word.traceDeadline) {
    moves.push({ kind: "commitTrace", due: word.traceDeadline });
  }
  for (const [position, { deadline, content }] of entry.demands) {
    if (content === undefined && now <= deadline) moves.push({ kind: "reveal", position, due: deadline });
  }
  return moves;
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
  return `its delivery fee is ${request.deliveryFee} wei, gas and margin ask for ${least} wei`;
}

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
