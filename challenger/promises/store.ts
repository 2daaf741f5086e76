/** What a challenger knows of promises, across restarts: batches to check, and promises that are wrong. */
import { fileURLToPath } from "node:url";
import type { Hex } from "viem";
import type { Cursor, Head } from "../../protocol/chain/follower.ts";
import type { Batch, BatchId } from "../../protocol/rules/promises/batch.ts";
import type { Presented } from "../../protocol/rules/promises/presented.ts";
import type { Digest } from "../../protocol/rules/promises/signed-claim.ts";
import type { ClaimId } from "../../protocol/rules/types.ts";
import type { SchemaPart, SqliteDatabase } from "../../protocol/service/journal/database.ts";
import { decodeEvent, encodeEvent } from "../../protocol/service/store/event-json.ts";

export const PROMISES_SCHEMA: SchemaPart = {
  name: "challenger-promises",
  folder: fileURLToPath(new URL("../store/promises", import.meta.url)),
};

export interface UncheckedBatch {
  readonly id: BatchId;
  readonly batch: Batch;
  readonly block: bigint;
  readonly windowEnd: number;
  readonly data: Uint8Array;
}

export interface WrongSigned {
  readonly kind: "signed";
  readonly digest: Digest;
  readonly presented: Presented;
}

export interface WrongLeaf {
  readonly kind: "leaf";
  readonly batchId: BatchId;
  readonly batch: Batch;
  readonly index: number;
  readonly payload: Hex;
  /** bottom up */
  readonly path: readonly Hex[];
}

export type WrongPromise = WrongSigned | WrongLeaf;

export const keyOfLeaf = (batchId: BatchId, index: number): string => `${batchId}:${index}`;
export const keyOf = (wrong: WrongPromise): string =>
  wrong.kind === "signed" ? wrong.digest : keyOfLeaf(wrong.batchId, wrong.index);
/** Those of one origin compete for the same stake. */
export const originOf = (wrong: WrongPromise): string =>
  wrong.kind === "signed" ? wrong.presented.claim.prover : wrong.batchId;

export interface WrongEntry {
  readonly key: string;
  readonly promise: WrongPromise;
  /** the claim that it became */
  readonly claimId: ClaimId | undefined;
  /** wei of this account that stand for it */
  readonly deposit: bigint;
}

interface Row {
  readonly key: string;
  readonly promise: string;
  readonly claim_id: ClaimId | null;
  readonly deposit: string;
}

export class WatchedPromises {
  readonly #db: SqliteDatabase;

  /** @param db opened with PROMISES_SCHEMA */
  constructor(db: SqliteDatabase) {
    this.#db = db;
  }

  /** Where to follow on; absent at the first start. */
  cursor(): Cursor | undefined {
    const row = this.#db.prepare<[], { body: string }>("SELECT body FROM watched_promises_cursor").get();
    return row === undefined ? undefined : (decodeEvent(row.body) as Cursor);
  }

  /** What the work writes and the cursor, or neither. */
  advance(cursor: Cursor, work: () => void): void {
    this.#db
      .transaction(() => {
        work();
        this.#db
          .prepare(
            "INSERT INTO watched_promises_cursor VALUES (1, ?) ON CONFLICT (only) DO UPDATE SET body = excluded.body",
          )
          .run(encodeEvent(cursor));
      })
      .immediate();
  }

  addBatch({ id, batch, block, windowEnd, data }: UncheckedBatch): void {
    this.#db
      .prepare("INSERT OR REPLACE INTO unchecked_batches VALUES (?, ?, ?, ?, ?)")
      .run(id, Number(block), windowEnd, JSON.stringify(batch), data);
  }

  /** Batches that are not checked, those whose window ends first before the others. @param except ids */
  nextBatch(except: ReadonlySet<BatchId>): UncheckedBatch | undefined {
    const rows = this.#db
      .prepare<[], { batch_id: BatchId }>("SELECT batch_id FROM unchecked_batches ORDER BY window_end, block")
      .iterate();
    for (const { batch_id: id } of rows) if (!except.has(id)) return this.#batch(id);
    return undefined;
  }

  #batch(id: BatchId): UncheckedBatch | undefined {
    const row = this.#db
      .prepare<[string], { block: number; window_end: number; batch: string; data: Uint8Array }>(
        "SELECT block, window_end, batch, data FROM unchecked_batches WHERE batch_id = ?",
      )
      .get(id);
    if (row === undefined) return undefined;
    const { block, window_end: windowEnd, batch, data } = row;
    return { id, batch: JSON.parse(batch) as Batch, block: BigInt(block), windowEnd, data };
  }

  get unchecked(): number {
    return this.#count("SELECT count(*) AS count FROM unchecked_batches");
  }

  /** Wrong promises about which something is left to do. */
  get open(): number {
    return this.#count("SELECT count(*) AS count FROM wrong_promises WHERE over_block IS NULL");
  }

  /** Keeps what was found wrong in a batch; nothing, where a re-org took the batch away meanwhile.
   *  @param isDone all its leaves were compared: its data go */
  addLeaves(id: BatchId, wrong: readonly WrongLeaf[], isDone: boolean): void {
    this.#db
      .transaction(() => {
        const row = this.#db
          .prepare<[string], { block: number }>("SELECT block FROM unchecked_batches WHERE batch_id = ?")
          .get(id);
        if (row === undefined) return;
        for (const leaf of wrong) this.#add(leaf, row.block);
        if (isDone) this.#db.prepare("DELETE FROM unchecked_batches WHERE batch_id = ?").run(id);
      })
      .immediate();
  }

  /** Windows that are over: nobody can open these leaves any more. @returns those that were never checked */
  dropBatches(now: number): BatchId[] {
    return this.#db
      .prepare<[number], { batch_id: BatchId }>(
        "DELETE FROM unchecked_batches WHERE window_end <= ? RETURNING batch_id",
      )
      .all(now)
      .map(({ batch_id: id }) => id);
  }

  /** What was kept without a signature, as another contract opened it, gets the one that is given. */
  addSigned(wrong: WrongSigned): void {
    if (this.lacksSignature(wrong.digest)) {
      this.#db
        .prepare("UPDATE wrong_promises SET promise = ? WHERE key = ?")
        .run(encodeEvent(wrong), wrong.digest);
    } else this.#add(wrong, null);
  }

  /** It is kept, and once it is taken back it could not be opened again. */
  lacksSignature(digest: Digest): boolean {
    const kept = this.get(digest)?.promise;
    return kept?.kind === "signed" && kept.presented.signature === "0x";
  }

  #add(promise: WrongPromise, block: number | null): void {
    this.#db
      .prepare("INSERT OR IGNORE INTO wrong_promises (key, origin, block, promise) VALUES (?, ?, ?, ?)")
      .run(keyOf(promise), originOf(promise), block, encodeEvent(promise));
  }

  has(key: string): boolean {
    return this.#db.prepare("SELECT 1 FROM wrong_promises WHERE key = ?").get(key) !== undefined;
  }

  /** Whose wrong promises are not over. */
  origins(): string[] {
    return this.#db
      .prepare<[], { origin: string }>("SELECT DISTINCT origin FROM wrong_promises WHERE over_block IS NULL")
      .all()
      .map(({ origin }) => origin);
  }

  /** Keys of an origin's wrong promises that are not over, oldest first. */
  keysOf(origin: string): string[] {
    return this.#db
      .prepare<[string], { key: string }>(
        "SELECT key FROM wrong_promises WHERE origin = ? AND over_block IS NULL ORDER BY rowid",
      )
      .all(origin)
      .map(({ key }) => key);
  }

  get(key: string): WrongEntry | undefined {
    const row = this.#db
      .prepare<[string], Row>("SELECT key, promise, claim_id, deposit FROM wrong_promises WHERE key = ?")
      .get(key);
    if (row === undefined) return undefined;
    const { promise, claim_id: claimId, deposit } = row;
    return {
      key,
      promise: decodeEvent(promise) as WrongPromise,
      claimId: claimId ?? undefined,
      deposit: BigInt(deposit),
    };
  }

  /** A promise became a claim. */
  claimed(key: string, claim: ClaimId, block: bigint): void {
    this.#db
      .prepare("UPDATE wrong_promises SET claim_id = ?, claim_block = ? WHERE key = ?")
      .run(claim, Number(block), key);
  }

  /** @param wei of this account that stand for it now */
  deposited(key: string, wei: bigint): void {
    this.#db.prepare("UPDATE wrong_promises SET deposit = ? WHERE key = ?").run(`${wei}`, key);
  }

  /** Of all that are not over, wei. */
  get deposits(): bigint {
    return this.#db
      .prepare<[], { deposit: string }>(
        "SELECT deposit FROM wrong_promises WHERE over_block IS NULL AND deposit <> '0'",
      )
      .all()
      .reduce((sum, { deposit }) => sum + BigInt(deposit), 0n);
  }

  over(key: string, { number }: Pick<Head, "number">): void {
    this.#db.prepare("UPDATE wrong_promises SET over_block = ? WHERE key = ?").run(Number(number), key);
  }

  /** Drops what has been over since a block that no re-org reaches. */
  forget(before: bigint): void {
    this.#db.prepare("DELETE FROM wrong_promises WHERE over_block < ?").run(Number(before));
  }

  /** Within `advance`: what came above a block is not there. */
  takeBack(ancestor: bigint): void {
    const block = Number(ancestor);
    this.#db.prepare("DELETE FROM unchecked_batches WHERE block > ?").run(block);
    this.#db.prepare("DELETE FROM wrong_promises WHERE block > ?").run(block);
    this.#db
      .prepare("UPDATE wrong_promises SET claim_id = NULL, claim_block = NULL WHERE claim_block > ?")
      .run(block);
    this.#db.prepare("UPDATE wrong_promises SET over_block = NULL WHERE over_block > ?").run(block);
  }

  #count(sql: string): number {
    return this.#db.prepare<[], { count: number }>(sql).get()?.count ?? 0;
  }
}
