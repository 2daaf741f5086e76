/** The index behind the pages: the events of a deployment, kept by the event store, and the tables that follow from
 *  them. A batch, all that follows from it, and how far the chain was followed are one transaction: a process that is
 *  killed anywhere goes on where it was, and a re-org leaves what a fresh index would hold. */
import { fileURLToPath } from "node:url";
import type { Hex } from "viem";
import { ClaimIndex } from "../../protocol/chain/claim-index.ts";
import { type ChainEvent, subjectOf } from "../../protocol/chain/events.ts";
import type { Batch, Cursor, Head } from "../../protocol/chain/follower.ts";
import type { Claim, ModelId, RequestId } from "../../protocol/rules/types.ts";
import type { SchemaPart, SqliteDatabase } from "../../protocol/service/journal/database.ts";
import { EventStore } from "../../protocol/service/store/event-store.ts";
import { type Delta, deltasOf, transactionDeltas } from "./deltas.ts";
import type { Facts } from "./facts.ts";
import { lifeOf } from "./life.ts";
import { blockOf, firstOf, type Move, moveOf, seqOf, type TimedEvent } from "./moves.ts";
import { Sums } from "./sums.ts";
import { Tables } from "./tables.ts";

/** The explorer's own tables, beside those of the event store. */
export const EXPLORER_SCHEMA: SchemaPart = {
  name: "explorer",
  folder: fileURLToPath(new URL("migrations", import.meta.url)),
};

/** What a batch changed, for those who watch. */
export type Change =
  | { readonly kind: "blocks"; readonly head: Head; readonly moves: readonly Move[] }
  | { readonly kind: "rollback"; readonly ancestor: number };

/** Blocks after which a request of which nothing more is heard leaves memory. */
const REST_AFTER = 64n;

export class ExplorerIndex {
  readonly #db: SqliteDatabase;
  readonly #tables: Tables;
  readonly sums: Sums;
  #store: EventStore;
  #head: Head | undefined;

  /** @param db opened with EVENTS_SCHEMA and EXPLORER_SCHEMA */
  constructor(db: SqliteDatabase) {
    this.#db = db;
    this.#tables = new Tables(db);
    this.sums = new Sums(db);
    this.#store = new EventStore(db);
    this.#head = this.#tables.head();
  }

  get store(): EventStore {
    return this.#store;
  }

  get tables(): Tables {
    return this.#tables;
  }

  /** Newest block that is indexed; absent at the start. */
  get head(): Head | undefined {
    return this.#head;
  }

  cursor(): Cursor | undefined {
    return this.#store.cursor();
  }

  /** @returns undefined for a batch that was taken before */
  take(batch: Batch, facts: Facts): Change | undefined {
    if (batch.kind === "blocks" && this.cursor()?.at(-1)?.hash === batch.to.hash) return undefined;
    try {
      return this.#db
        .transaction(() => (batch.kind === "blocks" ? this.#extend(batch, facts) : this.#takeBack(batch)))
        .immediate();
    } catch (error) {
      // Memory must not know more than the database.
      this.#store = new EventStore(this.#db);
      throw error;
    } finally {
      this.#head = this.#tables.head();
    }
  }

  #extend(batch: Extract<Batch, { kind: "blocks" }>, facts: Facts): Change {
    const tables = this.#tables;
    this.#store.take(batch);
    for (const block of facts.blocks.values()) tables.putBlock(block);
    tables.putBlock({ number: batch.to.number, hash: batch.to.hash, time: batch.to.timestamp });
    for (const transaction of facts.transactions.values()) tables.putTransaction(transaction);
    const first = firstOf(batch.from);
    const deltas: Delta[] = [];
    const claims = new Map<Hex, Claim>();
    for (const id of requestsOf(batch.events, (claim) => tables.requestOfClaim(claim))) {
      const events = this.#lifeEvents(id);
      for (const { event } of events)
        if (event.name === "Claimed") claims.set(event.args.claimId, event.args.claim);
      deltas.push(...this.#derive(id, events, first));
    }
    const moves = batch.events.map((event) => {
      const { claimId } = subjectOf(event);
      const claim = claimId === undefined ? undefined : claims.get(claimId);
      return moveOf(event, { claim, modelId: claim?.modelId ?? this.#modelOf(event) });
    });
    for (const move of moves) tables.putMove(move);
    const timeOf = (event: ChainEvent): number => facts.blocks.get(event.block.number)?.time as number;
    for (const event of batch.events) {
      if (event.name === "ModelRegistered") tables.putModel(event);
      if (!isOfRequest(event)) deltas.push(...deltasOf({ event, time: timeOf(event) }, new ClaimIndex()));
    }
    deltas.push(...this.#transactions(batch.events, moves, facts));
    this.#addSums(deltas);
    const oldest = batch.cursor[0];
    if (oldest !== undefined) this.sums.settle(Number(oldest.number));
    this.#rest(batch.to.number);
    return { kind: "blocks", head: batch.to, moves };
  }

  #takeBack(batch: Extract<Batch, { kind: "rollback" }>): Change {
    const ancestor = Number(batch.ancestor);
    const changed = this.#store.requestsAbove(batch.ancestor);
    this.#store.take(batch);
    // Without a block that is known to be there still, nothing is.
    if (batch.cursor.length === 0) this.#tables.clear();
    else {
      this.#tables.takeBack(ancestor);
      this.sums.takeBack(ancestor);
      for (const id of changed) this.#derive(id, this.#lifeEvents(id), Number.POSITIVE_INFINITY);
    }
    return { kind: "rollback", ancestor };
  }

  #lifeEvents(id: RequestId): TimedEvent[] {
    return this.#store
      .eventsOfRequest(id)
      .map((event) => ({ event, time: this.#tables.timeOf(Number(event.block.number)) }));
  }

  /** Writes the rows of a request and its claims anew. @param since seq from which on events are new */
  #derive(id: RequestId, events: readonly TimedEvent[], since: number): readonly Delta[] {
    const life = lifeOf(events, ({ event }) => seqOf(event.block.number, event.logIndex) >= since);
    this.#tables.putLife(id, life);
    return life.deltas;
  }

  #modelOf(event: ChainEvent): ModelId | undefined {
    if ("modelId" in event.args) return event.args.modelId;
    const { requestId } = subjectOf(event);
    return requestId && (this.#tables.modelOfRequest(requestId) as ModelId | undefined);
  }

  #transactions(events: readonly ChainEvent[], moves: readonly Move[], facts: Facts): Delta[] {
    const byHash = new Map<Hex, ChainEvent[]>();
    for (const event of events) {
      const known = byHash.get(event.transactionHash);
      if (known === undefined) byHash.set(event.transactionHash, [event]);
      else known.push(event);
    }
    const modelOf = new Map(moves.map(({ seq, modelId }) => [seq, modelId]));
    return [...byHash].flatMap(([hash, own]) => {
      const transaction = facts.transactions.get(hash);
      const time = transaction && facts.blocks.get(transaction.block)?.time;
      if (transaction === undefined || time === undefined)
        throw new TypeError(`The transaction ${hash} was not read with its events.`);
      return transactionDeltas(transaction, time, own, (event) =>
        modelOf.get(seqOf(event.block.number, event.logIndex)),
      );
    });
  }

  #addSums(deltas: readonly Delta[]): void {
    const byBlock = new Map<number, Delta[]>();
    for (const delta of deltas) {
      const block = blockOf(delta.seq);
      const known = byBlock.get(block);
      if (known === undefined) byBlock.set(block, [delta]);
      else known.push(delta);
    }
    for (const block of [...byBlock.keys()].sort((a, b) => a - b))
      this.sums.add(block, byBlock.get(block) as Delta[]);
  }

  /** Everything is in the database: memory holds only what may change soon. */
  #rest(block: bigint): void {
    const idle = [...this.#store.index.requests.values()].filter(
      ({ changedAt }) => changedAt + REST_AFTER < block,
    );
    this.#store.rest(idle.map(({ id }) => id));
  }
}

const isOfRequest = (event: ChainEvent): boolean => {
  const { requestId, claimId } = subjectOf(event);
  return requestId !== undefined || claimId !== undefined;
};

/** Requests that the events are about, each once. @param known the request of a claim that is not among them */
function requestsOf(
  events: readonly ChainEvent[],
  known: (claim: Hex) => RequestId | undefined,
): ReadonlySet<RequestId> {
  const found = new Set<RequestId>();
  const ofClaim = new Map<Hex, RequestId>();
  for (const event of events) {
    const { requestId, claimId } = subjectOf(event);
    if (requestId !== undefined && claimId !== undefined) ofClaim.set(claimId, requestId);
    const id = requestId ?? (claimId && (ofClaim.get(claimId) ?? known(claimId)));
    if (id !== undefined) found.add(id);
  }
  return found;
}
