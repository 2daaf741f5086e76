/** Keeps what was followed of Promises, so that a restart goes on where it stopped. */
import { type Address, isAddressEqual } from "viem";
import type { Batch, Cursor } from "../../chain/follower.ts";
import {
  type PromiseEvent,
  type PromiseEventName,
  type PromiseEventOf,
  subjectOf,
} from "../../chain/promises/events.ts";
import type { BatchId } from "../../rules/promises/batch.ts";
import type { Digest } from "../../rules/promises/signed-claim.ts";
import type { ClaimId } from "../../rules/types.ts";
import type { SqlDatabase } from "../journal/database.ts";
import { decodeEvent, encodeEvent } from "./event-json.ts";

/** Events read at once. */
const PAGE = 8;

/** Holds nothing in memory: the data of a batch are up to 128 KB. */
export class PromiseStore {
  readonly #db: SqlDatabase;

  readonly #own: Address | undefined;

  /** @param db opened with PROMISE_EVENTS_SCHEMA @param own whose promises are kept; absent: everybody's */
  constructor(db: SqlDatabase, own?: Address) {
    this.#db = db;
    this.#own = own;
  }

  /** Where to follow on; absent at the first start. */
  cursor(): Cursor | undefined {
    const row = this.#db.prepare<[], Row>("SELECT body FROM promise_cursor").get();
    return row === undefined ? undefined : (decodeEvent(row.body) as Cursor);
  }

  /** Takes a batch, with its cursor in one transaction; the same one again changes nothing. */
  take(batch: Batch<PromiseEvent>): void {
    const put = this.#db.prepare(
      "INSERT INTO promise_events (block, log_index, name, subject, body) VALUES (?, ?, ?, ?, ?)",
    );
    const remove = this.#db.prepare("DELETE FROM promise_events WHERE block >= ?");
    this.#db
      .transaction(() => {
        // A batch that was taken before its follower advanced comes again, or a re-org brings another in its place.
        remove.run(batch.kind === "blocks" ? batch.from : batch.ancestor + 1n);
        for (const event of batch.kind === "blocks" ? batch.events : []) {
          if (!this.#isKept(event)) continue;
          const { block, logIndex, name } = event;
          put.run(block.number, logIndex, name, subjectOf(event) ?? null, encodeEvent(event));
        }
        this.#db
          .prepare(
            "INSERT INTO promise_cursor VALUES (1, ?) ON CONFLICT (only) DO UPDATE SET body = excluded.body",
          )
          .run(encodeEvent(batch.cursor));
      })
      .immediate();
  }

  /** What others post and open is nothing that this prover owes. */
  #isKept(event: PromiseEvent): boolean {
    if (this.#own === undefined) return true;
    if ("prover" in event.args) return isAddressEqual(event.args.prover, this.#own);
    const subject = subjectOf(event);
    return subject === undefined || this.#has(subject);
  }

  #has(subject: Digest | BatchId): boolean {
    return (
      this.#db.prepare("SELECT 1 FROM promise_events WHERE subject = ? LIMIT 1").get(subject) !== undefined
    );
  }

  /** Drops all that is kept of a signed claim or a batch. */
  forget(subject: Digest | BatchId): void {
    this.#db.prepare("DELETE FROM promise_events WHERE subject = ?").run(subject);
  }

  /** What is kept of a signed claim or a batch, in chain order.
   *  @param name absent: of every kind, among them the data of a batch */
  eventsOf<Name extends PromiseEventName>(subject: Digest | BatchId, name?: Name): PromiseEventOf<Name>[] {
    return name === undefined
      ? this.#read("subject = ?", [subject])
      : this.#read("subject = ? AND name = ?", [subject, name]);
  }

  /** Signed claims and batches with an event above this block: what a rollback to it changes. */
  subjectsAbove(block: bigint): (Digest | BatchId)[] {
    return this.#db
      .prepare<[bigint], { subject: Digest | BatchId }>(
        "SELECT DISTINCT subject FROM promise_events WHERE block > ? AND subject IS NOT NULL",
      )
      .all(block)
      .map(({ subject }) => subject);
  }

  /** The event by which a promise became this claim; undefined for a claim that is nobody's promise. */
  openingOf(claimId: ClaimId): PromiseEventOf<"Opened" | "LeafOpened"> | undefined {
    const [event] = this.#read<"Opened" | "LeafOpened">("claim_id = ? AND name != 'Closed'", [claimId]);
    return event;
  }

  /** A prover's events of one kind, in chain order: few at a time, for each may be large, and what comes between may
   *  write to the database. */
  *ofProver<Name extends PromiseEventName>(prover: Address, name: Name): Generator<PromiseEventOf<Name>> {
    let [block, logIndex] = [0n, -1];
    for (;;) {
      const page = this.#read<Name>(
        "prover = ? AND name = ? AND (block, log_index) > (?, ?)",
        [prover, name, block, logIndex],
        PAGE,
      );
      if (page.length === 0) return;
      for (const event of page) {
        yield event;
        [block, logIndex] = [event.block.number, event.logIndex];
      }
    }
  }

  /** @param limit of rows; -1: all */
  #read<Name extends PromiseEventName>(where: string, values: unknown[], limit = -1): PromiseEventOf<Name>[] {
    const query = `SELECT body FROM promise_events WHERE ${where} ORDER BY block, log_index LIMIT ?`;
    return this.#db
      .prepare<unknown[], Row>(query)
      .all(...values, limit)
      .map(({ body }) => decodeEvent(body) as PromiseEventOf<Name>);
  }
}

interface Row {
  readonly body: string;
}
