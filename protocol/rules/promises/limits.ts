/** What the Promises contract fixes (docs/PROMISES.md). */
import type { SignedClaim } from "./signed-claim.ts";

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
export const endOf = ({ issuedAt, expiry }: Pick<SignedClaim, "issuedAt" | "expiry">): number =>
  Math.min(expiry, issuedAt + PROMISE_LIMITS.maxLife);

/** A base fee so many times today's still lets a promise open at once: whoever accepts one asks for as much. */
export const FEE_ROOM = 4n;
