/** Keeps what was followed of the chain, so that a restart goes on where it stopped. */
import { ClaimIndex } from "../../chain/claim-index.ts";
import { type ChainEvent, subjectOf } from "../../chain/events.ts";
import type { Batch, Cursor } from "../../chain/follower.ts";
import type { ClaimId, RequestId } from "../../rules/types.ts";
import type { SqlDatabase } from "../journal/database.ts";
import { decodeEvent, encodeEvent } from "./event-json.ts";

/** An index that survives its process. Batch and cursor are written in one transaction. The index holds every request
 *  that is neither forgotten nor at rest. */
export class EventStore {
  readonly #db: SqlDatabase;
  #index = new ClaimIndex();

  /** @param db opened with EVENTS_SCHEMA */
  constructor(db: SqlDatabase) {
    this.#db = db;
    this.#rebuild();
  }

  get index(): ClaimIndex {
    return this.#index;
  }

  /** Where to follow on; absent at the first start. */
  cursor(): Cursor | undefined {
    const row = this.#db.prepare<[], { body: string }>("SELECT body FROM cursor").get();
    return row === undefined ? undefined : (decodeEvent(row.body) as Cursor);
  }

  /** Takes a batch; the same one again changes nothing. Where something is taken back the index is another one, without
   *  what is gone. */
  take(batch: Batch): void {
    const last = this.cursor()?.at(-1);
    if (batch.kind === "blocks" && last?.hash === batch.to.hash) return;
    // A batch whose consumer failed after taking it comes again, with blocks that are new since or that a re-org brought.
    const kept = batch.kind === "blocks" ? batch.from - 1n : batch.ancestor;
    const write = this.#db.transaction(() => {
      if (batch.kind === "rollback" || (last !== undefined && last.number > kept)) {
        this.#takeBack(Number(kept));
        this.#rebuild();
      }
      if (batch.kind === "blocks") for (const event of batch.events) this.#append(event);
      this.#db
        .prepare("INSERT INTO cursor VALUES (1, ?) ON CONFLICT (only) DO UPDATE SET body = excluded.body")
        .run(encodeEvent(batch.cursor));
    });
    try {
      write.immediate();
    } catch (error) {
      // The index must not know more than the database.
      this.#rebuild();
      throw error;
    }
  }

  /** What is kept of a claim's life, in chain order; undefined for a claim that is not kept. */
  eventsOf(claim: ClaimId): ChainEvent[] | undefined {
    const rows = this.#db
      .prepare<[string], Row>("SELECT body FROM events WHERE claim_id = ? ORDER BY block, log_index")
      .all(claim);
    return rows.length === 0 ? undefined : rows.map(({ body }) => decodeEvent(body) as ChainEvent);
  }

  /** What is kept of a request and its claims, in chain order; none of one that is not kept. */
  eventsOfRequest(id: RequestId): ChainEvent[] {
    return this.#rowsOf(id).map(({ body }) => decodeEvent(body) as ChainEvent);
  }

  /** Requests with an event above this block: what a rollback to it changes. */
  requestsAbove(block: bigint): RequestId[] {
    return this.#db
      .prepare<[number], { id: RequestId }>("SELECT DISTINCT request_id AS id FROM events WHERE block > ?")
      .all(Number(block))
      .map(({ id }) => id);
  }

  /** Keeps these requests in the database alone, until the next event about one of them, or a rollback that takes one
   *  back, puts it into the index again with all its claims. */
  rest(ids: readonly RequestId[]): void {
    if (ids.length === 0) return;
    const put = this.#db.prepare<[string]>("INSERT OR REPLACE INTO resting VALUES (?)");
    this.#db
      .transaction(() => {
        for (const id of ids) put.run(id);
      })
      .immediate();
    for (const id of ids) this.#index.forget(id);
  }

  /** Has the index hold a claim's request again, where it is at rest. */
  wake(claim: ClaimId): void {
    const id = this.#requestOf(claim);
    if (id !== undefined) this.#wakeRequest(id);
  }

  /** Drops a request that is over and too deep to come back. */
  forget(id: RequestId): void {
    this.#db.prepare("DELETE FROM events WHERE request_id = ?").run(id);
    this.#index.forget(id);
  }

  #append(event: ChainEvent): void {
    const id = this.#index.apply(event) ?? (this.#wake(event) ? this.#index.apply(event) : undefined);
    if (id === undefined) return;
    this.#db
      .prepare("INSERT OR REPLACE INTO events VALUES (?, ?, ?, ?)")
      .run(Number(event.block.number), event.logIndex, id, encodeEvent(event));
  }

  /** @returns true if the event is about a request that was at rest: the index holds it now */
  #wake(event: ChainEvent): boolean {
    const { requestId, claimId } = subjectOf(event);
    const id = requestId ?? (claimId && this.#requestOf(claimId));
    return id !== undefined && this.#wakeRequest(id);
  }

  #wakeRequest(id: RequestId): boolean {
    if (this.#db.prepare("DELETE FROM resting WHERE request_id = ?").run(id).changes === 0) return false;
    this.#apply(this.#rowsOf(id));
    return true;
  }

  #rowsOf(id: RequestId): Row[] {
    return this.#db
      .prepare<[string], Row>("SELECT body FROM events WHERE request_id = ? ORDER BY block, log_index")
      .all(id);
  }

  #requestOf(claim: ClaimId): RequestId | undefined {
    return this.#db
      .prepare<[string], { id: RequestId }>("SELECT request_id AS id FROM events WHERE claim_id = ? LIMIT 1")
      .get(claim)?.id;
  }

  #takeBack(ancestor: number): void {
    this.#db
      .prepare("DELETE FROM resting WHERE request_id IN (SELECT request_id FROM events WHERE block > ?)")
      .run(ancestor);
    this.#db.prepare("DELETE FROM events WHERE block > ?").run(ancestor);
  }

  #rebuild(): void {
    this.#index = new ClaimIndex();
    this.#apply(
      this.#db
        .prepare<[], Row>(
          "SELECT body FROM events WHERE request_id NOT IN (SELECT request_id FROM resting) ORDER BY block, log_index",
        )
        .iterate(),
    );
  }

  #apply(rows: Iterable<Row>): void {
    for (const { body } of rows) this.#index.apply(decodeEvent(body) as ChainEvent);
  }
}

interface Row {
  readonly body: string;
}
