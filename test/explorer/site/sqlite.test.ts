import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Sql } from "../../../explorer/store/sql.ts";
import { SqliteStore } from "../../../explorer/store/sqlite-store.ts";
import { openDatabase } from "../../../protocol/service/journal/database.ts";
import { browserDatabases } from "../../support/browser-database.ts";
import { temporaryFolder } from "../../support/deploy.ts";

const folder = temporaryFolder();
const warn = vi.spyOn(console, "warn");
/** better-sqlite3, and the browser's. */
let both: readonly SqliteStore[];
beforeAll(async () => {
  const browser = await browserDatabases();
  const databases = [openDatabase(`${folder.path}/one.sqlite`, []), browser()];
  for (const db of databases)
    db.exec(
      "CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT, amount INTEGER, part REAL, body BLOB) STRICT",
    );
  both = databases.map((db) => new SqliteStore(db));
});
afterAll(async () => {
  for (const store of both) await store.close();
  folder.remove();
});

/** What both databases give, which has to be the same. */
async function same<Result>(work: (store: SqliteStore) => Promise<Result>): Promise<Result> {
  const [expected, found] = (await Promise.all(
    both.map((store) =>
      work(store).then(
        (value) => ({ value }),
        (error) => ({ thrown: String(error).replace(/^\w+: (SQLITE_\w+: sqlite3 result code \d+: )?/, "") }),
      ),
    ),
  )) as [{ value: Result }, { value: Result }];
  expect(found).toEqual(expected);
  return expected.value;
}
const read = <Result>(work: (sql: Sql) => Promise<Result>) => same((store) => store.read(work));
const write = <Result>(work: (sql: Sql) => Promise<Result>) => same((store) => store.write(work));

describe("loadSqlite", () => {
  it("default: says nothing of files that no browser gives to a database in memory", () => {
    expect(warn).not.toHaveBeenCalled();
  });
});

describe("openInMemory", () => {
  it("default: rows, single rows, and none", async () => {
    const put = "INSERT INTO things VALUES (?, ?, ?, ?, ?)";
    await write((sql) => sql.run(put, 1, "a", 2 ** 52, 0.5, null));
    await write((sql) => sql.run(put, 2, "\u202eé😀b", null, -1.25, null));
    await write((sql) => sql.run(put, 3, null, Number.MAX_SAFE_INTEGER, null, null));
    expect(await read((sql) => sql.all("SELECT * FROM things WHERE id > ?", 1))).toHaveLength(2);
    expect(await read((sql) => sql.get("SELECT name, amount FROM things WHERE id = ?", 3))).toEqual({
      name: null,
      amount: Number.MAX_SAFE_INTEGER,
    });
    expect(await read((sql) => sql.get("SELECT * FROM things WHERE id = ?", 9))).toBeUndefined();
  });

  it("behavior: a statement that is run again has no values of before, nor has one that failed", async () => {
    await read((sql) => sql.get("SELECT ? AS a, ? AS b", 1, 2));
    await write((sql) => sql.run("INSERT INTO things (id) VALUES (?)", 1));
    await write((sql) => sql.run("INSERT INTO things (id) VALUES (?)", 10));
    const [, browser] = both as [SqliteStore, SqliteStore];
    expect(await browser.read((sql) => sql.get("SELECT ? AS a, ? AS b"))).toEqual({ a: null, b: null });
  });
});

describe("SqliteStore", () => {
  const put = (sql: Sql, id: number) => sql.run("INSERT INTO things (id) VALUES (?)", id);
  const ids = async (sql: Sql) => {
    const rows = await sql.all<{ id: number }>("SELECT id FROM things WHERE id >= 20 ORDER BY id");
    return rows.map(({ id }) => id);
  };

  it("behavior: of what fails nothing is left, and the next is written", async () => {
    await write(async (sql) => {
      await put(sql, 20);
      throw new Error("on purpose");
    });
    expect(await read(ids)).toEqual([]);
    await write(async (sql) => {
      await put(sql, 21);
      await put(sql, 21);
    });
    await write((sql) => put(sql, 22));
    expect(await read(ids)).toEqual([22]);
  });

  it("behavior: nobody reads what is half written, nor while it is taken back", async () => {
    const seen = await same(async (store) => {
      const writing = store.write(async (sql) => {
        await put(sql, 30);
        await new Promise((resolve) => setTimeout(resolve, 20));
        await put(sql, 31);
      });
      const before = store.read(ids);
      const failing = store.write(async (sql) => {
        await put(sql, 32);
        await new Promise((resolve) => setTimeout(resolve, 20));
        throw new Error("on purpose");
      });
      const after = store.read(ids);
      await expect(failing).rejects.toThrow("on purpose");
      await writing;
      return Promise.all([before, after]);
    });
    expect(seen).toEqual([
      [22, 30, 31],
      [22, 30, 31],
    ]);
  });
});
