/** A history that comes to an index in any order, with re-orgs: whatever the database, the tables are the same. */
import { expect } from "vitest";
import { ExplorerIndex } from "../../explorer/index/explorer-index.ts";
import type { Sql, SqlStore } from "../../explorer/store/sql.ts";
import type { Cursor } from "../../protocol/chain/follower.ts";
import type { TimedEvent } from "./audited-history.ts";
import { batchOf, contentOf, NO_FACTS, rollbackTo } from "./explorer.ts";
import { createRng, type Rng } from "./rng.ts";

/** Places where a block ends. */
export function ends(events: readonly TimedEvent[]): number[] {
  return events.flatMap(({ event }, i) =>
    events[i + 1]?.event.block.number === event.block.number ? [] : [i + 1],
  );
}

/** Splits at ends of blocks. */
function split(events: readonly TimedEvent[], random: Rng, most: number): TimedEvent[][] {
  const parts: TimedEvent[][] = [];
  let from = 0;
  for (const end of ends(events)) {
    if (end < events.length && random.int(0, most) > 0) continue;
    parts.push(events.slice(from, end));
    from = end;
  }
  return parts;
}

type Open = () => Promise<SqlStore>;

/** What a database holds that got everything at once. */
async function whole(events: readonly TimedEvent[], open: Open): Promise<Record<string, unknown[]>> {
  const store = await open();
  const { batch, facts } = batchOf(events);
  await new ExplorerIndex(store).take(batch, facts);
  const content = await contentOf(store);
  await store.close();
  return content;
}

export async function expectSameInAnyOrder(
  events: readonly TimedEvent[],
  open: Open,
  rounds: number,
): Promise<void> {
  const expected = await whole(events, open);
  const random = createRng(7);
  let rollbacks = 0;
  for (let round = 0; round < rounds; round++) {
    const store = await open();
    let index = new ExplorerIndex(store);
    let cursor: Cursor = [];
    const places = ends(events);
    let from = 0;
    while (from < events.length) {
      const [part = []] = split(events.slice(from), random, 6);
      const { batch, facts } = batchOf(part, cursor);
      await index.take(batch, facts, [], cursor);
      expect(await index.take(batch, facts), "the same batch again").toBeUndefined();
      cursor = batch.cursor;
      from += part.length;
      if (random.int(0, 3) === 0) {
        const kept = random.int(random.int(0, 9) === 0 ? 0 : 1, cursor.length);
        const back = rollbackTo(cursor, kept);
        await index.take(back, NO_FACTS, [], cursor);
        cursor = back.cursor;
        from =
          places
            .filter((end) => (events[end - 1] as TimedEvent).event.block.number <= back.ancestor)
            .at(-1) ?? 0;
        rollbacks += 1;
      }
      // Another process on the same database.
      if (random.int(0, 4) === 0) index = new ExplorerIndex(store);
    }
    // Ends of batches differ, and blocks without events are kept where one ends.
    const content = await contentOf(store);
    for (const [table, rows] of Object.entries(expected)) expect(content[table], table).toEqual(rows);
    await store.close();
  }
  expect(rollbacks).toBeGreaterThan(rounds);
}

export async function expectNothingOfAFailedBatch(events: readonly TimedEvent[], open: Open): Promise<void> {
  const store = await open();
  const index = new ExplorerIndex(store);
  const half = ends(events)[Math.floor(ends(events).length / 2)];
  const first = batchOf(events.slice(0, half));
  await index.take(first.batch, first.facts);
  const before = await contentOf(store);
  const second = batchOf(events.slice(half), first.batch.cursor);
  const incomplete = { ...second.facts, transactions: new Map() };
  await expect(index.take(second.batch, incomplete)).rejects.toThrow("was not read");
  expect(await contentOf(store)).toEqual(before);
  expect(await index.cursor()).toEqual(first.batch.cursor);
  await index.take(second.batch, second.facts);
  expect(await contentOf(store)).toEqual(await whole(events, open));
  await store.close();
}

/** Of a batch that fails, a part that is still under way then. */
export async function expectNothingBesideATransaction(open: Open): Promise<void> {
  const store = await open();
  const insert = (sql: Sql, number: number) =>
    sql.run("INSERT INTO blocks VALUES (?, ?, ?)", number, "0x", 0);
  const fault = new Error("on purpose");
  const late: Promise<void>[] = [];
  let free: () => void = () => undefined;
  const failed = new Promise<void>((resolve) => {
    free = resolve;
  });
  const failing = store.write(async (sql) => {
    await insert(sql, 1);
    late.push(failed.then(() => insert(sql, 2)));
    throw fault;
  });
  await expect(failing).rejects.toBe(fault);
  // The connection has the next transaction by then.
  await store.write(async (sql) => {
    await insert(sql, 3);
    free();
    await Promise.allSettled(late);
  });
  await expect(late[0]).rejects.toThrow("is over");
  expect(await store.read((sql) => sql.all("SELECT number FROM blocks"))).toEqual([{ number: 3 }]);
  await store.close();
}
