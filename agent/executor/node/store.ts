/** What an executor keeps: events of runs, signed transcripts, and what tools said of themselves at first. */
import { fileURLToPath } from "node:url";
import type { Address, Hex } from "viem";
import type { Batch, Cursor } from "../../../protocol/chain/follower.ts";
import type { SchemaPart, SqliteDatabase } from "../../../protocol/service/journal/database.ts";
import { parseSignedTranscript, type SignedTranscript } from "../transcript.ts";
import type { AgentEvent } from "./agent-events.ts";

export const EXECUTOR_SCHEMA: SchemaPart = {
  name: "executor",
  folder: fileURLToPath(new URL("store", import.meta.url)),
};

/** Blocks after which a finished run is forgotten; deeper than re-orgs go. */
const FORGET_AFTER = 7_200n;

/** One iteration of one run on one history: what a transcript is the record of. */
export interface IterationKey {
  readonly agent: Address;
  readonly runId: bigint;
  readonly iteration: number;
  readonly historyHash: Hex;
}

export interface KeptTranscript {
  readonly signed: SignedTranscript;
  /** calldata that posts its result */
  readonly call: Hex;
}

export class ExecutorStore {
  readonly #db: SqliteDatabase;
  readonly #agents: string;

  /** @param db opened with EXECUTOR_SCHEMA among its parts @param agents that are followed */
  constructor(db: SqliteDatabase, agents: readonly Address[] = []) {
    this.#db = db;
    this.#agents = [...agents].sort().join(" ");
  }

  /** Where following these agents stopped; undefined at first, and when they are others than before. */
  cursor(): Cursor | undefined {
    const row = this.#db
      .prepare<[string], { cursor: string }>("SELECT cursor FROM agent_cursor WHERE agents = ?")
      .get(this.#agents);
    if (row === undefined) return undefined;
    const blocks = JSON.parse(row.cursor) as { number: string; hash: Hex }[];
    return blocks.map(({ number, hash }) => ({ number: BigInt(number), hash }));
  }

  /** Takes over a batch, with its cursor, whole or not at all. */
  take(batch: Batch<AgentEvent>): void {
    const write = this.#db.transaction(() => {
      if (batch.kind === "rollback") {
        this.#db.prepare("DELETE FROM agent_events WHERE block_number > ?").run(Number(batch.ancestor));
      } else {
        for (const event of batch.events) this.#insert(event);
        if (batch.events.length > 0) this.#forget(batch.to.number);
      }
      const cursor = JSON.stringify(batch.cursor.map(({ number, hash }) => ({ number: `${number}`, hash })));
      this.#db
        .prepare("INSERT OR REPLACE INTO agent_cursor (id, agents, cursor) VALUES (1, ?, ?)")
        .run(this.#agents, cursor);
    });
    write.immediate();
  }

  /** Events of every run that is kept, each run's in order. */
  runs(): AgentEvent[][] {
    const rows = this.#db
      .prepare<[], { agent: string; run_id: string; event: string }>(
        "SELECT agent, run_id, event FROM agent_events ORDER BY block_number, log_index",
      )
      .all();
    const runs = new Map<string, AgentEvent[]>();
    for (const { agent, run_id, event } of rows) {
      const key = `${agent}/${run_id}`;
      const events = runs.get(key) ?? [];
      runs.set(key, events);
      events.push(fromJson(event));
    }
    return [...runs.values()];
  }

  transcript({ agent, runId, iteration, historyHash }: IterationKey): KeptTranscript | undefined {
    const row = this.#db
      .prepare<[string, string, number, string], { signed: string; call: Hex }>(
        "SELECT signed, call FROM transcripts WHERE agent = ? AND run_id = ? AND iteration = ? AND history_hash = ?",
      )
      .get(agent, `${runId}`, iteration, historyHash);
    return row === undefined ? undefined : { signed: parseSignedTranscript(row.signed), call: row.call };
  }

  /** Transcripts, oldest run first. @param hash of the only one wanted */
  transcripts(hash?: string): SignedTranscript[] {
    const where = hash === undefined ? "" : "WHERE hash = ?";
    return this.#db
      .prepare<unknown[], { signed: string }>(
        `SELECT signed FROM transcripts ${where} ORDER BY agent, length(run_id), run_id, iteration, rowid`,
      )
      .all(...(hash === undefined ? [] : [hash]))
      .map(({ signed }) => parseSignedTranscript(signed));
  }

  /** Keeps a transcript before its hash is posted. One iteration on one history has one transcript, for good. */
  keep(key: IterationKey, { signed, call }: KeptTranscript): void {
    this.#db
      .prepare(
        "INSERT INTO transcripts (hash, agent, run_id, iteration, history_hash, call, signed) VALUES (?, ?, ?, ?, ?, ?, ?)",
      )
      .run(
        signed.hash,
        key.agent,
        `${key.runId}`,
        key.iteration,
        key.historyHash,
        call,
        JSON.stringify(signed),
      );
  }

  /** What a tool said of itself when this agent first had it here; from then on that is what it must say.
   *  @returns the first metadata, these ones if there were none */
  firstMetadata(agent: Address, tool: Address, metadata: string): string {
    this.#db
      .prepare("INSERT INTO tool_metadata (agent, tool, metadata) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
      .run(agent, tool, metadata);
    const row = this.#db
      .prepare<[string, string], { metadata: string }>(
        "SELECT metadata FROM tool_metadata WHERE agent = ? AND tool = ?",
      )
      .get(agent, tool);
    return row?.metadata ?? metadata;
  }

  #insert(event: AgentEvent): void {
    this.#db
      .prepare(
        "INSERT OR REPLACE INTO agent_events (agent, run_id, block_number, log_index, event) VALUES (?, ?, ?, ?, ?)",
      )
      .run(event.agent, `${event.args.runId}`, Number(event.block.number), event.logIndex, toJson(event));
  }

  #forget(head: bigint): void {
    this.#db
      .prepare(
        `DELETE FROM agent_events WHERE (agent, run_id) IN (
           SELECT agent, run_id FROM agent_events
           WHERE block_number < ? AND event ->> 'name' IN ('AgentRunResult', 'RunFailed'))`,
      )
      .run(Number(head - FORGET_AFTER));
  }
}

const toJson = (event: AgentEvent): string =>
  JSON.stringify(event, (_key, value) => (typeof value === "bigint" ? { bigint: `${value}` } : value));

function fromJson(json: string): AgentEvent {
  return JSON.parse(json, (_key, value) =>
    typeof value === "object" && value !== null && typeof value.bigint === "string"
      ? BigInt(value.bigint)
      : value,
  ) as AgentEvent;
}
