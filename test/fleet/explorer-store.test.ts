/** PostgreSQL as the database of an explorer's index, asked by many at once. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EXPLORER_SCHEMA } from "../../explorer/index/schema.ts";
import { PostgresStore } from "../../explorer/store/postgres-store.ts";
import type { Sql } from "../../explorer/store/sql.ts";
import { databaseTerms } from "../../protocol/service/postgres/terms.ts";
import { expectNothingBesideATransaction } from "../support/index-play.ts";
import { PASSWORD, type Postgres, startPostgres } from "../support/postgres.ts";

let postgres: Postgres;
let count = 0;

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.stop());

const open = async () =>
  new PostgresStore(databaseTerms(postgres.url, undefined), `store_${++count}`, [EXPLORER_SCHEMA]);
const putCursor = (sql: Sql) => sql.run("INSERT INTO cursor VALUES (1, ?)", "[]");

describe("PostgresStore", () => {
  test("error: what goes on when another part of a batch has failed writes nothing beside it", () =>
    expectNothingBesideATransaction(open));

  test("behavior: however many pages are read, a batch is written, and nobody calls the server gone", async () => {
    const store = await open();
    await store.enter();
    const ends: (() => void)[] = [];
    const slow = Array.from({ length: 8 }, () =>
      store.read(async (sql) => {
        await sql.all("SELECT 1 AS one");
        await new Promise<void>((resolve) => ends.push(resolve));
      }),
    );
    await expect.poll(() => ends.length).toBe(8);
    const [written, refused] = await Promise.allSettled([
      store.write(putCursor),
      store.read((sql) => sql.all("SELECT 1 AS one")),
    ]);
    for (const end of ends) end();
    await Promise.all(slow);
    expect(written).toMatchObject({ status: "fulfilled" });
    expect(refused).toMatchObject({ reason: { code: "TOO_BUSY", retryable: true } });
    expect(JSON.stringify(refused)).not.toContain(PASSWORD);
    expect(await store.read((sql) => sql.all("SELECT body FROM cursor"))).toEqual([{ body: "[]" }]);
    await store.close();
  });

  test("behavior: a process that computes for some seconds loses no transaction", async () => {
    const store = await open();
    await store.write(async (sql) => {
      await putCursor(sql);
      const until = Date.now() + 3_500;
      while (Date.now() < until);
      await sql.run("DELETE FROM cursor");
    });
    await store.close();
  });
});
