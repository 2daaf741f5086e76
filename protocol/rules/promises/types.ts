/** Types of promises: signed claims, batches, and what the contract fixes (docs/PROMISES.md). */
import type { Address, Hex } from "viem";
import type { ModelId } from "../types.ts";

declare const brand: unique symbol;
type Branded<Name extends string> = Hex & { readonly [brand]: Name };

/** EIP-712 digest of a signed claim. */
export type Digest = Branded<"Digest">;
/** keccak256 of chain, contract and what the batch holds. */
export type BatchId = Branded<"BatchId">;

/** A prover's statement that costs no gas: it opens as a claim when somebody doubts it. */
export interface SignedClaim {
  readonly prover: Address;
  readonly modelId: ModelId;
  readonly inputHash: Hex;
  readonly outputHash: Hex;
  /** who asked; no rule reads it */
  readonly requester: Address;
  /** seconds */
  readonly issuedAt: number;
  readonly expiry: number;
  /** wei */
  readonly minBond: bigint;
  /** tells apart what is signed twice */
  readonly salt: bigint;
}

/** Times in seconds. */
export const PROMISE_LIMITS = {
  /** Longest time from a signed claim's issue to its end. */
  maxLife: 86_400,
  /** From the announcement of an exit to the exit: longer than any promise that counted on the stake lives, and than
   *  the longest batch that may stand before it. */
  exitNotice: 8 * 86_400,
  maxBatchWindow: 7 * 86_400,
  maxLeaves: 1_024,
  /** Bonds that a batch sets aside, so that as many leaves are disputed at once. */
  slots: 2,
} as const;

/** W0: the time in which whoever watches has its turns.
 *  @param answerSeconds T */
export const turnSeconds = (answerSeconds: number): number => 4 * answerSeconds;

/** Last second in which a signed claim can be shown. */
export const endOf = ({ issuedAt, expiry }: SignedClaim): number =>
  Math.min(expiry, issuedAt + PROMISE_LIMITS.maxLife);
