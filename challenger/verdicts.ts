import { fileURLToPath } from "node:url";
import type { Hex } from "viem";
import type { SchemaPart, SqliteDatabase } from "../protocol/journal/database.ts";
import type { ClaimId } from "../protocol/terms.ts";
import type { Verdict } from "./reexecute.ts";

/** The table of verdicts. */
export const VERDICTS_SCHEMA: SchemaPart = {
  name: "verdicts",
  folder: fileURLToPath(new URL("store", import.meta.url)),
};

/** A verdict that stands; "could not check" is none. */
export type SettledVerdict = Exclude<Verdict, { kind: "could-not-check" }>;

/** Verdicts survive the process; they are asked for at every block, so memory has them too. */
export class VerdictStore {
  readonly #db: SqliteDatabase;
  readonly #held: Map<ClaimId, SettledVerdict>;

  /** @param db opened with VERDICTS_SCHEMA */
  constructor(db: SqliteDatabase) {
    this.#db = db;
    const rows = db
      .prepare<[], { claim_id: ClaimId; is_right: number; honest: Hex }>("SELECT * FROM verdicts")
      .all();
    this.#held = new Map(
      rows.map(({ claim_id, is_right, honest }) => [
        claim_id,
        is_right === 1 ? { kind: "right" } : { kind: "wrong", honest },
      ]),
    );
  }

  /** True if a challenger ever used the database. */
  static isIn(db: SqliteDatabase): boolean {
    return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'verdicts'").get() !== undefined;
  }

  get(claim: ClaimId): SettledVerdict | undefined {
    return this.#held.get(claim);
  }

  put(claim: ClaimId, verdict: SettledVerdict): void {
    this.#db
      .prepare("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?)")
      .run(claim, verdict.kind === "right" ? 1 : 0, verdict.kind === "wrong" ? verdict.honest : null);
    this.#held.set(claim, verdict);
  }

  forget(claim: ClaimId): void {
    this.#db.prepare("DELETE FROM verdicts WHERE claim_id = ?").run(claim);
    this.#held.delete(claim);
  }
}
