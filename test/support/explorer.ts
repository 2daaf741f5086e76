/** An explorer's index in a database of its own, and batches with the facts that belong to them. */

import type { Hex } from "viem";
import { ExplorerIndex } from "../../explorer/index/explorer-index.ts";
import type { BlockFacts, Facts, TransactionFacts } from "../../explorer/index/facts.ts";
import { EXPLORER_SCHEMA } from "../../explorer/index/schema.ts";
import type { SqlStore } from "../../explorer/store/sql.ts";
import { SqliteStore } from "../../explorer/store/sqlite-store.ts";
import type { Batch, Cursor } from "../../protocol/chain/follower.ts";
import { openDatabase } from "../../protocol/service/journal/database.ts";
import type { TimedEvent } from "./audited-history.ts";
import { addressOf } from "./game-table.ts";

export const openExplorerStore = (path: string): SqliteStore =>
  new SqliteStore(openDatabase(path, [EXPLORER_SCHEMA]));

/** Everything that the tables hold, by table. */
export function contentOf(store: SqlStore): Promise<Record<string, unknown[]>> {
  const tables = [
    "blocks",
    "transactions",
    "moves",
    "models",
    "requests",
    "claims",
    "tickets",
    "batches",
    "signed_claims",
    "sums",
    "events",
    "promise_events",
  ];
  return store.read(async (sql) => {
    const content = tables.map(async (table) => {
      const rows = await sql.all(`SELECT * FROM ${table}`);
      return [table, rows.map((row) => JSON.stringify(row)).sort()] as const;
    });
    return Object.fromEntries(await Promise.all(content));
  });
}

export interface FactBatch {
  readonly batch: Extract<Batch, { kind: "blocks" }>;
  readonly facts: Facts;
}

/** Gas and fee of every transaction of a made history. */
export const MADE_GAS = 50_000;
const MADE_FEE = 50_000_000n;

/** @param sender of the transactions */
export const factsOf = (events: readonly TimedEvent[], sender = addressOf(0x4ff)): Facts => ({
  blocks: new Map(
    events.map(({ event: { block }, timestamp }): [bigint, BlockFacts] => [
      block.number,
      { ...block, time: timestamp },
    ]),
  ),
  transactions: new Map(
    events.map(({ event: { block, transactionHash: hash } }): [Hex, TransactionFacts] => [
      hash,
      { hash, block: block.number, sender, gasUsed: MADE_GAS, fee: MADE_FEE },
    ]),
  ),
});

/** A batch of these events, which end with a block. @param cursor of the batch before */
export function batchOf(events: readonly TimedEvent[], cursor: Cursor = []): FactBatch {
  const last = events.at(-1) as TimedEvent;
  const first = events[0] as TimedEvent;
  const to = { ...last.event.block, timestamp: last.timestamp };
  const blocks = new Map(
    [...cursor, ...events.map(({ event }) => event.block)].map((block) => [block.number, block]),
  );
  return {
    batch: {
      kind: "blocks",
      from: first.event.block.number,
      to,
      head: to,
      events: events.map(({ event }) => event),
      cursor: [...blocks.values()],
    },
    facts: factsOf(events),
  };
}

/** Takes back what is above one of the blocks of the cursor, none: everything. */
export function rollbackTo(cursor: Cursor, kept: number): Extract<Batch, { kind: "rollback" }> {
  const left = cursor.slice(0, kept);
  return {
    kind: "rollback",
    ancestor: left.at(-1)?.number ?? (cursor[0]?.number ?? 1n) - 1n,
    gone: cursor.slice(kept),
    cursor: left,
  };
}

export const NO_FACTS: Facts = { blocks: new Map(), transactions: new Map() };
export { ExplorerIndex };
