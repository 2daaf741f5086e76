/** What to do about one promise that is wrong, from its state at one block. Pure. Amounts in wei, times in seconds. */
import type { Address } from "viem";
import type { AccountWord, BatchWord } from "../../protocol/chain/promises/reads.ts";
import { type PromiseStatus, stakeOf } from "../../protocol/rules/promises/state.ts";

/** How its claim in Assay stands; undefined: it is no claim, or not seen as one yet. */
export type ClaimEnd = "active" | "final" | "fallen" | undefined;

export interface Opened {
  readonly status: PromiseStatus;
  /** absent: nobody opened it */
  readonly opener?: Address;
  readonly own: Address;
  readonly claim: ClaimEnd;
}

export interface LeafFacts extends Opened {
  readonly now: number;
  readonly batch: BatchWord;
  readonly account: AccountWord;
  /** of the leaf's claim, if it is opened now */
  readonly bond: bigint;
  /** another wrong leaf of the batch is open or waits */
  readonly isDoubted: boolean;
}

export interface SignedFacts extends Opened {
  readonly now: number;
  readonly issuedAt: number;
  /** last second in which it can be shown */
  readonly end: number;
  /** it was opened in time once */
  readonly shown: boolean;
  readonly account: AccountWord;
  readonly isHead: boolean;
  /** of its claim, if it is opened now */
  readonly bond: bigint;
  /** of the claim of the queue's head; present where that is another one */
  readonly headBond?: bigint;
  /** what its claim takes when fees are lowest */
  readonly leastBond: bigint;
  /** T */
  readonly answerSeconds: number;
  /** W0 */
  readonly patience: number;
}

/** `unopened`: it can bind nobody any more, or its prover has no stake left for it. */
export type PromiseEnding = "fallen" | "final" | "unopened";

export type PromiseDecision =
  | { readonly kind: "open" | "takeBack" | "nextLeaf" | "dropLeaf" | "close" }
  /** of the queue's head, which may be another's */
  | { readonly kind: "openNext" | "passNext" }
  | { readonly kind: "wait"; readonly reason: string }
  | { readonly kind: "over"; readonly ending: PromiseEnding };

const over = (ending: PromiseEnding): PromiseDecision => ({ kind: "over", ending });
const wait = (reason: string): PromiseDecision => ({ kind: "wait", reason });

/** Of a promise that is a claim: the claim itself is disputed as any other. */
function afterOpening({ status, opener, own, claim }: Opened): PromiseDecision {
  if (status === "CLOSED") return over(claim === "final" ? "final" : "fallen");
  if (claim === "final") return over("final");
  if (claim !== "fallen") return wait("for the end of its claim");
  // The deposit is its opener's.
  return opener === own ? { kind: "close" } : over("fallen");
}

/** One wrong leaf fells its batch, and each further one takes a bond: they are opened as far as the stake goes. A leaf
 *  that would only wait is opened if no other wrong one stands for the batch. */
export function decideLeaf(facts: LeafFacts): PromiseDecision {
  const { status, now, batch, account, bond, isDoubted, opener, own } = facts;
  const slot = batch.idle > 0 ? batch.bond : 0n;
  const isStakeThere = account.free + account.leaving + slot >= bond;
  switch (status) {
    case "OPEN":
    case "CLOSED":
      return afterOpening(facts);
    case "NONE":
      if (now >= batch.windowEnd) return over(batch.fallen ? "fallen" : "unopened");
      if (isStakeThere && batch.queued === 0) return { kind: "open" };
      if (batch.fallen) return wait("for stake: the batch has fallen");
      return isDoubted ? wait("for the other wrong leaves of its batch") : { kind: "open" };
    case "QUEUED":
      if (batch.fallen) return opener === own ? { kind: "dropLeaf" } : over("fallen");
      return isStakeThere ? { kind: "nextLeaf" } : wait("for stake");
  }
}

export function decideSigned(facts: SignedFacts): PromiseDecision {
  const { status, now, end, shown, account, bond, headBond, isHead, leastBond, opener, own } = facts;
  const isLate = now > end - facts.answerSeconds;
  const home = account.free + account.leaving;
  const stake = stakeOf(account);
  switch (status) {
    case "OPEN":
    case "CLOSED":
      return afterOpening(facts);
    case "NONE":
      if (now > end && (!shown || stake < leastBond)) return over("unopened");
      if (now < facts.issuedAt) return wait("until it is issued");
      if (stake < leastBond || (bond > stake && !isLate))
        return wait("for stake: its bond is above all that its prover has");
      // Too dear for now: showing it keeps it, and as long as it waits no stake leaves.
      return { kind: "open" };
    case "QUEUED": {
      if (stake < leastBond) return opener === own ? { kind: "takeBack" } : over("unopened");
      if (isHead) return home >= bond ? { kind: "openNext" } : wait("for stake");
      if (headBond === undefined) return wait("for the head of its queue to be read");
      if (home >= headBond) return { kind: "openNext" };
      return mayPass(facts, home) ? { kind: "passNext" } : wait("behind the head of its queue");
    }
  }
}

/** A pass needs all stake at home, a head that is too dear, and patience with it. */
function mayPass({ account, bond, now, patience }: SignedFacts, home: bigint): boolean {
  if (account.away > 0n || account.slots > 0n || bond > home) return false;
  return account.hotSince === 0 || now >= account.hotSince + patience;
}
