import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { JOURNAL_SCHEMA, lockFolder, openDatabase } from "../../../protocol/service/journal/database.ts";
import { openSqlite, packageFor } from "../../../protocol/service/journal/sqlite.ts";
import { temporaryFolder } from "../../support/deploy.ts";

let folder: ReturnType<typeof temporaryFolder>;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, "assay.sqlite");
});
afterEach(() => folder.remove());

function migrations(...sql: string[]) {
  const path = join(folder.path, "migrations");
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path);
  for (const [index, text] of sql.entries()) writeFileSync(join(path, `00${index + 1}_part.sql`), text);
  return { name: "part", folder: path };
}

describe("openDatabase", () => {
  test("default: migrates each part once, and keeps what is there", () => {
    const part = migrations("CREATE TABLE a (x INTEGER) STRICT;");
    const first = openDatabase(file, [JOURNAL_SCHEMA, part]);
    first.exec("INSERT INTO a VALUES (7)");
    first.close();
    const newer = migrations("CREATE TABLE a (x INTEGER) STRICT;", "ALTER TABLE a ADD COLUMN y INTEGER;");
    const second = openDatabase(file, [JOURNAL_SCHEMA, newer]);
    expect(second.prepare("SELECT * FROM a").all()).toEqual([{ x: 7, y: null }]);
    second.close();
  });

  test("behavior: a migration that fails changes nothing", () => {
    openDatabase(file, [JOURNAL_SCHEMA]).close();
    const broken = migrations("CREATE TABLE a (x INTEGER) STRICT;", "CREATE TABLE b (;");
    expect(() => openDatabase(file, [broken])).toThrow(
      expect.objectContaining({ code: "DATABASE_UNUSABLE" }),
    );
    const db = openSqlite(file);
    expect(db.prepare("SELECT name FROM sqlite_master WHERE name = 'a'").all()).toEqual([]);
    db.close();
  });

  test("error: a newer schema is refused", () => {
    openDatabase(file, [migrations("SELECT 1;", "SELECT 1;")]).close();
    const older = migrations("SELECT 1;");
    expect(() => openDatabase(file, [older])).toThrow(
      expect.objectContaining({ code: "DATABASE_NEWER", details: { path: file, version: 2, known: 1 } }),
    );
  });

  test("error: a damaged file is named, with what to do", () => {
    writeFileSync(file, "this is no database, but long enough to look like one ".repeat(40));
    expect(() => openDatabase(file, [JOURNAL_SCHEMA])).toThrow(
      expect.objectContaining({
        code: "DATABASE_CORRUPT",
        details: { path: file },
        nextStep: expect.stringContaining("backup"),
      }),
    );
  });

  test("error: a folder that cannot be made", () => {
    writeFileSync(join(folder.path, "taken"), "");
    expect(() => openDatabase(join(folder.path, "taken", "x.sqlite"), [])).toThrow(
      expect.objectContaining({ code: "DATABASE_UNUSABLE" }),
    );
  });
});

describe("lockFolder", () => {
  test("default: one holder at a time", () => {
    const lock = lockFolder(folder.path);
    expect(() => lockFolder(folder.path)).toThrow(expect.objectContaining({ code: "DATA_FOLDER_BUSY" }));
    lock.release();
    lockFolder(folder.path).release();
  });
});

test.each([
  ["20.19.0", "better-sqlite3"],
  ["22.0.0", "better-sqlite3-13"],
  ["24.21.0", "better-sqlite3-13"],
  ["100.0.0", "better-sqlite3-13"],
] as const)("packageFor: Node.js %s gets %s", (node, name) => {
  expect(packageFor(node)).toBe(name);
});
