/** SQLite files with numbered migrations, and the lock on a data folder. */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BaseError } from "../../../base/errors.ts";
import { isSqliteError, openSqlite, type SqliteDatabase } from "./sqlite.ts";

export type { SqliteDatabase };

/** What stores and indexes use of a database: a browser's has it too. */
export type SqlDatabase = Pick<SqliteDatabase, "prepare" | "exec" | "transaction">;

/** A part of a program that owns tables. Its migrations are the files `NNN_name.sql` of its folder. */
export interface SchemaPart {
  readonly name: string;
  readonly folder: string;
}

/** The tables of the transaction journal. */
export const JOURNAL_SCHEMA: SchemaPart = {
  name: "journal",
  folder: fileURLToPath(new URL("migrations", import.meta.url)),
};

/** Makes a folder's journal a copy of a shared one. */
export const MIRROR_SCHEMA: SchemaPart = {
  name: "mirror",
  folder: fileURLToPath(new URL("mirror", import.meta.url)),
};

/** True if the folder's journal is a copy of a shared one. */
export function isMirror(db: SqliteDatabase): boolean {
  if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'mirror'").get() === undefined) return false;
  return db.prepare("SELECT 1 FROM mirror").get() !== undefined;
}

/** The migrations of a part, oldest first. */
export const migrationsOf = ({ folder }: SchemaPart): string[] =>
  readdirSync(folder)
    .filter((name) => /^\d{3}_\w+\.sql$/.test(name))
    .sort();

/** Opens a database, creates it if it is not there, and brings each part's tables up to date.
 *  @throws BaseError DATABASE_CORRUPT, DATABASE_NEWER, DATABASE_UNUSABLE */
export function openDatabase(path: string, parts: readonly SchemaPart[]): SqliteDatabase {
  let db: SqliteDatabase | undefined;
  try {
    mkdirSync(dirname(path), { recursive: true });
    db = openSqlite(path, { timeout: 5_000 });
    // A transaction that is journalled must survive a power cut: it may be on its way to the chain.
    db.pragma("journal_mode = WAL");
    db.pragma("synchronous = FULL");
    db.pragma("foreign_keys = ON");
    const [check] = db.pragma("quick_check(1)") as { quick_check: string }[];
    if (check?.quick_check !== "ok") throw corrupt(path, check?.quick_check);
    for (const part of parts) migrate(db, path, part);
    return db;
  } catch (error) {
    db?.close();
    throw databaseError(error, path);
  }
}

/** Opens a database to look into it, beside a process that uses it or without one.
 *  @throws BaseError DATABASE_UNUSABLE, DATABASE_CORRUPT */
export function openReadOnly(path: string): SqliteDatabase {
  try {
    return openSqlite(path, { readonly: true, fileMustExist: true, timeout: 5_000 });
  } catch (error) {
    throw databaseError(error, path);
  }
}

function migrate(db: SqliteDatabase, path: string, part: SchemaPart): void {
  db.exec(
    "CREATE TABLE IF NOT EXISTS migrations (part TEXT, number INTEGER, name TEXT NOT NULL, PRIMARY KEY (part, number)) STRICT",
  );
  const files = migrationsOf(part);
  const apply = db.transaction(() => {
    const present = db
      .prepare<[string], { newest: number }>(
        "SELECT coalesce(max(number), 0) AS newest FROM migrations WHERE part = ?",
      )
      .get(part.name)?.newest;
    const newest = present ?? 0;
    requireKnown(path, part, newest, files.length);
    for (const [index, name] of files.entries()) {
      if (index < newest) continue;
      db.exec(readFileSync(join(part.folder, name), "utf8"));
      db.prepare("INSERT INTO migrations (part, number, name) VALUES (?, ?, ?)").run(
        part.name,
        index + 1,
        name,
      );
    }
  });
  apply.immediate();
}

/** @throws BaseError DATABASE_NEWER */
export function requireKnown(path: string, part: SchemaPart, version: number, known: number): void {
  if (version <= known) return;
  throw new BaseError({
    code: "DATABASE_NEWER",
    shortMessage: `The database ${path} has version ${version} of the ${part.name} tables, this program knows ${known}.`,
    nextStep: "Use the newer program that wrote it, or another data folder (--data, ASSAY_DATA).",
    details: { path, version, known },
  });
}

export interface FolderLock {
  release(): void;
}

/** Locks a data folder for this process. The lock dies with the process, however it ends.
 *  @throws BaseError DATA_FOLDER_BUSY, DATABASE_UNUSABLE */
export function lockFolder(folder: string): FolderLock {
  const path = join(folder, "lock.sqlite");
  let db: SqliteDatabase | undefined;
  try {
    mkdirSync(folder, { recursive: true });
    db = openSqlite(path, { timeout: 0 });
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    db?.close();
    if (isSqliteError(error, "SQLITE_BUSY")) {
      throw new BaseError({
        code: "DATA_FOLDER_BUSY",
        shortMessage: `Another process uses the data folder ${folder}.`,
        nextStep:
          "Stop it, or give this one a folder and a key of its own (--data, ASSAY_DATA); `assay withdraw` has a running prover or challenger do it.",
        details: { folder },
        cause: error,
      });
    }
    throw databaseError(error, path);
  }
  const held = db;
  return { release: () => held.close() };
}

function databaseError(error: unknown, path: string): BaseError {
  if (error instanceof BaseError) return error;
  if (isSqliteError(error, "SQLITE_CORRUPT") || isSqliteError(error, "SQLITE_NOTADB"))
    return corrupt(path, error);
  return new BaseError({
    code: "DATABASE_UNUSABLE",
    shortMessage: `The database ${path} cannot be used: ${error instanceof Error ? error.message : String(error)}.`,
    nextStep: "Check the folder's rights and the free space, or name another folder (--data, ASSAY_DATA).",
    details: { path },
    cause: error,
  });
}

function corrupt(path: string, cause: unknown): BaseError {
  return new BaseError({
    code: "DATABASE_CORRUPT",
    shortMessage: `The database ${path} is damaged.`,
    nextStep:
      "Restore it from a backup; or move it away, with its -wal and -shm files, once no transaction of this key is waiting: what is on the chain is read again from there.",
    details: { path },
    cause,
  });
}
