/** The events themselves, from which the rows of the other tables are derived, and how far the chain was followed. */

import type { ChainEvent } from "../../protocol/chain/events.ts";
import { subjectOf as claimOf } from "../../protocol/chain/events.ts";
import type { Cursor } from "../../protocol/chain/follower.ts";
import {
  type PromiseEvent,
  type PromiseEventName,
  type PromiseEventOf,
  subjectOf,
} from "../../protocol/chain/promises/events.ts";
import type { BatchId } from "../../protocol/rules/promises/batch.ts";
import type { Digest } from "../../protocol/rules/promises/signed-claim.ts";
import type { ClaimId, RequestId } from "../../protocol/rules/types.ts";
import { decodeEvent, encodeEvent } from "../../protocol/service/store/event-json.ts";
import type { Sql, SqlValue } from "../store/sql.ts";
import type { TimedEvent } from "./moves.ts";
import type { TimedPromise } from "./promise-deltas.ts";

interface Row {
  readonly body: string;
}
interface TimedRow extends Row {
  readonly time: number;
}

export class KeptEvents {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Where to follow on; absent at the first start. */
  async cursor(): Promise<Cursor | undefined> {
    const row = await this.#sql.get<Row>("SELECT body FROM cursor");
    return row === undefined ? undefined : (decodeEvent(row.body) as Cursor);
  }

  putCursor(cursor: Cursor): Promise<void> {
    return this.#sql.run(
      "INSERT INTO cursor VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body",
      encodeEvent(cursor),
    );
  }

  put(event: ChainEvent, request: RequestId): Promise<void> {
    const { block, logIndex } = event;
    return this.#sql.run(
      "INSERT INTO events VALUES (?, ?, ?, ?, ?)",
      ...[Number(block.number), logIndex, request, claimOf(event).claimId ?? null, encodeEvent(event)],
    );
  }

  putPromise(event: PromiseEvent): Promise<void> {
    const { block, logIndex, name, args } = event;
    return this.#sql.run(
      "INSERT INTO promise_events VALUES (?, ?, ?, ?, ?, ?)",
      ...[Number(block.number), logIndex, name, subjectOf(event) ?? null],
      ...["claimId" in args ? args.claimId : null, encodeEvent(event)],
    );
  }

  /** A claim's life, in chain order. */
  ofClaim(claim: ClaimId): Promise<TimedEvent[]> {
    return this.#timed("claim_id", claim);
  }

  /** A request and its claims, in chain order. */
  ofRequest(id: RequestId): Promise<TimedEvent[]> {
    return this.#timed("request_id", id);
  }

  /** A signed claim or a batch, in chain order: of every kind, among them the data of a batch. */
  async ofPromise(subject: Digest | BatchId): Promise<TimedPromise[]> {
    const rows = await this.#sql.all<TimedRow>(
      `SELECT e.body, b.time FROM promise_events e JOIN blocks b ON b.number = e.block
        WHERE e.subject = ? ORDER BY e.block, e.log_index`,
      subject,
    );
    return rows.map(({ body, time }) => ({ event: decodeEvent(body) as PromiseEvent, time }));
  }

  /** Events of one kind, of a signed claim or a batch. */
  promised<Name extends PromiseEventName>(
    subject: Digest | BatchId,
    name: Name,
  ): Promise<PromiseEventOf<Name>[]> {
    return this.#promises<Name>("subject = ? AND name = ?", subject, name);
  }

  /** The event by which a promise became this claim; undefined for a claim that is nobody's promise. */
  async openingOf(claim: ClaimId): Promise<PromiseEventOf<"Opened" | "LeafOpened"> | undefined> {
    const [event] = await this.#promises<"Opened" | "LeafOpened">("claim_id = ? AND name != 'Closed'", claim);
    return event;
  }

  /** Requests with an event above this block: what a rollback to it changes. */
  async requestsAbove(block: number): Promise<RequestId[]> {
    const rows = await this.#sql.all<{ id: RequestId }>(
      "SELECT DISTINCT request_id AS id FROM events WHERE block > ?",
      block,
    );
    return rows.map(({ id }) => id);
  }

  /** Signed claims and batches, likewise. */
  async promisesAbove(block: number): Promise<(Digest | BatchId)[]> {
    const rows = await this.#sql.all<{ subject: Digest | BatchId }>(
      "SELECT DISTINCT subject FROM promise_events WHERE block > ? AND subject IS NOT NULL",
      block,
    );
    return rows.map(({ subject }) => subject);
  }

  async takeBack(ancestor: number): Promise<void> {
    await this.#sql.run("DELETE FROM events WHERE block > ?", ancestor);
    await this.#sql.run("DELETE FROM promise_events WHERE block > ?", ancestor);
  }

  async #timed(column: "claim_id" | "request_id", id: string): Promise<TimedEvent[]> {
    const rows = await this.#sql.all<TimedRow>(
      `SELECT e.body, b.time FROM events e JOIN blocks b ON b.number = e.block
        WHERE e.${column} = ? ORDER BY e.block, e.log_index`,
      id,
    );
    return rows.map(({ body, time }) => ({ event: decodeEvent(body) as ChainEvent, time }));
  }

  async #promises<Name extends PromiseEventName>(
    where: string,
    ...values: SqlValue[]
  ): Promise<PromiseEventOf<Name>[]> {
    const rows = await this.#sql.all<Row>(
      `SELECT body FROM promise_events WHERE ${where} ORDER BY block, log_index`,
      ...values,
    );
    return rows.map(({ body }) => decodeEvent(body) as PromiseEventOf<Name>);
  }
}
