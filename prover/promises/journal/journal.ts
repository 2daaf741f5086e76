/** Reads the journal of signed claims, beside the thread that writes it. */
import { join } from "node:path";
import { type Address, type Hex, keccak256 } from "viem";
import { fromHex, toHex } from "../../../base/bytes.ts";
import type { Batch, BatchId } from "../../../protocol/rules/promises/batch.ts";
import type { Presented } from "../../../protocol/rules/promises/presented.ts";
import type { Digest, SignedClaim } from "../../../protocol/rules/promises/signed-claim.ts";
import type { ModelId } from "../../../protocol/rules/types.ts";
import { openReadOnly, type SqliteDatabase } from "../../../protocol/service/journal/database.ts";
import { claimOf, SIGNED_FILE, type SignedRow } from "./schema.ts";

export interface JournalledClaim {
  readonly claim: SignedClaim;
  readonly signature: Hex;
  /** absent: it is in no batch */
  readonly leaf?: { readonly batch: BatchId; readonly index: number };
  /** true: it is to be in one */
  readonly isBatched: boolean;
}

/** A leaf that waits for its batch. */
export interface WaitingLeaf {
  readonly row: number;
  readonly payload: Uint8Array;
  /** second in which it was signed */
  readonly issuedAt: number;
}

export interface JournalledBatch {
  readonly id: BatchId;
  readonly batch: Batch;
  readonly leafBond: bigint;
  readonly data: Uint8Array;
}

export const journalPath = (data: string): string => join(data, SIGNED_FILE);

export class SignedJournal {
  readonly #db: SqliteDatabase;
  readonly #prover: Address;

  /** @param data folder; the thread has made the file
   *  @throws BaseError DATABASE_UNUSABLE, DATABASE_CORRUPT */
  constructor(data: string, prover: Address) {
    this.#db = openReadOnly(journalPath(data));
    this.#prover = prover;
  }

  find(digest: Digest): JournalledClaim | undefined {
    const row = this.#row(digest);
    if (row === undefined) return undefined;
    const claim = claimOf(this.#prover, row, keccak256);
    const found = { claim, signature: toHex(row.signature), isBatched: row.payload !== null };
    if (row.batch === null || row.leaf === null) return found;
    return { ...found, leaf: { batch: toHex(row.batch) as BatchId, index: row.leaf } };
  }

  /** With its input and output, as its caller got it. */
  presented(digest: Digest): Presented | undefined {
    const row = this.#row(digest);
    if (row === undefined) return undefined;
    const [input, output] = [toHex(row.input), toHex(row.output)];
    return {
      claim: claimOf(this.#prover, row, keccak256),
      signature: toHex(row.signature),
      ...{ input, output },
    };
  }

  /** Whether a signed claim is in a batch that the chain was seen to have. */
  isPosted(digest: Digest): boolean {
    const row = this.#db
      .prepare<[Uint8Array], { found: number }>(
        "SELECT 1 AS found FROM signed JOIN batches ON batches.id = signed.batch WHERE digest = ? AND is_posted = 1",
      )
      .get(fromHex(digest));
    return row !== undefined;
  }

  /** The oldest leaves of a model that wait for a batch. */
  waiting(modelId: ModelId, limit: number): WaitingLeaf[] {
    return this.#db
      .prepare<[Uint8Array, number], { row: number; payload: Buffer; issuedAt: number }>(
        "SELECT id AS row, payload, issued_at AS issuedAt FROM signed WHERE model_id = ? AND payload IS NOT NULL AND batch IS NULL ORDER BY id LIMIT ?",
      )
      .all(fromHex(modelId), limit);
  }

  /** Whether a signed claim is kept that is in this batch. */
  holdsLeavesOf(id: BatchId): boolean {
    return this.#db.prepare("SELECT 1 FROM signed WHERE batch = ? LIMIT 1").get(fromHex(id)) !== undefined;
  }

  /** Batches that the chain was seen to have. */
  posted(): BatchId[] {
    return this.#db
      .prepare<[], { id: Buffer }>("SELECT id FROM batches WHERE is_posted = 1")
      .all()
      .map(({ id }) => toHex(id) as BatchId);
  }

  /** Leaves of all models that wait for a batch. */
  countWaiting(): number {
    return (
      this.#db
        .prepare<[], { count: number }>(
          "SELECT count(*) AS count FROM signed WHERE payload IS NOT NULL AND batch IS NULL",
        )
        .get()?.count ?? 0
    );
  }

  /** Batches that the chain is not known to have. */
  unposted(): Omit<JournalledBatch, "data">[] {
    return this.#db
      .prepare<[], Omit<BatchRow, "data">>(
        "SELECT id, model_id, window, count, root, leaf_bond FROM batches WHERE is_posted = 0 ORDER BY rowid",
      )
      .all()
      .map((row) => this.#termsOf(row));
  }

  batch(id: BatchId): JournalledBatch | undefined {
    const row = this.#db
      .prepare<[Uint8Array], BatchRow>("SELECT * FROM batches WHERE id = ?")
      .get(fromHex(id));
    return row && { ...this.#termsOf(row), data: row.data };
  }

  close(): void {
    this.#db.close();
  }

  #row(digest: Digest): SignedRow | undefined {
    return this.#db
      .prepare<[Uint8Array], SignedRow>("SELECT * FROM signed WHERE digest = ?")
      .get(fromHex(digest));
  }

  #termsOf({
    id,
    model_id,
    window,
    count,
    root,
    leaf_bond,
  }: Omit<BatchRow, "data">): Omit<JournalledBatch, "data"> {
    const modelId = toHex(model_id) as ModelId;
    return {
      id: toHex(id) as BatchId,
      batch: { prover: this.#prover, modelId, window, count, root: toHex(root) },
      leafBond: BigInt(leaf_bond),
    };
  }
}

interface BatchRow {
  id: Buffer;
  model_id: Buffer;
  window: number;
  count: number;
  root: Buffer;
  leaf_bond: string;
  data: Buffer;
}
