/** Writes a batch of events, and all that follows from it. */
import type { Hex } from "viem";
import { ClaimIndex } from "../../protocol/chain/claim-index.ts";
import { type ChainEvent, subjectOf } from "../../protocol/chain/events.ts";
import type { Batch, Head } from "../../protocol/chain/follower.ts";
import type { PromiseEvent } from "../../protocol/chain/promises/events.ts";
import type { Claim, ModelId, RequestId } from "../../protocol/rules/types.ts";
import type { Sql } from "../store/sql.ts";
import { type Delta, deltasOf, transactionDeltas } from "./deltas.ts";
import type { Facts } from "./facts.ts";
import { KeptEvents } from "./kept-events.ts";
import { lifeOf } from "./life.ts";
import { blockOf, firstOf, type Move, moveOf, seqOf, type TimedEvent } from "./moves.ts";
import { PromiseRows } from "./promise-rows.ts";
import { Sums } from "./sums.ts";
import { Tables } from "./tables.ts";

/** What a batch changed, for those who watch. `moved`: the index is not where its follower is, because another process
 *  took over or a write's answer was lost; nothing was changed. */
export type Change =
  | { readonly kind: "blocks"; readonly head: Head; readonly moves: readonly Move[] }
  | { readonly kind: "rollback"; readonly ancestor: number }
  | { readonly kind: "moved" };

/** Within one transaction. What does not need the answer of another statement does not wait for it. */
export class IndexWriter {
  readonly #tables: Tables;
  readonly #sums: Sums;
  readonly #events: KeptEvents;
  readonly #promiseRows: PromiseRows;

  constructor(sql: Sql) {
    this.#tables = new Tables(sql);
    this.#sums = new Sums(sql);
    this.#events = new KeptEvents(sql);
    this.#promiseRows = new PromiseRows(this.#tables, this.#events);
  }

  /** @param facts of the blocks and transactions of all events */
  async extend(
    batch: Extract<Batch, { kind: "blocks" }>,
    facts: Facts,
    promised: readonly PromiseEvent[],
  ): Promise<Change> {
    const [tables, kept] = [this.#tables, this.#events];
    const owners = await this.#ownersOf(batch.events);
    await Promise.all([
      kept.putCursor(batch.cursor),
      ...[...facts.blocks.values()].map((block) => tables.putBlock(block)),
      tables.putBlock({ number: batch.to.number, hash: batch.to.hash, time: batch.to.timestamp }),
      ...[...facts.transactions.values()].map((transaction) => tables.putTransaction(transaction)),
      ...batch.events.flatMap((event, i) => {
        const owner = owners[i];
        return owner === undefined ? [] : [kept.put(event, owner)];
      }),
      ...promised.map((event) => kept.putPromise(event)),
    ]);
    const first = firstOf(batch.from);
    const timed = <Event extends ChainEvent | PromiseEvent>(event: Event) => ({
      event,
      time: facts.blocks.get(event.block.number)?.time as number,
    });
    const requests = [...new Set(owners.filter((owner) => owner !== undefined))];
    const lives = await Promise.all(requests.map((id) => kept.ofRequest(id)));
    const derived = await Promise.all(
      requests.map((id, i) => this.#derive(id, lives[i] as TimedEvent[], first)),
    );
    const claims = new Map<Hex, Claim>();
    for (const { event } of lives.flat())
      if (event.name === "Claimed") claims.set(event.args.claimId, event.args.claim);
    const moves = await Promise.all(
      batch.events.map(async (event) => {
        const { claimId } = subjectOf(event);
        const claim = claimId === undefined ? undefined : claims.get(claimId);
        return moveOf(event, { claim, modelId: claim?.modelId ?? (await this.#modelOf(event)) });
      }),
    );
    const ofPromises = await this.#promiseRows.extend(promised.map(timed), first);
    const all = [...moves, ...ofPromises.moves].sort((a, b) => a.seq - b.seq);
    const others = batch.events.filter((event) => !isOfRequest(event));
    const deltas = [
      ...derived.flat(),
      ...ofPromises.deltas,
      ...others.flatMap((event) => deltasOf(timed(event), new ClaimIndex())),
      ...transactionsOf([...batch.events, ...promised], all, facts),
    ];
    await Promise.all([
      ...all.map((move) => tables.putMove(move)),
      ...batch.events.flatMap((event) => (event.name === "ModelRegistered" ? [tables.putModel(event)] : [])),
    ]);
    await this.#addSums(deltas);
    const oldest = batch.cursor[0];
    if (oldest !== undefined) await this.#sums.settle(Number(oldest.number));
    return { kind: "blocks", head: batch.to, moves: all };
  }

  async takeBack(batch: Extract<Batch, { kind: "rollback" }>): Promise<Change> {
    const ancestor = Number(batch.ancestor);
    const [tables, kept] = [this.#tables, this.#events];
    const changed = await kept.requestsAbove(ancestor);
    const promises = await kept.promisesAbove(ancestor);
    await kept.putCursor(batch.cursor);
    await kept.takeBack(ancestor);
    // Without a block that is known to be there still, nothing is.
    if (batch.cursor.length === 0) await tables.clear();
    else {
      await tables.takeBack(ancestor);
      await this.#sums.takeBack(ancestor);
      const never = Number.POSITIVE_INFINITY;
      await Promise.all(changed.map(async (id) => this.#derive(id, await kept.ofRequest(id), never)));
      await Promise.all(promises.map((id) => this.#promiseRows.derive(id, never)));
    }
    return { kind: "rollback", ancestor };
  }

  /** The request that each event is about; undefined for events of something else. */
  #ownersOf(events: readonly ChainEvent[]): Promise<(RequestId | undefined)[]> {
    const ofClaim = new Map<Hex, RequestId>();
    for (const event of events) {
      const { requestId, claimId } = subjectOf(event);
      if (requestId !== undefined && claimId !== undefined) ofClaim.set(claimId, requestId);
    }
    return Promise.all(
      events.map(async (event) => {
        const { requestId, claimId } = subjectOf(event);
        if (requestId !== undefined || claimId === undefined) return requestId;
        return ofClaim.get(claimId) ?? (await this.#tables.requestOfClaim(claimId));
      }),
    );
  }

  /** Writes the rows of a request and its claims anew. @param since seq from which on events are new */
  async #derive(id: RequestId, events: readonly TimedEvent[], since: number): Promise<readonly Delta[]> {
    const life = lifeOf(events, ({ event }) => seqOf(event.block.number, event.logIndex) >= since);
    await this.#tables.putLife(id, life);
    return life.deltas;
  }

  async #modelOf(event: ChainEvent): Promise<ModelId | undefined> {
    if ("modelId" in event.args) return event.args.modelId;
    const { requestId } = subjectOf(event);
    return requestId && ((await this.#tables.modelOfRequest(requestId)) as ModelId | undefined);
  }

  async #addSums(deltas: readonly Delta[]): Promise<void> {
    const byBlock = new Map<number, Delta[]>();
    for (const delta of deltas) {
      const block = blockOf(delta.seq);
      const known = byBlock.get(block);
      if (known === undefined) byBlock.set(block, [delta]);
      else known.push(delta);
    }
    for (const block of [...byBlock.keys()].sort((a, b) => a - b))
      await this.#sums.add(block, byBlock.get(block) as Delta[]);
  }
}

function transactionsOf(
  events: readonly (ChainEvent | PromiseEvent)[],
  moves: readonly Move[],
  facts: Facts,
): Delta[] {
  const byHash = new Map<Hex, (ChainEvent | PromiseEvent)[]>();
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

const isOfRequest = (event: ChainEvent): boolean => {
  const { requestId, claimId } = subjectOf(event);
  return requestId !== undefined || claimId !== undefined;
};
