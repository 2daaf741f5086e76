/** Batches whose leaves are to be compared, with their data, across restarts. */
import type { Batch, BatchId } from "../../protocol/rules/promises/batch.ts";
import type { SqliteDatabase } from "../../protocol/service/journal/database.ts";

export interface UncheckedBatch {
  readonly id: BatchId;
  readonly batch: Batch;
  readonly block: bigint;
  readonly windowEnd: number;
  readonly data: Uint8Array;
  /** true: the canonical executor of this machine alone compares its leaves */
  readonly mustRunHere?: boolean;
}

interface BatchRow {
  readonly block: number;
  readonly window_end: number;
  readonly batch: string;
  readonly data: Uint8Array;
  readonly must_run_here: number;
}

export class UncheckedBatches {
  readonly #db: SqliteDatabase;

  /** @param db opened with PROMISES_SCHEMA */
  constructor(db: SqliteDatabase) {
    this.#db = db;
  }

  get count(): number {
    const sql = "SELECT count(*) AS count FROM unchecked_batches WHERE is_checked = 0";
    return this.#db.prepare<[], { count: number }>(sql).get()?.count ?? 0;
  }

  add({ id, batch, block, windowEnd, data }: UncheckedBatch): void {
    this.#db
      .prepare(
        "INSERT OR REPLACE INTO unchecked_batches (batch_id, block, window_end, batch, data) VALUES (?, ?, ?, ?, ?)",
      )
      .run(id, Number(block), windowEnd, JSON.stringify(batch), data);
  }

  /** Batches that are not checked, those whose window ends first before the others. @param except ids */
  next(except: ReadonlySet<BatchId>): UncheckedBatch | undefined {
    const rows = this.#db
      .prepare<[], { batch_id: BatchId }>(
        "SELECT batch_id FROM unchecked_batches WHERE is_checked = 0 ORDER BY window_end, block",
      )
      .iterate();
    for (const { batch_id: id } of rows) if (!except.has(id)) return this.#get(id);
    return undefined;
  }

  #get(id: BatchId): UncheckedBatch | undefined {
    const row = this.#db
      .prepare<[string], BatchRow>("SELECT * FROM unchecked_batches WHERE batch_id = ?")
      .get(id);
    if (row === undefined) return undefined;
    const { block, window_end: windowEnd, batch, data, must_run_here } = row;
    const more = must_run_here === 1 ? { mustRunHere: true } : {};
    return { id, batch: JSON.parse(batch) as Batch, block: BigInt(block), windowEnd, data, ...more };
  }

  mustRunHere(id: BatchId): void {
    this.#db.prepare("UPDATE unchecked_batches SET must_run_here = 1 WHERE batch_id = ?").run(id);
  }

  /** All leaves were compared. @param stays until its window ends, for some are right on the word of workers */
  end(id: BatchId, stays: boolean): void {
    const ends = stays ? "UPDATE unchecked_batches SET is_checked = 1" : "DELETE FROM unchecked_batches";
    this.#db.prepare(`${ends} WHERE batch_id = ?`).run(id);
  }

  /** Windows that are over: nobody can open these leaves any more. @returns those that were never checked */
  drop(now: number): BatchId[] {
    return this.#db
      .prepare<[number], { batch_id: BatchId; is_checked: number }>(
        "DELETE FROM unchecked_batches WHERE window_end <= ? RETURNING batch_id, is_checked",
      )
      .all(now)
      .flatMap(({ batch_id: id, is_checked }) => (is_checked === 1 ? [] : [id]));
  }
}
