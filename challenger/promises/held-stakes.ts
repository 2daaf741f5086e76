/** What holds stake of provers, across restarts: claims that promises became, and batches. Nobody is bound to end them,
 *  and a cheat will not: whoever waits for the stake does. */
import type { Address } from "viem";
import type { PromiseEvent } from "../../protocol/chain/promises/events.ts";
import type { Batch, BatchId } from "../../protocol/rules/promises/batch.ts";
import type { ClaimId } from "../../protocol/rules/types.ts";
import type { SqliteDatabase } from "../../protocol/service/journal/database.ts";

export type HeldStake =
  | { readonly kind: "claim"; readonly claimId: ClaimId }
  | { readonly kind: "batch"; readonly batchId: BatchId; readonly batch: Batch };

export class HeldStakes {
  readonly #db: SqliteDatabase;

  /** @param db opened with PROMISES_SCHEMA */
  constructor(db: SqliteDatabase) {
    this.#db = db;
  }

  apply({ name, args, block: { number } }: PromiseEvent): void {
    const block = Number(number);
    switch (name) {
      case "Posted":
        this.#db
          .prepare("INSERT OR REPLACE INTO held_stakes VALUES (?, ?, ?, ?, ?, NULL)")
          .run(args.batchId, args.prover, JSON.stringify(args.batch), args.windowEnd, block);
        break;
      case "Opened":
        this.#claimed(args.claimId, args.prover, block);
        break;
      case "LeafOpened": {
        const posted = this.#db
          .prepare<[string], { prover: Address }>("SELECT prover FROM held_stakes WHERE key = ?")
          .get(args.batchId);
        if (posted !== undefined) this.#claimed(args.claimId, posted.prover, block);
        break;
      }
      case "Closed":
        this.#ended(args.claimId, block);
        break;
      case "Released":
        if (args.amount > 0n) this.#ended(args.batchId, block);
    }
  }

  /** Of one prover, the oldest first: as many as its stake reaches for. */
  of(prover: Address): HeldStake[] {
    return this.#db
      .prepare<[string], { key: string; batch: string | null }>(
        "SELECT key, batch FROM held_stakes WHERE prover = ? AND ended_block IS NULL ORDER BY block",
      )
      .all(prover)
      .map(({ key, batch }) =>
        batch === null
          ? { kind: "claim", claimId: key as ClaimId }
          : { kind: "batch", batchId: key as BatchId, batch: JSON.parse(batch) as Batch },
      );
  }

  /** Drops what ended before a block that no re-org reaches. @param now seconds */
  forget(before: bigint, now: number): void {
    this.#db
      .prepare("DELETE FROM held_stakes WHERE ended_block < ? AND (window_end IS NULL OR window_end <= ?)")
      .run(Number(before), now);
  }

  /** What came above a block is not there. */
  takeBack(ancestor: bigint): void {
    const block = Number(ancestor);
    this.#db.prepare("DELETE FROM held_stakes WHERE block > ?").run(block);
    this.#db.prepare("UPDATE held_stakes SET ended_block = NULL WHERE ended_block > ?").run(block);
  }

  #claimed(claimId: ClaimId, prover: Address, block: number): void {
    this.#db
      .prepare("INSERT OR REPLACE INTO held_stakes VALUES (?, ?, NULL, NULL, ?, NULL)")
      .run(claimId, prover, block);
  }

  #ended(key: string, block: number): void {
    this.#db.prepare("UPDATE held_stakes SET ended_block = ? WHERE key = ?").run(block, key);
  }
}
