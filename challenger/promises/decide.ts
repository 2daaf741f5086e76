/** What to do about one promise that is wrong, from its state at one block. Pure. Amounts in wei, times in seconds. */
import type { Address } from "viem";
import type { AccountWord, BatchWord } from "../../protocol/chain/promises/reads.ts";
import { min } from "../../protocol/rules/promises/money.ts";
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
  /** another wrong leaf of the batch is open or waits; said only where it is decisive */
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
  /** of its prover's stake, what wrong promises take that are claims or wait to be */
  readonly rivalBonds: bigint;
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
  /** isForStake: claims and batches of its prover that are over may hold it */
  | { readonly kind: "wait"; readonly reason: string; readonly isForStake?: true }
  | { readonly kind: "over"; readonly ending: PromiseEnding };

/** What is done about a promise; while it waits for stake, claims and batches that are over are closed and released. */
export type PromiseMoveKind = Exclude<PromiseDecision["kind"], "wait" | "over"> | "release";

const over = (ending: PromiseEnding): PromiseDecision => ({ kind: "over", ending });
const wait = (reason: string): PromiseDecision => ({ kind: "wait", reason });
const waitForStake = (reason: string): PromiseDecision => ({ kind: "wait", reason, isForStake: true });

/** Of a promise that is a claim: the claim itself is disputed as any other. */
function afterOpening({ status, opener, own, claim }: Opened): PromiseDecision {
  if (status === "CLOSED") return over(claim === "final" ? "final" : "fallen");
  if (claim === "final") return over("final");
  if (claim !== "fallen") return wait("for the end of its claim");
  // The deposit is its opener's.
  return opener === own ? { kind: "close" } : over("fallen");
}

/** It is a claim, or waits to be one. */
export const stands = ({ status }: { readonly status: PromiseStatus }): boolean =>
  status === "OPEN" || status === "QUEUED";

const isStakeThere = ({ batch, account, bond }: Pick<LeafFacts, "batch" | "account" | "bond">): boolean =>
  account.free + account.leaving + (batch.idle > 0 ? batch.bond : 0n) >= bond;

/** Whether a leaf that is opened now is a claim at once. */
export const opensAtOnce = (facts: Pick<LeafFacts, "batch" | "account" | "bond">): boolean =>
  isStakeThere(facts) && facts.batch.queued === 0;

/** What the opening of one more leaf puts down at most, in tenths of a bond, where its batch falls in any case. The leaf
 *  that is to fell its batch has no such limit: whoever keeps others open would buy a wrong batch's finality by it. */
const MOST_FOR_SHARE = 2n;
/** Deposits of one leaf that count as filed within an hour. What is above them a cheat makes dear for little, by right
 *  leaves that wait; it counts as at risk. */
const MOST_COUNTED = 3n;
/** Of a signed claim whose bond is above its prover's stake, in tenths of that stake: a rise of fees makes it so. */
const MOST_OF_STAKE = 2n;

/** Deposits that a leaf takes that is opened now: they grow with the leaves that are open. */
export const depositsFor = ({ open }: Pick<BatchWord, "open">): bigint => BigInt(1 + Math.floor(open / 2));

export const countedFor = (batch: Pick<BatchWord, "open">): bigint => min(depositsFor(batch), MOST_COUNTED);

/** Whether it matters that another wrong leaf of the batch stands. */
export const asksForDoubt = (facts: Pick<LeafFacts, "status" | "batch" | "account" | "bond">): boolean =>
  facts.status === "NONE" && (!opensAtOnce(facts) || depositsFor(facts.batch) > MOST_FOR_SHARE);

/** One wrong leaf fells its batch, and each further one takes a bond: they are opened as far as the stake goes, few at
 *  once, but for the one that is to fell it. A leaf that would only wait is opened if no other wrong one stands for the
 *  batch. */
export function decideLeaf(facts: LeafFacts): PromiseDecision {
  const { status, now, batch, isDoubted, opener, own } = facts;
  switch (status) {
    case "OPEN":
    case "CLOSED":
      return afterOpening(facts);
    case "NONE":
      if (now >= batch.windowEnd) return over(batch.fallen ? "fallen" : "unopened");
      if (!opensAtOnce(facts)) {
        if (batch.fallen) return wait("for stake: the batch has fallen");
        if (isDoubted) return wait("for the other wrong leaves of its batch");
      }
      if ((batch.fallen || isDoubted) && depositsFor(batch) > MOST_FOR_SHARE)
        return wait("for leaves of its batch to be over: their number makes its deposit too large");
      return { kind: "open" };
    case "QUEUED":
      if (batch.fallen) return opener === own ? { kind: "dropLeaf" } : over("fallen");
      return isStakeThere(facts) ? { kind: "nextLeaf" } : waitForStake("for stake");
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
      if (bond > MOST_OF_STAKE * stake)
        return wait("for lower fees: its bond is above twice all that its prover has");
      // What they leave of the stake is what one more could take; its deposit and gas would be spent for nothing.
      if (facts.rivalBonds + leastBond > stake)
        return wait(
          "for the ends of other wrong promises, whose bonds leave too little of its prover's stake",
        );
      // Too dear for now: showing it keeps it, and as long as it waits no stake leaves.
      return { kind: "open" };
    case "QUEUED": {
      if (stake < leastBond) return opener === own ? { kind: "takeBack" } : over("unopened");
      if (isHead) return home >= bond ? { kind: "openNext" } : waitForStake("for stake");
      if (headBond === undefined) return wait("for the head of its queue to be read");
      if (home >= headBond) return { kind: "openNext" };
      return mayPass(facts, home) ? { kind: "passNext" } : waitForStake("behind the head of its queue");
    }
  }
}

/** A pass needs all stake at home, a head that is too dear, and patience with it. */
function mayPass({ account, bond, now, patience }: SignedFacts, home: bigint): boolean {
  if (account.away > 0n || account.slots > 0n || bond > home) return false;
  return account.hotSince === 0 || now >= account.hotSince + patience;
}
