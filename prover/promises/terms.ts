/** What an operator chooses about signed answers, and whether one may be signed now. */
import type { Address } from "viem";
import { formatAmount } from "../../base/amounts.ts";
import { BaseError } from "../../base/errors.ts";
import type { Head } from "../../protocol/chain/follower.ts";
import type { AccountWord } from "../../protocol/chain/promises/reads.ts";
import { bondsOf, gasPriceRange } from "../../protocol/rules/money.ts";
import { FEE_ROOM, PROMISE_LIMITS } from "../../protocol/rules/promises/limits.ts";
import { max } from "../../protocol/rules/promises/money.ts";
import { MAX_PRESENTED_BYTES } from "../../protocol/rules/promises/presented.ts";
import { type GameConstants, LANE } from "../../protocol/rules/types.ts";
import type { ModelWord } from "../../protocol/rules/words.ts";

export interface SigningTerms {
  /** wei that every signed claim names as its least bond */
  readonly signBond: bigint;
  /** free stake below which nothing is signed, wei */
  readonly minFreeStake: bigint;
  /** longest that an answer waits for its batch, seconds; absent: callers, who pay no gas, get no batches */
  readonly batchSeconds?: number | undefined;
  /** most leaves of a batch */
  readonly batchSize: number;
  /** in which leaves can be opened, seconds; absent: the shortest */
  readonly batchWindow?: number | undefined;
  /** wei that stand for each leaf */
  readonly leafBond: bigint;
}

/** What the chain says at the newest block about signing. */
export interface StakeState {
  readonly head: Head;
  readonly baseFee: bigint;
  readonly prover: Address;
  readonly account: AccountWord;
  /** last second in which what the signing key signs binds the prover */
  readonly boundUntil: number;
}

/** Why nothing is signed for a model now; undefined: it may be. Pure.
 *  @param state undefined: chain and journal are not compared yet
 *  @param word of the model on the chain; undefined: it is not registered */
export function signingRefusal(
  state: StakeState | undefined,
  word: ModelWord | undefined,
  constants: GameConstants,
  terms: SigningTerms,
): BaseError | undefined {
  if (state === undefined) return refusal("its journal is not compared with the chain yet");
  if (word === undefined) return refusal("the model is not registered on this chain");
  if ((word.lanes & LANE.BOND) === 0) return refusal("the model has no BOND lane");
  const { account, boundUntil, head, baseFee } = state;
  if (boundUntil < head.timestamp)
    return refusal(`its key is bound until ${boundUntil}, and the time is ${head.timestamp}`);
  if (account.head !== undefined) return refusal(`the signed claim ${account.head} waits for stake`);
  const least = leastFree(word, baseFee, constants, terms);
  if (account.free < least)
    return refusal(
      `its free stake is ${formatAmount(account.free)}, at least ${formatAmount(least)} is needed`,
    );
  return undefined;
}

/** Free stake below which nothing is signed for a model, wei. */
function leastFree(
  { depth }: ModelWord,
  baseFee: bigint,
  constants: GameConstants,
  { signBond, minFreeStake }: SigningTerms,
): bigint {
  const gasPrice = gasPriceRange(constants, FEE_ROOM * baseFee).least;
  return max(bondsOf(constants, { gasPrice, depth, minBond: signBond, attempt: 0 }).bond, minFreeStake);
}

/** Free stake that batches may set aside now so that answers of every model are signed on, wei; below 0 where they are
 *  not. Pure. */
export function spareStake(
  { account, baseFee }: StakeState,
  words: readonly ModelWord[],
  constants: GameConstants,
  terms: SigningTerms,
): bigint {
  return account.free - words.map((word) => leastFree(word, baseFee, constants, terms)).reduce(max, 0n);
}

/** What a batch sets aside until it is over: slots of B, wei. Pure.
 *  @param count leaves @param leafBond wei */
export function slotsOf(
  { depth }: ModelWord,
  { count, leafBond }: { readonly count: number; readonly leafBond: bigint },
  baseFee: bigint,
  constants: GameConstants,
): bigint {
  const gasPrice = gasPriceRange(constants, baseFee).least;
  const { bond } = bondsOf(constants, { gasPrice, depth, minBond: leafBond * BigInt(count), attempt: 0 });
  return BigInt(PROMISE_LIMITS.slots) * bond;
}

/** @throws BaseError SIGNED_CLAIM_TOO_LARGE */
export function requireOpenable(bytes: number): void {
  if (bytes <= MAX_PRESENTED_BYTES) return;
  throw new BaseError({
    code: "SIGNED_CLAIM_TOO_LARGE",
    shortMessage: `Input and output have ${bytes} bytes, of which a transaction has room for ${MAX_PRESENTED_BYTES}.`,
    nextStep: "Ask for an output that is final instead.",
    details: { bytes, limit: MAX_PRESENTED_BYTES },
  });
}

const refusal = (why: string): BaseError =>
  new BaseError({
    code: "SIGNING_PAUSED",
    shortMessage: `This node signs nothing for this model now: ${why}.`,
    nextStep: "Ask again later, or another node.",
    retryable: true,
  });
