/** Shares a folder's journal; whoever has it alone loads no client of PostgreSQL. */
import type { ShareJournal } from "../data-folder.ts";
import type { DatabaseTerms } from "../postgres/terms.ts";
import type { JournalOwner } from "./journal.ts";

/** @throws BaseError as requireDatabase does */
export async function shareJournal(database: DatabaseTerms, owner: JournalOwner): Promise<ShareJournal> {
  const { requireDatabase } = await import("../postgres/require-database.ts");
  const { SharedJournal } = await import("./shared-journal.ts");
  await requireDatabase(database, owner);
  return (parts) => new SharedJournal({ ...parts, database });
}
