/** Stops a challenger from filing tickets when something is wrong that only a person can find out: a ticket that was
 *  lost, or more put at risk within an hour than it may ever lose at once, though what is won comes back. Then the fault
 *  may be its own node, model or machine, and each further ticket may cost its bond. What is begun goes on, and overdue
 *  claims are ended. The limit is an amount: whoever wants a challenger stopped by claims has to lose five times as much
 *  in bonds; by promises no less than a price that docs/OPERATIONS.md gives. */
import { fileURLToPath } from "node:url";
import { formatAmount } from "../base/amounts.ts";
import { BaseError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import type { ClaimId } from "../protocol/rules/types.ts";
import type { SchemaPart } from "../protocol/service/journal/database.ts";
import { type Notes, PASSING_NOTES } from "../protocol/service/journal/notes.ts";
import type { Observer, Subject } from "./notices.ts";

/** Turns what it kept in tables of its own into notes; to be opened after JOURNAL_SCHEMA. */
export const BREAKER_SCHEMA: SchemaPart = {
  name: "circuit-breaker",
  folder: fileURLToPath(new URL("store/circuit-breaker", import.meta.url)),
};

export interface BreakerOptions {
  /** more wei than this in tickets and deposits within an hour stop it, won ones included */
  readonly maxPerHour: bigint;
  readonly nowMs: () => number;
  readonly observe: Observer;
  readonly log: Logger;
}

export interface Tripped {
  readonly reason: string;
  /** ms since 1970 */
  readonly atMs: number;
}

const STOPPED =
  "no more tickets are filed: look with `assay challenger investigate`, then `assay challenger reset-breaker`";
const HOUR_MS = 3_600_000;

/** Its notes: one for each ticket or opening, with its wei until a person has looked; one for what came back of an
 *  opening; one for each ticket that was lost, which stops it once; and one that has the reason while it is stopped. Those
 *  of the hour are dropped a day later. A lost ticket is remembered for good, for its claim may be met again whenever the
 *  chain is read anew; each costs its bond, and none is filed after the first until a person has looked. */
const { ticket: TICKET, back: BACK } = PASSING_NOTES;
const LOST = "lost:";
const TRIPPED = "tripped";

/** So many parts of what came back count as one: that it came back is its node's word, which may be a lie. */
const PARTS_OF_BACK = 4n;

const idOf = (subject: Subject): string => ("claim" in subject ? subject.claim : subject.promise);

/** Remembers across restarts, and across the daemons of a key: a supervisor that starts the process again, or a standby
 *  that takes over, is no person who looked. */
export class CircuitBreaker {
  readonly #notes: Notes;
  readonly #options: BreakerOptions;
  /** Lost tickets that the signer may have noted or not. */
  readonly #seenLost = new Set<ClaimId>();

  constructor(notes: Notes, options: BreakerOptions) {
    this.#notes = notes;
    this.#options = options;
  }

  /** Why it stopped; undefined while tickets may be filed. */
  get tripped(): Tripped | undefined {
    return trippedIn(this.#notes);
  }

  /** Whether a ticket may be filed on this claim, or this promise opened; that it is about to be is noted. The same one
   *  counts once. For whoever signs with the key. @param wei that it puts at risk */
  admits(subject: Subject, wei: bigint): boolean {
    for (const claim of this.#seenLost) this.#noteLost(claim);
    this.#seenLost.clear();
    if (this.tripped !== undefined) return false;
    const { maxPerHour, nowMs } = this.#options;
    const since = nowMs() - HOUR_MS;
    const key = `${TICKET}${idOf(subject)}`;
    if (this.#within(key, since) > 0n) return true;
    const texts = [TICKET, BACK].flatMap((prefix) => this.#notes.textsSince(prefix, since));
    const sum = texts.reduce((total, text) => total + BigInt(text), wei);
    if (sum > maxPerHour) {
      const reason = `tickets and deposits of ${formatAmount(sum)} within an hour are more than --max-exposure (${formatAmount(maxPerHour)})`;
      this.#trip(reason, subject);
      return false;
    }
    this.#notes.put({ key, atMs: nowMs(), body: `${wei}` });
    return true;
  }

  /** An opening put less at risk than was noted: by the chain's word what is above came back, or was never taken.
   *  @param wei that is at risk, or was lost or won */
  lowers(subject: Subject, wei: bigint): void {
    const [key, backKey] = [TICKET, BACK].map((prefix) => `${prefix}${idOf(subject)}`) as [string, string];
    const since = this.#options.nowMs() - HOUR_MS;
    const noted = this.#within(key, since);
    if (noted <= wei) return;
    const back = this.#within(backKey, since) + (noted - wei) / PARTS_OF_BACK;
    // The later of two notes counts, and both stay in the hour of the opening.
    const atMs = (this.#notes.get(key)?.atMs ?? 0) + 1;
    this.#notes.put({ key: backKey, atMs, body: `${back}` });
    this.#notes.put({ key, atMs, body: wei > 0n ? `${wei}` : null });
  }

  /** wei of a note; 0 without one in this time */
  #within(key: string, since: number): bigint {
    const note = this.#notes.get(key);
    return note === undefined || note.body === null || note.atMs <= since ? 0n : BigInt(note.body);
  }

  /** A claim became final on which this challenger held a ticket; each stops it once.
   *  @param leads false where another signs with the key, who sees it too: it is noted here if this one takes over */
  lost(claim: ClaimId, leads: boolean): void {
    if (leads) this.#noteLost(claim);
    else this.#seenLost.add(claim);
  }

  #noteLost(claim: ClaimId): void {
    const key = `${LOST}${claim}`;
    if (this.#notes.get(key) !== undefined) return;
    this.#notes.put({ key, atMs: this.#options.nowMs(), body: null });
    if (this.tripped === undefined)
      this.#trip(`the ticket on claim ${claim} was lost: the claim is final`, { claim });
  }

  #trip(reason: string, subject: Subject): void {
    const { nowMs, observe, log } = this.#options;
    this.#notes.put({ key: TRIPPED, atMs: nowMs(), body: reason });
    observe({ kind: "tripped", subject, reason });
    log.error({ ...subject, reason }, STOPPED);
  }
}

export function trippedIn(notes: Notes): Tripped | undefined {
  const note = notes.get(TRIPPED);
  return note === undefined || note.body === null ? undefined : { reason: note.body, atMs: note.atMs };
}

/** Lets tickets be filed again; those of the last hour are forgotten.
 *  @returns why it had stopped
 *  @throws BaseError NOT_TRIPPED */
export function reset(notes: Notes, nowMs: number): Tripped {
  const tripped = trippedIn(notes);
  if (tripped === undefined) {
    throw new BaseError({
      code: "NOT_TRIPPED",
      shortMessage: "This challenger's circuit breaker has not tripped: it files tickets.",
      nextStep: "Nothing is to be reset.",
    });
  }
  // The later of two notes counts: this one is later than what it answers, whoever's clock that was.
  notes.put({ key: TRIPPED, atMs: Math.max(nowMs, tripped.atMs + 1), body: null });
  for (const prefix of [TICKET, BACK]) notes.clearAll(prefix);
  return tripped;
}
