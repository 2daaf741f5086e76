/** What an executor of redundant results keeps: open rounds, and its answers to them. */
import { fileURLToPath } from "node:url";
import type { Address, Hex } from "viem";
import type { Batch, Cursor } from "../../protocol/chain/follower.ts";
import type { SchemaPart, SqliteDatabase } from "../../protocol/service/journal/database.ts";
import type { RoundRequested } from "./rounds.ts";

export const ROUNDS_SCHEMA: SchemaPart = {
  name: "rounds",
  folder: fileURLToPath(new URL("store", import.meta.url)),
};

/** Calldata of a round, to be answered. */
export interface OpenRound {
  readonly roundId: Hex;
  readonly data: Hex;
}

export interface KeptAnswer {
  readonly output: Hex;
  /** 32 bytes, secret until the reveal */
  readonly salt: Hex;
}

export class RoundStore {
  readonly #db: SqliteDatabase;
  readonly #results: string;

  /** @param db opened with ROUNDS_SCHEMA among its parts @param results the contract that is followed */
  constructor(db: SqliteDatabase, results: Address) {
    this.#db = db;
    this.#results = results;
  }

  /** Where following stopped; undefined at first, and for another contract than before. */
  cursor(): Cursor | undefined {
    const row = this.#db
      .prepare<[string], { cursor: string }>("SELECT cursor FROM round_cursor WHERE results = ?")
      .get(this.#results);
    if (row === undefined) return undefined;
    const blocks = JSON.parse(row.cursor) as { number: string; hash: Hex }[];
    return blocks.map(({ number, hash }) => ({ number: BigInt(number), hash }));
  }

  /** Takes over a batch, with its cursor, whole or not at all. */
  take(batch: Batch<RoundRequested>): void {
    const write = this.#db.transaction(() => {
      if (batch.kind === "rollback") {
        this.#db.prepare("DELETE FROM rounds WHERE block_number > ?").run(Number(batch.ancestor));
      } else {
        for (const { roundId, data, block } of batch.events) {
          this.#db
            .prepare("INSERT OR REPLACE INTO rounds (round_id, data, block_number) VALUES (?, ?, ?)")
            .run(roundId, data, Number(block.number));
        }
      }
      const cursor = JSON.stringify(batch.cursor.map(({ number, hash }) => ({ number: `${number}`, hash })));
      this.#db
        .prepare("INSERT OR REPLACE INTO round_cursor (id, results, cursor) VALUES (1, ?, ?)")
        .run(this.#results, cursor);
    });
    write.immediate();
  }

  /** In the order in which they were asked. */
  open(): OpenRound[] {
    return this.#db
      .prepare<[], { round_id: Hex; data: Hex }>(
        "SELECT round_id, data FROM rounds ORDER BY block_number, rowid",
      )
      .all()
      .map(({ round_id: roundId, data }) => ({ roundId, data }));
  }

  /** Forgets a round that is over, the answer with it. */
  close(roundId: Hex): void {
    const forget = this.#db.transaction(() => {
      this.#db.prepare("DELETE FROM rounds WHERE round_id = ?").run(roundId);
      this.#db.prepare("DELETE FROM round_answers WHERE round_id = ?").run(roundId);
    });
    forget.immediate();
  }

  answer(roundId: Hex): KeptAnswer | undefined {
    return this.#db
      .prepare<[string], KeptAnswer>("SELECT output, salt FROM round_answers WHERE round_id = ?")
      .get(roundId);
  }

  /** Keeps an answer before it is committed to. The first one of a round stays. */
  keep(roundId: Hex, { output, salt }: KeptAnswer): void {
    this.#db
      .prepare("INSERT INTO round_answers (round_id, output, salt) VALUES (?, ?, ?)")
      .run(roundId, output, salt);
  }
}
