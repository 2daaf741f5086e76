import { decodeFunctionResult } from "viem";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { ExplorerIndex } from "../../explorer/index/explorer-index.ts";
import type { Values } from "../../explorer/index/sums.ts";
import type { Cursor } from "../../protocol/chain/follower.ts";
import { iAssayAbi } from "../../protocol/rules/generated/abis.ts";
import { decodeClaimWord } from "../../protocol/rules/words.ts";
import { History, type TimedEvent } from "../support/audited-history.ts";
import { temporaryFolder } from "../support/deploy.ts";
import { batchOf, contentOf, NO_FACTS, openExplorerDatabase, rollbackTo } from "../support/explorer.ts";
import { createRng, type Rng } from "../support/rng.ts";

/** Every event of the contract occurs in it. */
let history: History;
const folders: { remove(): void }[] = [];
beforeAll(async () => {
  history = await History.play();
});
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});

function database() {
  const folder = temporaryFolder();
  folders.push(folder);
  return openExplorerDatabase(`${folder.path}/assay.sqlite`);
}

/** Places where a block ends. */
function ends(events: readonly TimedEvent[]): number[] {
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

function fresh(events: readonly TimedEvent[]) {
  const db = database();
  const index = new ExplorerIndex(db);
  const { batch, facts } = batchOf(events);
  index.take(batch, facts);
  return { db, index };
}

describe("ExplorerIndex", () => {
  it("default: what the contract holds by kind is its balance, and what it received", async () => {
    const { index } = fresh(history.events);
    const total = index.sums.get("total", "");
    const at = (name: string) => total.get(name) ?? 0n;
    const held = at("fees") + at("bonds") + at("tickets") + at("uncollected") + at("credits") + at("burned");
    expect(held).toBe(await history.world.balance(history.world.game.assay));
    expect(held + at("withdrawn") + at("pulled")).toBe(at("received"));
    expect(at("events")).toBe(BigInt(history.events.length));
    const accounts = index.sums.newest("account", 100).map(({ values }) => values);
    const sum = (name: string) => accounts.reduce((all, values) => all + (values.get(name) ?? 0n), 0n);
    expect(sum("feesHeld")).toBe(at("fees"));
    expect(sum("bondsHeld")).toBe(at("bonds"));
    expect(sum("ticketsHeld")).toBe(at("tickets"));
    expect(sum("uncollected")).toBe(at("uncollected"));
    expect(sum("credit")).toBe(at("credits"));
    expect(sum("paidIn")).toBe(at("received"));
    // What all won and lost is what was burned, but for transactions.
    expect(sum("result") + sum("transactionFees")).toBe(-at("burnedEver"));
  });

  it("behavior: counts by state, fall and lane are those of the rows", () => {
    const { index, db } = fresh(history.events);
    const total = index.sums.get("total", "");
    const rows = (table: string, column: string) =>
      db
        .prepare<[], { name: string; n: number }>(
          `SELECT ${column} AS name, count(*) AS n FROM ${table} WHERE ${column} IS NOT NULL GROUP BY ${column}`,
        )
        .all();
    const seen = [
      ...rows("requests", "state").map(({ name, n }) => [`request:${name}`, n]),
      ...rows("claims", "state").map(({ name, n }) => [`claim:${name}`, n]),
      ...rows("claims", "fall").map(({ name, n }) => [`fall:${name}`, n]),
    ];
    const counted = [...total].flatMap(([name, n]) =>
      name.includes(":") && n !== 0n ? [[name, Number(n)]] : [],
    );
    expect(counted.sort()).toEqual(seen.sort());
    const [bond] = rows("requests", "lane").filter(({ name }) => Number(name) === 4);
    expect(index.sums.get("lane", "BOND").get("finals")).toBe(BigInt(bond?.n ?? 0));
  });

  it("behavior: an account's result is what it has more than it paid in, once nothing is held for it", () => {
    const { index } = fresh(history.events);
    const own = (values: Values, name: string) => values.get(name) ?? 0n;
    for (const { id, values } of index.sums.newest("account", 100)) {
      const held = own(values, "feesHeld") + own(values, "bondsHeld") + own(values, "ticketsHeld");
      const has = own(values, "credited") + own(values, "uncollected") + held;
      expect(own(values, "result") + own(values, "transactionFees"), id).toBe(has - own(values, "paidIn"));
    }
  });

  it("behavior: a claim's clocks are those of the contract's word", async () => {
    const seen = new Set<string>();
    const db = database();
    const index = new ExplorerIndex(db);
    let cursor: Cursor = [];
    let from = 0;
    for (const end of ends(history.events)) {
      const { batch, facts } = batchOf(history.events.slice(from, end), cursor);
      index.take(batch, facts);
      cursor = batch.cursor;
      from = end;
    }
    for (const { event } of history.events) {
      if (event.name !== "Claimed") continue;
      const read = await history.world.read("claimWord", [event.args.claimId], 1);
      const word = decodeClaimWord(
        decodeFunctionResult({ abi: iAssayAbi, functionName: "claimWord", data: read }),
      );
      const row = index.tables.claim(event.args.claimId);
      const { windowEnd, lastEvent, hardEnd, traceDeadline, pending, state, tickets } = word;
      expect(row?.clocks).toEqual({ windowEnd, lastEvent, hardEnd, traceDeadline, pending });
      expect([row?.state, row?.tickets.length]).toEqual([state, tickets]);
      expect(row?.fall ?? "NONE").toBe(word.fall);
      seen.add(word.fall);
    }
    expect([...seen].sort()).toEqual(["CODEC", "DEMAND_TIMEOUT", "NONE", "OUTPUT", "TRACE_TIMEOUT", "TRUTH"]);
  });

  it("behavior: however the events come, and whatever is taken back on the way, the tables are the same", () => {
    const expected = contentOf(fresh(history.events).db);
    const random = createRng(7);
    let rollbacks = 0;
    for (let round = 0; round < 12; round++) {
      const db = database();
      let index = new ExplorerIndex(db);
      let cursor: Cursor = [];
      const places = ends(history.events);
      let from = 0;
      while (from < history.events.length) {
        const [part = []] = split(history.events.slice(from), random, 6);
        const { batch, facts } = batchOf(part, cursor);
        index.take(batch, facts);
        expect(index.take(batch, facts), "the same batch again").toBeUndefined();
        cursor = batch.cursor;
        from += part.length;
        if (random.int(0, 3) === 0) {
          const kept = random.int(random.int(0, 9) === 0 ? 0 : 1, cursor.length);
          const back = rollbackTo(cursor, kept);
          index.take(back, NO_FACTS);
          cursor = back.cursor;
          from =
            places
              .filter((end) => (history.events[end - 1] as TimedEvent).event.block.number <= back.ancestor)
              .at(-1) ?? 0;
          rollbacks += 1;
        }
        // Another process on the same database.
        if (random.int(0, 4) === 0) index = new ExplorerIndex(db);
      }
      // Ends of batches differ, and blocks without events are kept where one ends.
      const content = contentOf(db);
      for (const [table, rows] of Object.entries(expected)) expect(content[table], table).toEqual(rows);
    }
    expect(rollbacks).toBeGreaterThan(20);
  });

  it("error: a batch that fails leaves nothing behind, and comes again", () => {
    const db = database();
    const index = new ExplorerIndex(db);
    const half = Math.floor(ends(history.events).length / 2);
    const first = batchOf(history.events.slice(0, ends(history.events)[half]));
    index.take(first.batch, first.facts);
    const before = contentOf(db);
    const second = batchOf(history.events.slice(ends(history.events)[half]), first.batch.cursor);
    expect(() => index.take(second.batch, { ...second.facts, transactions: new Map() })).toThrow(
      "was not read",
    );
    expect(contentOf(db)).toEqual(before);
    expect(index.cursor()).toEqual(first.batch.cursor);
    index.take(second.batch, second.facts);
    expect(contentOf(db)).toEqual(contentOf(fresh(history.events).db));
  });
});
