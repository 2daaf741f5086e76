/** Stops a challenger from filing tickets when something is wrong that only a person can find out: far more wrong claims
 *  than there ever are, or a ticket that was lost. Then the fault may be its own node, model or machine, and each
 *  further ticket may cost its bond. What is begun goes on, and overdue claims are ended. */
import { fileURLToPath } from "node:url";
import { BaseError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import type { ClaimId } from "../protocol/rules/types.ts";
import type { SchemaPart, SqliteDatabase } from "../protocol/service/journal/database.ts";
import type { Observer, Subject } from "./notices.ts";

export const BREAKER_SCHEMA: SchemaPart = {
  name: "circuit-breaker",
  folder: fileURLToPath(new URL("store/circuit-breaker", import.meta.url)),
};

export interface BreakerOptions {
  /** more tickets and openings than this within an hour stop it */
  readonly maxTicketsPerHour: number;
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

const idOf = (subject: Subject): string => ("claim" in subject ? subject.claim : subject.promise);

/** Remembers across restarts: a supervisor that starts the process again is no person who looked. */
export class CircuitBreaker {
  readonly #db: SqliteDatabase;
  readonly #options: BreakerOptions;

  /** @param db opened with BREAKER_SCHEMA */
  constructor(db: SqliteDatabase, options: BreakerOptions) {
    this.#db = db;
    this.#options = options;
  }

  /** Why it stopped; undefined while tickets may be filed. */
  get tripped(): Tripped | undefined {
    return trippedIn(this.#db);
  }

  /** Whether a ticket may be filed on this claim, or this promise opened; that it is about to be is noted. The same one
   *  counts once. */
  admits(subject: Subject): boolean {
    if (this.tripped !== undefined) return false;
    const { maxTicketsPerHour, nowMs } = this.#options;
    const since = nowMs() - HOUR_MS;
    this.#db.prepare("DELETE FROM filed_tickets WHERE at_ms <= ?").run(since);
    const others = this.#db
      .prepare<[string], { count: number }>("SELECT count(*) AS count FROM filed_tickets WHERE claim_id <> ?")
      .get(idOf(subject));
    if ((others?.count ?? 0) >= maxTicketsPerHour) {
      const reason = `there are more wrong claims and promises within an hour than --max-tickets-per-hour (${maxTicketsPerHour}) allows`;
      this.#trip(reason, subject);
      return false;
    }
    this.#db.prepare("INSERT OR IGNORE INTO filed_tickets VALUES (?, ?)").run(idOf(subject), nowMs());
    return true;
  }

  /** A claim became final on which this challenger held a ticket; each stops it once. */
  lost(claim: ClaimId): void {
    const { changes } = this.#db.prepare("INSERT OR IGNORE INTO lost_tickets VALUES (?)").run(claim);
    if (changes > 0 && this.tripped === undefined)
      this.#trip(`the ticket on claim ${claim} was lost: the claim is final`, { claim });
  }

  #trip(reason: string, subject: Subject): void {
    const { nowMs, observe, log } = this.#options;
    this.#db.prepare("INSERT OR IGNORE INTO circuit_breaker VALUES (1, ?, ?)").run(reason, nowMs());
    observe({ kind: "tripped", subject, reason });
    log.error({ ...subject, reason }, STOPPED);
  }
}

/** @param db opened with BREAKER_SCHEMA */
export function trippedIn(db: SqliteDatabase): Tripped | undefined {
  const row = db
    .prepare<[], { reason: string; at_ms: number }>("SELECT reason, at_ms FROM circuit_breaker")
    .get();
  return row === undefined ? undefined : { reason: row.reason, atMs: row.at_ms };
}

/** Lets tickets be filed again; those of the last hour are forgotten.
 *  @param db opened with BREAKER_SCHEMA @returns why it had stopped
 *  @throws BaseError NOT_TRIPPED */
export function reset(db: SqliteDatabase): Tripped {
  const tripped = trippedIn(db);
  if (tripped === undefined) {
    throw new BaseError({
      code: "NOT_TRIPPED",
      shortMessage: "This challenger's circuit breaker has not tripped: it files tickets.",
      nextStep: "Nothing is to be reset.",
    });
  }
  db.transaction(() => {
    db.prepare("DELETE FROM circuit_breaker").run();
    db.prepare("DELETE FROM filed_tickets").run();
  })();
  return tripped;
}
