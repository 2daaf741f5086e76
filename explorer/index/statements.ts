/** Prepared statements, each made once. */
import type { SqliteDatabase } from "../../protocol/service/journal/database.ts";

export type Prepare = SqliteDatabase["prepare"];

/** Like `db.prepare`, for texts of which there are few. */
export function statementsOf(db: SqliteDatabase): Prepare {
  const known = new Map<string, unknown>();
  const prepare = (text: string): unknown => {
    const made = known.get(text) ?? db.prepare(text);
    known.set(text, made);
    return made;
  };
  return prepare as Prepare;
}
