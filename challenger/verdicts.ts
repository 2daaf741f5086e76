import { fileURLToPath } from "node:url";
import type { Hex } from "viem";
import type { ClaimId } from "../protocol/rules/types.ts";
import type { SchemaPart, SqliteDatabase } from "../protocol/service/journal/database.ts";
import type { Verdict } from "./reexecute.ts";

/** The table of verdicts. */
export const VERDICTS_SCHEMA: SchemaPart = {
  name: "verdicts",
  folder: fileURLToPath(new URL("store", import.meta.url)),
};

/** A verdict that stands; "could not check" is not a verdict. */
export type SettledVerdict = Exclude<Verdict, { kind: "could-not-check" }>;

/** Verdicts survive the process, and are not held in memory: there is one for each claim that may still be disputed. */
export class VerdictStore {
  readonly #db: SqliteDatabase;
  readonly #get: ReturnType<typeof selectVerdict>;

  /** @param db opened with VERDICTS_SCHEMA */
  constructor(db: SqliteDatabase) {
    this.#db = db;
    this.#get = selectVerdict(db);
  }

  /** True if a challenger ever used the database. */
  static isIn(db: SqliteDatabase): boolean {
    return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'verdicts'").get() !== undefined;
  }

  get(claim: ClaimId): SettledVerdict | undefined {
    const row = this.#get.get(claim);
    if (row === undefined) return undefined;
    if (row.is_right === 1) return { kind: "right" };
    return { kind: "wrong", ...(row.honest === null ? {} : { honest: row.honest }) };
  }

  put(claim: ClaimId, verdict: SettledVerdict): void {
    const isRight = verdict.kind === "right";
    const [first = null, second = null] = (isRight ? verdict.workers : undefined) ?? [];
    this.#db
      .prepare(
        "INSERT OR REPLACE INTO verdicts (claim_id, is_right, honest, first_worker, second_worker) VALUES (?, ?, ?, ?, ?)",
      )
      .run(claim, isRight ? 1 : 0, isRight ? null : (verdict.honest ?? null), first, second);
  }

  /** Claims that were found right on the word of this worker and one other. */
  onWordOf(worker: string): ClaimId[] {
    return this.#db
      .prepare<[string, string], { id: ClaimId }>(
        "SELECT claim_id AS id FROM verdicts WHERE first_worker = ? OR second_worker = ?",
      )
      .all(worker, worker)
      .map(({ id }) => id);
  }

  forget(claim: ClaimId): void {
    this.#db.prepare("DELETE FROM verdicts WHERE claim_id = ?").run(claim);
  }
}

const selectVerdict = (db: SqliteDatabase) =>
  db.prepare<[ClaimId], { is_right: number; honest: Hex | null }>(
    "SELECT is_right, honest FROM verdicts WHERE claim_id = ?",
  );
