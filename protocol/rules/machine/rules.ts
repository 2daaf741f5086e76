/** Deadlines and quotas, from which safety follows (docs/PROTOCOL.md, section 4). All times in seconds.
 *
 *  They are values of one object so that a test can replace one and see that the game then breaks. */
import type { Address } from "viem";
import type { ClaimWord } from "../words.ts";
import type { ClaimState } from "./state.ts";

export interface Rules {
  /** L: how long a dispute can last from its last ticket on; a challenger and a prover who both use every
   *  second of every step need exactly this. */
  disputeSeconds(depth: number, answerSeconds: number): number;
  /** First second in which an ACTIVE claim with nothing pending is final. */
  finalAt(word: ClaimWord, answerSeconds: number): number;
  /** Last second in which a demand is taken: its answer and one more answer time still fit before hardEnd. */
  lastDemandAt(word: ClaimWord, answerSeconds: number): number;
  /** Demands that count against the owner's quota of d. */
  demandsUsed(claim: ClaimState, owner: Address): number;
  /** lastEvent after a reveal: who waited for the answer gets T to act on it. */
  lastEventAfterReveal(word: ClaimWord, now: number): number;
}

export const RULES: Rules = {
  disputeSeconds: (depth, answerSeconds) => (2 * depth + 2) * answerSeconds + 1,
  finalAt: ({ windowEnd, lastEvent, hardEnd }, answerSeconds) =>
    lastEvent === 0 ? windowEnd : Math.max(windowEnd, Math.min(lastEvent + answerSeconds + 1, hardEnd)),
  lastDemandAt: ({ hardEnd }, answerSeconds) => hardEnd - 2 * answerSeconds - 1,
  // INVARIANT: a quota of its own for each ticket, or a sybil ticket could use up the honest one's.
  demandsUsed: ({ tickets }, owner) => tickets.get(owner)?.demands ?? 0,
  lastEventAfterReveal: (_word, now) => now,
};

/** True once nobody can change the claim's outcome any more. A view of the state: needs no transaction. */
export function isFinal(word: ClaimWord, answerSeconds: number, now: number, rules: Rules = RULES): boolean {
  if (word.state !== "ACTIVE") return word.state === "FINAL";
  return word.pending === 0 && now >= rules.finalAt(word, answerSeconds);
}

/** The daemon's rule: whoever else is disputing, a ticket of this challenger must be there by this second. */
export function ownTicketBy(word: ClaimWord, answerSeconds: number): number {
  return word.windowEnd - 2 * answerSeconds;
}

/** Second by which a challenger must have acted on the last event or lose its turn, once no answer is owed. */
export function actBy(word: ClaimWord, answerSeconds: number, rules: Rules = RULES): number {
  return rules.finalAt(word, answerSeconds) - 1;
}
