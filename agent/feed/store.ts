/** What a feed's runner asked for and has not seen to its end. A request is kept before it is sent: it, its fee and its
 *  answer would be lost with the process. */
import { fileURLToPath } from "node:url";
import type { Address, Hex } from "viem";
import { decodeOrder, encodeFiled } from "../../protocol/rules/orders.ts";
import type { ModelId, Request } from "../../protocol/rules/types.ts";
import type { SchemaPart, SqliteDatabase } from "../../protocol/service/journal/database.ts";

export const FEED_SCHEMA: SchemaPart = {
  name: "feed",
  folder: fileURLToPath(new URL("store", import.meta.url)),
};

export interface AskedRound {
  /** of the newest data, seconds */
  readonly observedAt: number;
  /** seconds */
  readonly askedAt: number;
  /** calldata of the model */
  readonly input: Hex;
  readonly request: Request;
}

interface Row {
  readonly model_id: ModelId;
  readonly observed_at: number;
  readonly asked_at: number;
  readonly filed: Hex;
}

export class FeedStore {
  readonly #db: SqliteDatabase;
  readonly #feed: Address;

  /** @param db opened with FEED_SCHEMA among its parts */
  constructor(db: SqliteDatabase, feed: Address) {
    this.#db = db;
    this.#feed = feed;
  }

  /** The oldest data first. */
  open(): AskedRound[] {
    const columns = "model_id, observed_at, asked_at, filed";
    return this.#db
      .prepare<[string], Row>(`SELECT ${columns} FROM feed_requests WHERE feed = ? ORDER BY observed_at`)
      .all(this.#feed)
      .map((row) => ({
        ...decodeOrder(row.model_id, row.filed),
        observedAt: row.observed_at,
        askedAt: row.asked_at,
      }));
  }

  keep({ observedAt, askedAt, input, request }: AskedRound): void {
    const { inputHash, modelId } = request;
    const filed = encodeFiled(request, input);
    this.#db
      .prepare(
        "INSERT INTO feed_requests (feed, input_hash, model_id, observed_at, asked_at, filed) VALUES (?, ?, ?, ?, ?, ?)",
      )
      .run(this.#feed, inputHash, modelId, observedAt, askedAt, filed);
  }

  /** The same input stands for newer data. */
  renew({ request }: AskedRound, observedAt: number): void {
    this.#db
      .prepare("UPDATE feed_requests SET observed_at = ? WHERE feed = ? AND input_hash = ?")
      .run(observedAt, this.#feed, request.inputHash);
  }

  close({ request }: AskedRound): void {
    this.#db
      .prepare("DELETE FROM feed_requests WHERE feed = ? AND input_hash = ?")
      .run(this.#feed, request.inputHash);
  }
}
