/** Which promises were found right on whose word. */
import type { SqliteDatabase } from "../../protocol/service/journal/database.ts";

export class Words {
  readonly #db: SqliteDatabase;

  /** @param db opened with PROMISES_SCHEMA */
  constructor(db: SqliteDatabase) {
    this.#db = db;
  }

  /** @param key id of a batch, or digest of a signed claim */
  add(key: string, workers: Iterable<string>): void {
    const insert = this.#db.prepare("INSERT OR IGNORE INTO words (key, worker) VALUES (?, ?)");
    for (const worker of workers) insert.run(key, worker);
  }

  /** A worker lied: what was found right on its word is unchecked, and this machine's alone to check.
   *  @returns how many batches and signed claims */
  distrust(worker: string): number {
    const among = "IN (SELECT key FROM words WHERE worker = ?)";
    return this.#db
      .transaction(() => {
        const again = "is_checked = 0, must_run_here = 1";
        const { changes: batches } = this.#db
          .prepare(`UPDATE unchecked_batches SET ${again} WHERE batch_id ${among}`)
          .run(worker);
        const { changes: queued } = this.#db
          .prepare(`UPDATE queued_to_check SET ${again}, next_block = 0 WHERE digest ${among}`)
          .run(worker);
        this.#db.prepare(`DELETE FROM words WHERE key ${among}`).run(worker);
        return batches + queued;
      })
      .immediate();
  }
}
