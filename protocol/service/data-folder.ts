/** A data folder: one process, one key, one deployment, one database. */
import { join } from "node:path";
import { Sender, type SenderOptions, type SigningChain } from "../chain/sender.ts";
import {
  JOURNAL_SCHEMA,
  lockFolder,
  openDatabase,
  type SchemaPart,
  type SqliteDatabase,
} from "./journal/database.ts";
import { Journal } from "./journal/journal.ts";

export interface DataFolder {
  /** holds the journal's tables and those of the given parts */
  readonly db: SqliteDatabase;
  /** started: it already carries on what an earlier process left */
  readonly sender: Sender;
  /** Ends the sender, closes the database and releases the folder. */
  close(): Promise<void>;
}

/** Locks the folder, opens its database and takes up its unfinished transactions.
 *  @param parts tables of the caller besides the journal's
 *  @throws BaseError DATA_FOLDER_BUSY, DATABASE_CORRUPT, DATABASE_NEWER, DATABASE_UNUSABLE,
 *  JOURNAL_OWNER_MISMATCH */
export function openDataFolder(
  folder: string,
  chain: SigningChain,
  parts: readonly SchemaPart[] = [],
  options: SenderOptions = {},
): DataFolder {
  const lock = lockFolder(folder);
  let db: SqliteDatabase | undefined;
  try {
    const opened = openDatabase(join(folder, "assay.sqlite"), [JOURNAL_SCHEMA, ...parts]);
    db = opened;
    const { chainId, assay } = chain.game;
    const owner = {
      chainId,
      assay,
      blockHash: chain.deployment.block.hash,
      account: chain.account.address,
    };
    const sender = new Sender(chain, new Journal(opened, owner), options);
    sender.start();
    const close = async () => {
      await sender.stop();
      opened.close();
      lock.release();
    };
    return { db: opened, sender, close };
  } catch (error) {
    db?.close();
    lock.release();
    throw error;
  }
}
