/** Shared journals without a chain. */
import { join } from "node:path";
import type { Address, Hex } from "viem";
import { SILENT } from "../../base/log.ts";
import { JOURNAL_SCHEMA, MIRROR_SCHEMA, openDatabase } from "../../protocol/service/journal/database.ts";
import { type JournalOwner, LocalJournal } from "../../protocol/service/journal/journal.ts";
import { Notes } from "../../protocol/service/journal/notes.ts";
import { SharedJournal } from "../../protocol/service/journal/shared-journal.ts";
import { OwnJournal } from "../../protocol/service/journal/transaction-journal.ts";
import { databaseTerms } from "../../protocol/service/postgres/terms.ts";
import { temporaryFolder } from "./deploy.ts";

export const SOON = { timeout: 60_000, interval: 10 };
/** Removed by whoever uses it. */
export const sharedFolder = temporaryFolder();
let count = 0;
const newPath = () => join(sharedFolder.path, `${++count}.sqlite`);

/** A key that no other test has. */
export function newOwner(): JournalOwner {
  count += 1;
  const account = `0x${count.toString(16).padStart(40, "0")}` as Address;
  const [assay, blockHash] = [`0x${"11".repeat(20)}` as Address, `0x${"22".repeat(32)}` as Hex];
  return { chainId: 31337, assay, blockHash, account };
}

export interface Shared {
  readonly journal: SharedJournal;
  readonly notes: Notes;
  close(): Promise<void>;
  /** A new one on the same folder. */
  reopen(): Shared;
}

/** A daemon's journal, with a copy of its own. @param path absent: a new one */
export function openShared(owner: JournalOwner, url: string, path = newPath()): Shared {
  const db = openDatabase(path, [JOURNAL_SCHEMA, MIRROR_SCHEMA]);
  const local = new LocalJournal(db, owner);
  const database = databaseTerms(url, undefined);
  const parts = { database, owner, local, db, answerSeconds: 120, log: SILENT, beatMs: 10 };
  const journal = new SharedJournal(parts);
  journal.start();
  const close = async () => {
    await journal.stop();
    db.close();
  };
  return { journal, notes: new Notes(db), close, reopen: () => openShared(owner, url, path) };
}

/** The journal of a daemon that shares it with nobody. */
export const openOwn = (owner: JournalOwner): OwnJournal =>
  new OwnJournal(new LocalJournal(openDatabase(newPath(), [JOURNAL_SCHEMA]), owner));
