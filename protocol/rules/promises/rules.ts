/** The rules from which the safety of promises follows, as values: tests drop a condition or replace a rule, and see
 *  that games then lose (docs/PROMISES.md, "What each rule is for"). Times in seconds, amounts in wei. */
import type { Address } from "viem";
import { gasPriceRange } from "../money.ts";
import { type GameConstants, LANE } from "../types.ts";
import { endOf, PROMISE_LIMITS, turnSeconds } from "./limits.ts";
import { CONDITIONS, type Condition, type PromiseResult } from "./moves.ts";
import type { SignedClaim } from "./signed-claim.ts";

export interface PromiseRules {
  /** Conditions that no move asks for. */
  readonly dropped: ReadonlySet<Condition>;
  /** Last second in which a signed claim can be shown for the first time. */
  end(claim: SignedClaim): number;
  /** Window of an opened signed claim. */
  window(claim: SignedClaim, now: number, answerSeconds: number): number;
  /** Window of an opened leaf, and the shortest of a batch. */
  leafWindow(answerSeconds: number): number;
  readonly exitNotice: number;
  /** From a promise that is taken back to the next exit. */
  noticeAfterTakingBack(answerSeconds: number): number;
  /** How long a head is too dear before it is passed. */
  patience(answerSeconds: number): number;
  /** hotSince once the head is another one. */
  hotAfterChange(hotSince: number): number;
  /** What was shown in time can be opened at any time after it was taken back. */
  readonly staysShown: boolean;
  /** A promise waits its turn behind those that are queued. */
  readonly waitsBehindQueue: boolean;
  /** A leaf waits behind the queued leaves of its batch. */
  readonly waitsBehindLeaves: boolean;
  /** A queued leaf keeps its batch from being final. */
  readonly queuedLeafIsOpen: boolean;
  /** Gas price of a claim: nobody names it. */
  gasPrice(constants: GameConstants, baseFee: bigint): bigint;
  /** The request's salt. */
  salt(counter: bigint, claim: { readonly salt: bigint }): bigint;
  /** Lanes of a request, of those that its model has. */
  lanes(modelLanes: number): number;
  /** Who may answer for a claim besides this contract. */
  operator(prover: Address, key: Address): Address;
  /** Bonds set aside when a batch is posted. */
  readonly slots: number;
  /** Deposit for the next leaf, when so many are open. @param share Assay's ticket bond */
  leafDeposit(share: bigint, open: number): bigint;
  /** Of the deposit on a promise that was right, to its prover; the rest burns. */
  depositToProver(deposit: bigint): bigint;
  /** Closing a claim brings Assay's ether here. */
  readonly closingPulls: boolean;
  /** What a bond took from a stake that was leaving goes on leaving. */
  readonly leavingComesBack: boolean;
}

export const PROMISE_RULES: PromiseRules = {
  dropped: new Set(),
  end: endOf,
  // INVARIANT: past its own end, or opening a promise early would end its life early.
  window: (claim, now, answerSeconds) => Math.max(endOf(claim) - now, 0) + turnSeconds(answerSeconds),
  leafWindow: turnSeconds,
  exitNotice: PROMISE_LIMITS.exitNotice,
  noticeAfterTakingBack: turnSeconds,
  patience: turnSeconds,
  hotAfterChange: () => 0,
  ...{ staysShown: true, waitsBehindQueue: true, waitsBehindLeaves: true },
  queuedLeafIsOpen: true,
  gasPrice: (constants, baseFee) => gasPriceRange(constants, baseFee).least,
  // INVARIANT: a counter, or a right promise could occupy the request id of a wrong one.
  salt: (counter) => counter,
  // INVARIANT: without PROOF, whose key may have a trapdoor.
  lanes: (modelLanes) => modelLanes & ~LANE.PROOF,
  // INVARIANT: not the key, which would stay operator after it was unbound; it answers by commitTrace.
  operator: (prover) => prover,
  slots: PROMISE_LIMITS.slots,
  leafDeposit: (share, open) => share * BigInt(1 + Math.floor(open / 2)),
  depositToProver: (deposit) => deposit / 2n,
  ...{ closingPulls: true, leavingComesBack: true },
};

/** The refusal of the first condition that does not hold. */
export function firstUnmet(
  rules: PromiseRules,
  conditions: readonly (readonly [Condition, boolean])[],
): PromiseResult | undefined {
  const unmet = conditions.find(([condition, holds]) => !holds && !rules.dropped.has(condition));
  return unmet && { ok: false, refusal: CONDITIONS[unmet[0]] };
}
