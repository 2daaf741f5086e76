/** A data folder: one process, one key, one deployment, one database. */
import { join } from "node:path";
import { BaseError } from "../../base/errors.ts";
import { SILENT } from "../../base/log.ts";
import { Sender, type SenderOptions, type SigningChain } from "../chain/sender.ts";
import {
  isMirror,
  JOURNAL_SCHEMA,
  lockFolder,
  MIRROR_SCHEMA,
  openDatabase,
  type SchemaPart,
  type SqliteDatabase,
} from "./journal/database.ts";
import { type JournalOwner, LocalJournal } from "./journal/journal.ts";
import type { SharedJournal, SharedJournalParts } from "./journal/shared-journal.ts";
import { OwnJournal } from "./journal/transaction-journal.ts";

export interface DataFolder {
  /** holds the journal's tables and those of the given parts */
  readonly db: SqliteDatabase;
  /** started: it already carries on what an earlier process left */
  readonly sender: Sender;
  /** the journal in PostgreSQL, if the folder's is a copy of one */
  readonly shared?: SharedJournal;
  /** Ends the sender, closes the database and releases the folder. */
  close(): Promise<void>;
}

/** Opens a journal of which the folder's is a copy. */
export type ShareJournal = (parts: Omit<SharedJournalParts, "database">) => SharedJournal;

export interface DataFolderOptions extends SenderOptions {
  /** for a key whose daemons share their journal in PostgreSQL, whose client nobody else loads; absent: the folder alone
   *  has it */
  readonly share?: ShareJournal | undefined;
}

/** Whose journal a chain with this key has. */
export const ownerOf = ({ game, deployment, account }: SigningChain): JournalOwner => ({
  chainId: game.chainId,
  assay: game.assay,
  blockHash: deployment.block.hash,
  account: account.address,
});

/** Locks the folder, opens its database and takes up its unfinished transactions.
 *  @param parts tables of the caller besides the journal's
 *  @throws BaseError DATA_FOLDER_BUSY, DATABASE_CORRUPT, DATABASE_NEWER, DATABASE_UNUSABLE, DATABASE_MISSING,
 *  JOURNAL_OWNER_MISMATCH */
export function openDataFolder(
  folder: string,
  chain: SigningChain,
  parts: readonly SchemaPart[] = [],
  options: DataFolderOptions = {},
): DataFolder {
  const { share, ...senderOptions } = options;
  const lock = lockFolder(folder);
  let db: SqliteDatabase | undefined;
  try {
    const mirror = share === undefined ? [] : [MIRROR_SCHEMA];
    const opened = openDatabase(join(folder, "assay.sqlite"), [JOURNAL_SCHEMA, ...mirror, ...parts]);
    db = opened;
    if (share === undefined && isMirror(opened)) throw databaseMissing(folder);
    const owner = ownerOf(chain);
    const local = new LocalJournal(opened, owner);
    const { answerSeconds } = chain.constants;
    const log = options.log ?? SILENT;
    const shared = share?.({ owner, local, db: opened, answerSeconds, log });
    const sender = new Sender(chain, shared ?? new OwnJournal(local), senderOptions);
    shared?.start();
    sender.start();
    const close = async () => {
      await sender.stop();
      await shared?.stop();
      opened.close();
      lock.release();
    };
    return { db: opened, sender, close, ...(shared === undefined ? {} : { shared }) };
  } catch (error) {
    db?.close();
    lock.release();
    throw error;
  }
}

/** Alone it would sign what another machine signs, too. */
function databaseMissing(folder: string): BaseError {
  return new BaseError({
    code: "DATABASE_MISSING",
    shortMessage: `The journal in ${folder} is a copy of one in PostgreSQL, and no database is named.`,
    nextStep:
      "Name it with ASSAY_DATABASE or --database; to leave PostgreSQL for good, stop all daemons of the key and begin with an empty folder.",
  });
}
