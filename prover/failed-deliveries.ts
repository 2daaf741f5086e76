/** Deliveries whose callback failed: how often, when they are tried again, and when no more. */
import { type Address, type Hex, keccak256, type PublicClient } from "viem";
import type { RequestId } from "../protocol/rules/types.ts";
import type { SqliteDatabase } from "../protocol/service/journal/database.ts";

/** Failures after which a delivery is given up where the operator says nothing else: over some six hours. */
export const DEFAULT_DELIVERY_TRIES = 12;
/** Between the first two tries; twice as long after each failure. */
const FIRST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 3_600_000;

export const pauseAfter = (failures: number): number =>
  Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);

export interface FailedDelivery {
  readonly failures: number;
  /** of them, those that were mined: each has a transaction of its own */
  readonly mined: number;
  readonly isGivenUp: boolean;
}

interface Row {
  failures: number;
  mined: number;
  given_up: number;
}

export class FailedDeliveries {
  readonly #db: SqliteDatabase;
  readonly #tries: number;

  /** @param db opened with JOBS_SCHEMA @param tries failures after which one is given up */
  constructor(db: SqliteDatabase, tries: number) {
    this.#db = db;
    this.#tries = tries;
  }

  get(id: RequestId): FailedDelivery {
    const row = this.#db
      .prepare<[string], Row>("SELECT failures, mined, given_up FROM failed_deliveries WHERE request_id = ?")
      .get(id);
    return { failures: row?.failures ?? 0, mined: row?.mined ?? 0, isGivenUp: row?.given_up === 1 };
  }

  /** Requests whose delivery is given up. */
  givenUp(): ReadonlySet<RequestId> {
    const rows = this.#db
      .prepare<[], { id: RequestId }>("SELECT request_id AS id FROM failed_deliveries WHERE given_up = 1")
      .all();
    return new Set(rows.map(({ id }) => id));
  }

  /** Counts one more. What was mined and failed although it could be expected to succeed has cost gas, so it is given
   *  up at once. */
  add(id: RequestId, callback: Address, codeHash: Hex, wasMined: boolean): FailedDelivery {
    const before = this.get(id);
    const failures = before.failures + 1;
    const mined = before.mined + (wasMined ? 1 : 0);
    const isGivenUp = wasMined || failures >= this.#tries;
    this.#db
      .prepare("INSERT OR REPLACE INTO failed_deliveries VALUES (?, ?, ?, ?, ?, ?)")
      .run(id, callback, failures, mined, codeHash, isGivenUp ? 1 : 0);
    return { failures, mined, isGivenUp };
  }

  /** Begins anew with a delivery.
   *  @returns false where none is given up or waits */
  retry(id: RequestId): boolean {
    const renew = this.#db.transaction(() => {
      this.#db.prepare("UPDATE jobs SET run_at_ms = 0 WHERE kind = 'deliver' AND subject = ?").run(id);
      return this.#db
        .prepare("UPDATE failed_deliveries SET failures = 0, given_up = 0 WHERE request_id = ?")
        .run(id).changes;
    });
    return renew.immediate() === 1;
  }

  forget(id: RequestId): void {
    this.#db.prepare("DELETE FROM failed_deliveries WHERE request_id = ?").run(id);
  }

  /** Begins anew with those whose callback has other code than when it failed.
   *  @returns them @throws viem's errors where the node fails */
  async renewChanged(client: PublicClient): Promise<RequestId[]> {
    const rows = this.#db
      .prepare<[], { id: RequestId; callback: Address; hash: Hex }>(
        "SELECT request_id AS id, callback, code_hash AS hash FROM failed_deliveries WHERE given_up = 1",
      )
      .all();
    const hashes = new Map<Address, Hex>();
    for (const { callback } of rows) {
      if (!hashes.has(callback)) hashes.set(callback, await codeHashAt(client, callback));
    }
    const changed = rows.filter(({ callback, hash }) => hashes.get(callback) !== hash);
    for (const { id } of changed) this.retry(id);
    return changed.map(({ id }) => id);
  }
}

/** keccak256 of a contract's code, of no bytes where there is none. */
export const codeHashAt = async (client: PublicClient, address: Address): Promise<Hex> =>
  keccak256((await client.getCode({ address })) ?? "0x");
