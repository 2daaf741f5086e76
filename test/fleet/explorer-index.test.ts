/** The explorer's index in PostgreSQL: the tables that SQLite has, the same answers byte for byte, and what happens when
 *  the server is gone. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ExplorerIndex } from "../../explorer/index/explorer-index.ts";
import { EXPLORER_SCHEMA } from "../../explorer/index/schema.ts";
import { PostgresStore } from "../../explorer/store/postgres-store.ts";
import { databaseTerms } from "../../protocol/service/postgres/terms.ts";
import { History } from "../support/audited-history.ts";
import { temporaryFolder } from "../support/deploy.ts";
import { batchOf, contentOf, openExplorerStore } from "../support/explorer.ts";
import { ends, expectNothingOfAFailedBatch, expectSameInAnyOrder } from "../support/index-play.ts";
import { PASSWORD, type Postgres, startPostgres } from "../support/postgres.ts";
import { createRng } from "../support/rng.ts";

const SOON = { timeout: 60_000, interval: 50 };
let postgres: Postgres;
let history: History;
const folder = temporaryFolder();
let count = 0;

beforeAll(async () => {
  [postgres, history] = await Promise.all([startPostgres(), History.play()]);
});
afterAll(async () => {
  await postgres?.stop();
  folder.remove();
});

/** @param schema absent: a new one */
const open = async (schema = `index_${++count}`) =>
  new PostgresStore(databaseTerms(postgres.url, undefined), schema, [EXPLORER_SCHEMA]);

describe("ExplorerIndex", () => {
  test("default: the tables are those of SQLite", async () => {
    const { batch, facts } = batchOf(history.events);
    const stores = [await open(), openExplorerStore(join(folder.path, "plain.sqlite"))];
    const contents = [];
    for (const store of stores) {
      await new ExplorerIndex(store).take(batch, facts);
      contents.push(await contentOf(store));
      await store.close();
    }
    expect(contents[0]).toEqual(contents[1]);
    expect(contents[0]?.moves).toHaveLength(history.events.length);
  });

  test("behavior: however the events come, and whatever is taken back on the way, the tables are the same", () =>
    expectSameInAnyOrder(history.events, open, 3));

  test("error: a batch that fails leaves nothing behind, and comes again", () =>
    expectNothingOfAFailedBatch(history.events, open));

  test("behavior: of two explorers on one database each batch is taken once, and the slower one is told", async () => {
    const schema = `index_${++count}`;
    const stores = [await open(schema), await open(schema)] as const;
    const [first, second] = stores.map((store) => new ExplorerIndex(store)) as [ExplorerIndex, ExplorerIndex];
    const half = ends(history.events)[5];
    const early = batchOf(history.events.slice(0, half));
    const late = batchOf(history.events.slice(half), early.batch.cursor);
    const changes = await Promise.all(
      [first, second].map((index) => index.take(early.batch, early.facts, [], [])),
    );
    expect(changes.filter((change) => change?.kind === "blocks")).toHaveLength(1);
    await first.take(late.batch, late.facts, [], early.batch.cursor);
    const content = await contentOf(stores[0]);
    // The other one has other blocks in hand, as a follower that a longer chain came to.
    const longer = batchOf(history.events.slice(half, ends(history.events)[9]), early.batch.cursor);
    expect(await second.take(longer.batch, longer.facts, [], early.batch.cursor)).toEqual({ kind: "moved" });
    expect(await contentOf(stores[1])).toEqual(content);
    for (const store of stores) await store.close();
  });
});

describe("PostgresStore", () => {
  test("behavior: a read sees one state while another writes", async () => {
    const store = await open();
    const { batch, facts } = batchOf(history.events);
    const index = new ExplorerIndex(store);
    const seen = await index.read(async ({ tables }) => {
      const before = await tables.head();
      await new ExplorerIndex(store).take(batch, facts);
      return [before, await tables.head()];
    });
    expect(seen).toEqual([undefined, undefined]);
    expect((await index.read(async ({ head }) => head))?.hash).toBe(batch.to.hash);
    await store.close();
  });

  test("error: what the work throws is not the database's fault, and the connection stays", async () => {
    const store = await open();
    const fault = new Error("on purpose");
    for (let i = 0; i < 20; i++)
      await expect(
        store.read(async () => {
          throw fault;
        }),
      ).rejects.toBe(fault);
    await expect(store.read((sql) => sql.all("SELECT no_such_column FROM blocks"))).rejects.toMatchObject({
      code: "42703",
    });
    expect(await store.read((sql) => sql.all("SELECT * FROM blocks"))).toEqual([]);
    await store.close();
  });

  test("error: gone, it is named without its password; when it is back, all that was written is there", async () => {
    const schema = `index_${++count}`;
    const store = await open(schema);
    const index = new ExplorerIndex(store);
    const half = ends(history.events)[5];
    const early = batchOf(history.events.slice(0, half));
    const late = batchOf(history.events.slice(half), early.batch.cursor);
    await index.take(early.batch, early.facts);
    await postgres.crash();
    try {
      const error = await index
        .take(late.batch, late.facts, [], early.batch.cursor)
        .catch((thrown) => thrown);
      expect(error).toMatchObject({ code: "DATABASE_UNREACHABLE", retryable: true });
      expect(error.shortMessage).toContain("127.0.0.1");
      expect(JSON.stringify([error.message, error.details, String(error.cause)])).not.toContain(PASSWORD);
    } finally {
      await postgres.start();
    }
    await expect.poll(() => index.cursor().catch(() => undefined), SOON).toEqual(early.batch.cursor);
    await index.take(late.batch, late.facts, [], early.batch.cursor);
    const other = openExplorerStore(join(folder.path, "other.sqlite"));
    const { batch, facts } = batchOf(history.events);
    await new ExplorerIndex(other).take(batch, facts);
    const [found, expected] = [await contentOf(store), await contentOf(other)];
    for (const table of ["moves", "requests", "claims", "sums", "events"])
      expect(found[table], table).toEqual(expected[table]);
    await Promise.all([store.close(), other.close()]);
  });

  test("behavior: connections that end anywhere in a write lose nothing, and double nothing", async () => {
    const store = await open();
    const index = new ExplorerIndex(store);
    const places = [0, ...ends(history.events)];
    const random = createRng(3);
    let [at, cuts] = [0, 0];
    while (at + 1 < places.length) {
      // As the follower does: on from where the index is.
      const cursor = await index.cursor().catch(() => null);
      if (cursor === null) continue;
      const block = cursor?.at(-1)?.number ?? -1n;
      at = places.filter(
        (end) => end > 0 && (history.events[end - 1]?.event.block.number ?? 0n) <= block,
      ).length;
      if (at + 1 >= places.length) break;
      const part = history.events.slice(places[at], places[Math.min(at + 4, places.length - 1)]);
      const { batch, facts } = batchOf(part, cursor ?? []);
      let isOver = false;
      const taking = index
        .take(batch, facts, [], cursor ?? [])
        .then(
          () => false,
          () => true,
        )
        .finally(() => {
          isOver = true;
        });
      if (random.chance(0.6)) {
        await new Promise((resolve) => setTimeout(resolve, cuts === 0 ? 0 : random.int(0, 25)));
        // Until a write was cut, again and again: on a fast machine most delays are too long.
        do
          await postgres.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'assay on %'",
          );
        while (cuts === 0 && !isOver);
      }
      if (await taking) cuts += 1;
    }
    expect(cuts).toBeGreaterThan(0);
    const other = openExplorerStore(join(folder.path, "uncut.sqlite"));
    const { batch, facts } = batchOf(history.events);
    await new ExplorerIndex(other).take(batch, facts);
    const [found, expected] = [await contentOf(store), await contentOf(other)];
    for (const table of ["moves", "requests", "claims", "tickets", "sums", "events"])
      expect(found[table], table).toEqual(expected[table]);
    await Promise.all([store.close(), other.close()]);
  });

  test("error: of tables that were dropped, an empty index is made", async () => {
    const schema = `index_${++count}`;
    const index = new ExplorerIndex(await open(schema));
    const { batch, facts } = batchOf(history.events);
    await index.take(batch, facts);
    await postgres.query(`DROP SCHEMA ${schema} CASCADE`);
    await expect(index.cursor()).rejects.toMatchObject({ code: "DATABASE_UNREACHABLE" });
    expect(await index.cursor()).toBeUndefined();
    expect((await index.take(batch, facts, [], []))?.kind).toBe("blocks");
  });
});
