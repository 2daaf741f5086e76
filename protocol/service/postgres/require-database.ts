/** What is wrong with a database for good is said at the start; what will pass is waited for. */
import { isBaseError } from "../../../base/errors.ts";
import type { JournalOwner } from "../journal/journal.ts";
import { enterSchema } from "./schema.ts";
import { PostgresSession } from "./session.ts";
import type { DatabaseTerms } from "./terms.ts";

/** Passes a database that does not answer: a daemon that is started again while it is gone has answers to give.
 *  @throws BaseError DATABASE_URL_INVALID, DATABASE_TOO_OLD, DATABASE_NEWER, JOURNAL_OWNER_MISMATCH */
export async function requireDatabase(terms: DatabaseTerms, owner: JournalOwner): Promise<void> {
  let session: PostgresSession | undefined;
  try {
    session = await PostgresSession.open(terms, () => undefined);
    await enterSchema(session, terms, owner);
  } catch (error) {
    if (!isBaseError(error, "DATABASE_UNREACHABLE")) throw error;
  } finally {
    session?.destroy();
  }
}
