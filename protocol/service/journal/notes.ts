/** Notes beside the journal of transactions, which whoever signs with the key must know: a daemon that takes over goes by
 *  those of the one before. */
import type { SqliteDatabase } from "./database.ts";

export interface NoteRow {
  key: string;
  at_ms: number;
  body: string | null;
  /** as those of ActionRow */
  revision: number | null;
  fence: number | null;
}

/** How the keys of notes begin that count for an hour. They are dropped when a note is written a day later: the clocks of
 *  daemons that share a journal do not differ by so much. */
export const PASSING_NOTES = { ticket: "ticket:", back: "back:" } as const;
export const PASSING_KEPT_MS = 86_400_000;

export type Note = Pick<NoteRow, "key" | "body"> & { readonly atMs: number };

export class Notes {
  readonly #db: SqliteDatabase;

  /** @param db opened with JOURNAL_SCHEMA */
  constructor(db: SqliteDatabase) {
    this.#db = db;
  }

  get(key: string): Note | undefined {
    return this.#db
      .prepare<[string], Note>("SELECT key, at_ms AS atMs, body FROM notes WHERE key = ?")
      .get(key);
  }

  /** Texts of those whose key begins so and that were written later. */
  textsSince(prefix: string, sinceMs: number): string[] {
    return this.#db
      .prepare<[string, string, number], { body: string }>(
        "SELECT body FROM notes WHERE substr(key, 1, length(?)) = ? AND body IS NOT NULL AND at_ms > ?",
      )
      .all(prefix, prefix, sinceMs)
      .map(({ body }) => body);
  }

  /** Writes a note in the place of the one with its key, and drops what has passed. */
  put({ key, atMs, body }: Note): void {
    this.#db
      .prepare(
        `INSERT INTO notes (key, at_ms, body) VALUES (?, ?, ?)
         ON CONFLICT (key) DO UPDATE SET at_ms = excluded.at_ms, body = excluded.body`,
      )
      .run(key, atMs, body);
    for (const prefix of Object.values(PASSING_NOTES))
      this.#db
        .prepare("DELETE FROM notes WHERE substr(key, 1, length(?)) = ? AND at_ms < ?")
        .run(prefix, prefix, atMs - PASSING_KEPT_MS);
  }

  /** Takes the text of those whose key begins so. */
  clearAll(prefix: string): void {
    this.#db
      .prepare("UPDATE notes SET body = NULL WHERE substr(key, 1, length(?)) = ? AND body IS NOT NULL")
      .run(prefix, prefix);
  }
}
