/** What a challenger knows of promises, across restarts: batches to check, and promises that are wrong. */
import { fileURLToPath } from "node:url";
import type { Hex } from "viem";
import type { Cursor, Head } from "../../protocol/chain/follower.ts";
import type { Batch, BatchId } from "../../protocol/rules/promises/batch.ts";
import { endOf } from "../../protocol/rules/promises/limits.ts";
import type { Presented } from "../../protocol/rules/promises/presented.ts";
import type { Digest } from "../../protocol/rules/promises/signed-claim.ts";
import type { ClaimId } from "../../protocol/rules/types.ts";
import type { SchemaPart, SqliteDatabase } from "../../protocol/service/journal/database.ts";
import { decodeEvent, encodeEvent } from "../../protocol/service/store/event-json.ts";
import { HeldStakes } from "./held-stakes.ts";
import { type QueuedClaim, QueuedClaims } from "./queued-claims.ts";
import { UncheckedBatches } from "./unchecked-batches.ts";
import { Words } from "./words.ts";

export const PROMISES_SCHEMA: SchemaPart = {
  name: "challenger-promises",
  folder: fileURLToPath(new URL("../store/promises", import.meta.url)),
};

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

/** Most that are kept of what is handed over. */
export interface ReportLimits {
  /** of one prover */
  readonly ofProver: number;
  readonly inAll: number;
  /** second: what can be opened until then takes the place of anything weaker, what ends before only of what ends no later */
  readonly lasting: number;
}

interface Kept {
  /** absent: it is of no block */
  readonly block?: number;
  /** last second in which it can be opened */
  readonly windowEnd: number;
  /** present: somebody handed it over */
  readonly strength?: bigint;
}

const REPORTED = "reported = 1 AND over_block IS NULL";
/** wei as text that sorts. */
const sortable = (wei: bigint): string => wei.toString(16).padStart(32, "0");

interface Row {
  readonly key: string;
  readonly promise: string;
  readonly claim_id: ClaimId | null;
  readonly deposit: string;
}

export class WatchedPromises {
  readonly #db: SqliteDatabase;
  readonly stakes: HeldStakes;
  readonly batches: UncheckedBatches;
  /** signed claims that wait and are not compared */
  readonly queue: QueuedClaims;
  /** of workers, on which promises are right */
  readonly words: Words;

  /** @param db opened with PROMISES_SCHEMA */
  constructor(db: SqliteDatabase) {
    this.#db = db;
    this.stakes = new HeldStakes(db);
    this.batches = new UncheckedBatches(db);
    this.queue = new QueuedClaims(db);
    this.words = new Words(db);
    const rows = db
      .prepare<[], { key: string }>("SELECT key FROM wrong_promises WHERE ends_at IS NULL")
      .all();
    for (const { key } of rows) {
      const promise = this.get(key)?.promise;
      if (promise?.kind !== "signed") continue;
      const end = endOf(promise.presented.claim);
      db.prepare("UPDATE wrong_promises SET ends_at = ? WHERE key = ?").run(end, key);
    }
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

  get unchecked(): number {
    return this.batches.count;
  }

  /** Wrong promises about which something is left to do. */
  get open(): number {
    return this.#count("SELECT count(*) AS count FROM wrong_promises WHERE over_block IS NULL");
  }

  /** Keeps what was found wrong in a batch; nothing, where a re-org took the batch away meanwhile.
   *  @param isDone all its leaves were compared: its data go, unless some are right on the word of workers */
  addLeaves(
    id: BatchId,
    wrong: readonly WrongLeaf[],
    { isDone, workers }: { readonly isDone: boolean; readonly workers: ReadonlySet<string> },
  ): void {
    this.#db
      .transaction(() => {
        const row = this.#db
          .prepare<[string], { block: number; windowEnd: number }>(
            "SELECT block, window_end AS windowEnd FROM unchecked_batches WHERE batch_id = ?",
          )
          .get(id);
        if (row === undefined) return;
        for (const leaf of wrong) this.#add(leaf, row);
        if (!isDone) return;
        this.words.add(id, workers);
        this.batches.end(id, workers.size > 0);
      })
      .immediate();
  }

  /** What was kept without a signature, as another contract opened it, gets the one that is given. */
  addSigned(wrong: WrongSigned): void {
    if (this.lacksSignature(wrong.digest)) {
      this.#db
        .prepare("UPDATE wrong_promises SET promise = ? WHERE key = ?")
        .run(encodeEvent(wrong), wrong.digest);
    } else this.#add(wrong, { windowEnd: endOf(wrong.presented.claim) });
  }

  /** Keeps what somebody handed over, if there is room: what is weaker makes it, and is dropped, but not for what is over
   *  in a moment.
   *  @param strength wei that could be taken by it
   *  @returns false where all that is kept is as strong */
  addReported(wrong: WrongSigned, strength: bigint, limits: ReportLimits): boolean {
    return this.#db
      .transaction(() => {
        if (this.has(wrong.digest)) return true;
        const weaker = this.#weaker(wrong, strength, limits);
        if (weaker === undefined) return false;
        for (const key of weaker) this.#db.prepare("DELETE FROM wrong_promises WHERE key = ?").run(key);
        this.#add(wrong, { windowEnd: endOf(wrong.presented.claim), strength });
        return true;
      })
      .immediate();
  }

  /** Whether `addReported` would keep it. */
  hasRoom(wrong: WrongSigned, strength: bigint, limits: ReportLimits): boolean {
    return this.#weaker(wrong, strength, limits) !== undefined;
  }

  /** What makes room; undefined where there is none. */
  #weaker(
    wrong: WrongSigned,
    strength: bigint,
    { ofProver, inAll, lasting }: ReportLimits,
  ): string[] | undefined {
    const origin = originOf(wrong);
    const own = endOf(wrong.presented.claim);
    const end = own < lasting ? own : Number.MAX_SAFE_INTEGER;
    const weaker: string[] = [];
    if (this.#countReported("origin = ?", origin) >= ofProver) {
      const weakest = this.#weakest("origin = ?", origin, end);
      if (weakest === undefined || weakest.strength >= sortable(strength)) return undefined;
      weaker.push(weakest.key);
    }
    if (this.#countReported("? <> ''", origin) - weaker.length >= inAll) {
      const weakest = this.#weakest("? <> ''", origin, end);
      if (weakest === undefined || weakest.strength >= sortable(strength)) return undefined;
      weaker.push(weakest.key);
    }
    return weaker;
  }

  #countReported(where: string, origin: string): number {
    const sql = `SELECT count(*) AS count FROM wrong_promises WHERE ${REPORTED} AND ${where}`;
    return this.#db.prepare<[string], { count: number }>(sql).get(origin)?.count ?? 0;
  }

  /** Of those of which nothing is on its way to the chain, and that can be opened no longer than until a second. */
  #weakest(
    where: string,
    origin: string,
    end: number,
  ): { readonly key: string; readonly strength: string } | undefined {
    return this.#db
      .prepare<[string, number], { key: string; strength: string }>(
        `SELECT key, strength FROM wrong_promises WHERE ${REPORTED} AND deposit = '0' AND ${where} AND ends_at <= ?
         ORDER BY strength LIMIT 1`,
      )
      .get(origin, end);
  }

  /** It is kept, and once it is taken back it could not be opened again. */
  lacksSignature(digest: Digest): boolean {
    const kept = this.get(digest)?.promise;
    return kept?.kind === "signed" && kept.presented.signature === "0x";
  }

  #add(promise: WrongPromise, { block, windowEnd, strength }: Kept): void {
    this.#db
      .prepare(
        "INSERT OR IGNORE INTO wrong_promises (key, origin, block, promise, ends_at, reported, strength) VALUES (?, ?, ?, ?, ?, ?, ?)",
      )
      .run(
        ...[keyOf(promise), originOf(promise), block ?? null, encodeEvent(promise), windowEnd],
        ...(strength === undefined ? [0, ""] : [1, sortable(strength)]),
      );
  }

  /** Somebody opened a signed claim, which waits in its queue now: it is to be compared, unless it is known. */
  queued(queued: QueuedClaim): void {
    this.#db.prepare("UPDATE wrong_promises SET reported = 0 WHERE key = ?").run(queued.digest);
    if (!this.has(queued.digest)) this.queue.add(queued);
  }

  /** Of those that could be opened until then at most, nothing is left to do. */
  endBefore(second: number, { number }: Pick<Head, "number">): void {
    this.#db
      .prepare("UPDATE wrong_promises SET over_block = ? WHERE ends_at < ? AND over_block IS NULL")
      .run(Number(number), second);
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

  /** wei by key, of all that are not over and for which something stands. */
  get deposits(): ReadonlyMap<string, bigint> {
    const rows = this.#db
      .prepare<[], { key: string; deposit: string }>(
        "SELECT key, deposit FROM wrong_promises WHERE over_block IS NULL AND deposit <> '0'",
      )
      .all();
    return new Map(rows.map(({ key, deposit }) => [key, BigInt(deposit)]));
  }

  over(key: string, { number }: Pick<Head, "number">): void {
    this.#db.prepare("UPDATE wrong_promises SET over_block = ? WHERE key = ?").run(Number(number), key);
  }

  /** Drops what has been over since a block that no re-org reaches. @param now seconds */
  forget(before: bigint, now: number): void {
    this.stakes.forget(before, now);
    this.#db.prepare("DELETE FROM wrong_promises WHERE over_block < ?").run(Number(before));
  }

  /** Within `advance`: what came above a block is not there. */
  takeBack(ancestor: bigint): void {
    const block = Number(ancestor);
    this.#db.prepare("DELETE FROM unchecked_batches WHERE block > ?").run(block);
    this.#db.prepare("DELETE FROM wrong_promises WHERE block > ?").run(block);
    this.queue.takeBack(block);
    this.#db
      .prepare("UPDATE wrong_promises SET claim_id = NULL, claim_block = NULL WHERE claim_block > ?")
      .run(block);
    this.#db.prepare("UPDATE wrong_promises SET over_block = NULL WHERE over_block > ?").run(block);
    this.stakes.takeBack(ancestor);
  }

  #count(sql: string): number {
    return this.#db.prepare<[], { count: number }>(sql).get()?.count ?? 0;
  }
}
