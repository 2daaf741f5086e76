/** Signed claims that somebody opened and that wait in a queue, across restarts, until they are compared. */
import type { Hex } from "viem";
import type { Head } from "../../protocol/chain/follower.ts";
import type { Digest, SignedClaim } from "../../protocol/rules/promises/signed-claim.ts";
import type { SqliteDatabase } from "../../protocol/service/journal/database.ts";
import { decodeEvent, encodeEvent } from "../../protocol/service/store/event-json.ts";

/** A signed claim as the event of its opening has it. */
export interface QueuedClaim {
  readonly digest: Digest;
  readonly claim: SignedClaim;
  readonly input: Hex;
  readonly output: Hex;
  readonly block: bigint;
  readonly transactionHash: Hex;
  /** true: the canonical executor of this machine alone compares it */
  readonly mustRunHere?: boolean;
}

/** Longest pause between two tries to compare one, blocks. */
const MAX_PAUSE_BLOCKS = 64;

export class QueuedClaims {
  readonly #db: SqliteDatabase;

  /** @param db opened with PROMISES_SCHEMA */
  constructor(db: SqliteDatabase) {
    this.#db = db;
  }

  add(queued: QueuedClaim): void {
    this.#db
      .prepare("INSERT OR REPLACE INTO queued_to_check (digest, block, body) VALUES (?, ?, ?)")
      .run(queued.digest, Number(queued.block), encodeEvent(queued));
  }

  /** Those to compare at a block. */
  at({ number }: Pick<Head, "number">): QueuedClaim[] {
    return this.#db
      .prepare<[number], { body: string; must_run_here: number }>(
        "SELECT body, must_run_here FROM queued_to_check WHERE is_checked = 0 AND next_block <= ? ORDER BY rowid",
      )
      .all(Number(number))
      .map(({ body, must_run_here }) => ({
        ...(decodeEvent(body) as QueuedClaim),
        ...(must_run_here === 1 ? { mustRunHere: true } : {}),
      }));
  }

  /** It is right on the word of workers: it stays as long as it waits. */
  keep(digest: Digest): void {
    this.#db.prepare("UPDATE queued_to_check SET is_checked = 1 WHERE digest = ?").run(digest);
  }

  /** It could not be compared: the pause before the next try doubles. */
  postpone(digest: Digest, { number }: Pick<Head, "number">): void {
    this.#db
      .prepare(
        "UPDATE queued_to_check SET tries = tries + 1, next_block = ? + min(1 << min(tries, 10), ?) WHERE digest = ?",
      )
      .run(Number(number), MAX_PAUSE_BLOCKS, digest);
  }

  /** It was compared, or waits no more. */
  drop(digest: Digest): void {
    this.#db.prepare("DELETE FROM queued_to_check WHERE digest = ?").run(digest);
  }

  /** What came above a block is not there. */
  takeBack(block: number): void {
    this.#db.prepare("DELETE FROM queued_to_check WHERE block > ?").run(block);
  }
}
