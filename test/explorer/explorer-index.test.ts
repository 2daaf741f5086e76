import { decodeFunctionResult } from "viem";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { ExplorerIndex } from "../../explorer/index/explorer-index.ts";
import type { Values } from "../../explorer/index/sums.ts";
import type { SqliteConnection } from "../../explorer/store/sqlite-store.ts";
import { SqliteStore } from "../../explorer/store/sqlite-store.ts";
import type { Cursor } from "../../protocol/chain/follower.ts";
import { iAssayAbi } from "../../protocol/rules/generated/abis.ts";
import { decodeClaimWord } from "../../protocol/rules/words.ts";
import { History, type TimedEvent } from "../support/audited-history.ts";
import { browserDatabases } from "../support/browser-database.ts";
import { temporaryFolder } from "../support/deploy.ts";
import { batchOf, openExplorerStore } from "../support/explorer.ts";
import { ends, expectNothingOfAFailedBatch, expectSameInAnyOrder } from "../support/index-play.ts";

/** Every event of the contract occurs in it. */
let history: History;
let inBrowser: () => SqliteConnection;
const folders: { remove(): void }[] = [];
beforeAll(async () => {
  history = await History.play();
  inBrowser = await browserDatabases();
});
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});

/** A server's database, and that of an exported site. */
const STORES = [
  { where: "file", open: async () => database(), rounds: 12 },
  { where: "browser", open: async () => new SqliteStore(inBrowser()), rounds: 4 },
] as const;

function database() {
  const folder = temporaryFolder();
  folders.push(folder);
  return openExplorerStore(`${folder.path}/assay.sqlite`);
}

async function fresh(events: readonly TimedEvent[]) {
  const store = database();
  const index = new ExplorerIndex(store);
  const { batch, facts } = batchOf(events);
  await index.take(batch, facts);
  const total = await index.read(({ sums }) => sums.get("total", ""));
  const accounts = await index.read(({ sums }) => sums.newest("account", 100));
  return { store, index, total, accounts };
}

describe("ExplorerIndex", () => {
  it("default: what the contract holds by kind is its balance, and what it received", async () => {
    const { total, accounts: sums } = await fresh(history.events);
    const at = (name: string) => total.get(name) ?? 0n;
    const held = at("fees") + at("bonds") + at("tickets") + at("uncollected") + at("credits") + at("burned");
    expect(held).toBe(await history.world.balance(history.world.game.assay));
    expect(held + at("withdrawn") + at("pulled")).toBe(at("received"));
    expect(at("events")).toBe(BigInt(history.events.length));
    const accounts = sums.map(({ values }) => values);
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

  it("behavior: counts by state, fall and lane are those of the rows", async () => {
    const { index, store, total } = await fresh(history.events);
    const rows = (table: string, column: string) =>
      store.read((sql) =>
        sql.all<{ name: string; n: number }>(
          `SELECT ${column} AS name, count(*) AS n FROM ${table} WHERE ${column} IS NOT NULL GROUP BY ${column}`,
        ),
      );
    const seen = [
      ...(await rows("requests", "state")).map(({ name, n }) => [`request:${name}`, n]),
      ...(await rows("claims", "state")).map(({ name, n }) => [`claim:${name}`, n]),
      ...(await rows("claims", "fall")).map(({ name, n }) => [`fall:${name}`, n]),
    ];
    const counted = [...total].flatMap(([name, n]) =>
      name.includes(":") && n !== 0n ? [[name, Number(n)]] : [],
    );
    expect(counted.sort()).toEqual(seen.sort());
    const [bond] = (await rows("requests", "lane")).filter(({ name }) => Number(name) === 4);
    const lane = await index.read(({ sums }) => sums.get("lane", "BOND"));
    expect(lane.get("finals")).toBe(BigInt(bond?.n ?? 0));
  });

  it("behavior: an account's result is what it has more than it paid in, once nothing is held for it", async () => {
    const { accounts } = await fresh(history.events);
    const own = (values: Values, name: string) => values.get(name) ?? 0n;
    for (const { id, values } of accounts) {
      const held = own(values, "feesHeld") + own(values, "bondsHeld") + own(values, "ticketsHeld");
      const has = own(values, "credited") + own(values, "uncollected") + held;
      expect(own(values, "result") + own(values, "transactionFees"), id).toBe(has - own(values, "paidIn"));
    }
  });

  it("behavior: a claim's clocks are those of the contract's word", async () => {
    const seen = new Set<string>();
    const index = new ExplorerIndex(database());
    let cursor: Cursor = [];
    let from = 0;
    for (const end of ends(history.events)) {
      const { batch, facts } = batchOf(history.events.slice(from, end), cursor);
      await index.take(batch, facts);
      cursor = batch.cursor;
      from = end;
    }
    for (const { event } of history.events) {
      if (event.name !== "Claimed") continue;
      const read = await history.world.read("claimWord", [event.args.claimId], 1);
      const word = decodeClaimWord(
        decodeFunctionResult({ abi: iAssayAbi, functionName: "claimWord", data: read }),
      );
      const row = await index.read(({ tables }) => tables.claim(event.args.claimId));
      const { windowEnd, lastEvent, hardEnd, traceDeadline, pending, state, tickets } = word;
      expect(row?.clocks).toEqual({ windowEnd, lastEvent, hardEnd, traceDeadline, pending });
      expect([row?.state, row?.tickets.length]).toEqual([state, tickets]);
      expect(row?.fall ?? "NONE").toBe(word.fall);
      seen.add(word.fall);
    }
    expect([...seen].sort()).toEqual(["CODEC", "DEMAND_TIMEOUT", "NONE", "OUTPUT", "TRACE_TIMEOUT", "TRUTH"]);
  });

  it.each(STORES)(
    "behavior: however the events come, and whatever is taken back on the way, the tables are the same ($where)",
    ({ open, rounds }) => expectSameInAnyOrder(history.events, open, rounds),
  );

  it.each(STORES)("error: a batch that fails leaves nothing behind, and comes again ($where)", ({ open }) =>
    expectNothingOfAFailedBatch(history.events, open),
  );
});
