/** The explorer's tables beside the sums: blocks, transactions, moves, models, requests, claims. */
import { type Address, type Hex, numberToHex } from "viem";
import { jsonOf } from "../../base/json.ts";
import type { EventOf } from "../../protocol/chain/events.ts";
import type { Head } from "../../protocol/chain/follower.ts";
import type { RequestId } from "../../protocol/rules/types.ts";
import type { Sql, SqlValue } from "../store/sql.ts";
import type { BatchRow } from "./batch-life.ts";
import type { BlockFacts, TransactionFacts } from "./facts.ts";
import type { ClaimRow, Life, RequestRow } from "./life.ts";
import { firstOf, type Money, type Move, seqOf } from "./moves.ts";
import type { SignedRow } from "./signed-life.ts";

/** A move as it was kept: amounts are decimal. */
export interface KeptMove {
  readonly seq: number;
  readonly name: string;
  readonly tx: Hex;
  readonly requestId: Hex | null;
  readonly claimId: Hex | null;
  readonly modelId: Hex | null;
  readonly batchId: Hex | null;
  readonly digest: Hex | null;
  readonly account: Address | null;
  readonly contract?: Move["contract"];
  readonly text: string;
  readonly money: readonly (Omit<Money, "amount"> & { readonly amount: string })[];
  readonly args: Readonly<Record<string, unknown>>;
  readonly time: number;
  readonly blockHash: Hex;
  readonly sender: Address;
  readonly gasUsed: number;
  /** wei, decimal */
  readonly fee: string;
}

export interface KeptTransaction {
  readonly hash: Hex;
  readonly block: number;
  readonly time: number;
  readonly sender: Address;
  readonly to: Address | null;
  readonly gasUsed: number;
  readonly fee: string;
  readonly input: Hex | null;
}

export interface KeptModel {
  readonly id: Hex;
  readonly seq: number;
  readonly word: bigint;
  readonly tx: Hex;
}

const MOVE_COLUMNS = `m.seq, m.name, m.tx, m.request_id AS "requestId", m.claim_id AS "claimId", m.model_id AS "modelId",
  m.batch_id AS "batchId", m.digest, m.account, m.body, b.time, b.hash AS "blockHash", t.sender, t.gas_used AS "gasUsed",
  t.fee`;
const MOVES = `SELECT ${MOVE_COLUMNS} FROM moves m JOIN blocks b ON b.number = m.seq / 1048576 JOIN transactions t ON t.hash = m.tx`;

export class Tables {
  readonly sql: Sql;

  constructor(sql: Sql) {
    this.sql = sql;
  }

  async head(): Promise<Head | undefined> {
    const row = await this.sql.get<{ number: number; hash: Hex; time: number }>(
      "SELECT number, hash, time FROM blocks ORDER BY number DESC LIMIT 1",
    );
    return row && { number: BigInt(row.number), hash: row.hash, timestamp: row.time };
  }

  /** Seconds since 1970. @throws TypeError for a block that is not kept */
  async timeOf(block: number): Promise<number> {
    const row = await this.sql.get<{ time: number }>("SELECT time FROM blocks WHERE number = ?", block);
    if (row === undefined) throw new TypeError(`Block ${block} is not kept.`);
    return row.time;
  }

  putBlock({ number, hash, time }: BlockFacts): Promise<void> {
    return this.sql.run(
      "INSERT INTO blocks VALUES (?, ?, ?) ON CONFLICT (number) DO UPDATE SET hash = excluded.hash, time = excluded.time",
      ...[Number(number), hash, time],
    );
  }

  putTransaction({ hash, block, sender, to, gasUsed, fee, input }: TransactionFacts): Promise<void> {
    return this.sql.run(
      `INSERT INTO transactions VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO UPDATE SET block = excluded.block,
        sender = excluded.sender, recipient = excluded.recipient, gas_used = excluded.gas_used, fee = excluded.fee,
        input = excluded.input`,
      ...[hash, Number(block), sender, to ?? null, gasUsed, `${fee}`, input ?? null],
    );
  }

  putMove({
    seq,
    tx,
    name,
    requestId,
    claimId,
    modelId,
    account,
    batchId,
    digest,
    ...rest
  }: Move): Promise<void> {
    const { contract, text, money, args } = rest;
    return this.sql.run(
      "INSERT INTO moves VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      ...[seq, tx, name, requestId ?? null, claimId ?? null, modelId ?? null, account ?? null],
      jsonOf({ ...(contract === undefined ? {} : { contract }), text, money, args }),
      ...[batchId ?? null, digest ?? null],
    );
  }

  putModel({ args, block, logIndex, transactionHash }: EventOf<"ModelRegistered">): Promise<void> {
    return this.sql.run(
      "INSERT INTO models VALUES (?, ?, ?, ?)",
      ...[args.modelId, seqOf(block.number, logIndex), numberToHex(args.word), transactionHash],
    );
  }

  /** The rows of a request and its claims, instead of those that were there. */
  async putLife(id: RequestId, { request, claims }: Life): Promise<void> {
    const { sql } = this;
    await Promise.all([
      sql.run("DELETE FROM requests WHERE id = ?", id),
      sql.run("DELETE FROM tickets WHERE claim_id IN (SELECT id FROM claims WHERE request_id = ?)", id),
      sql.run("DELETE FROM claims WHERE request_id = ?", id),
      ...(request === undefined ? [] : [this.#putRequest(request)]),
      ...claims.map((claim) => this.#putClaim(claim)),
    ]);
  }

  /** The row of a batch, instead of the one that was there. */
  async putBatch(id: Hex, row: BatchRow | undefined): Promise<void> {
    await this.sql.run("DELETE FROM batches WHERE id = ?", id);
    if (row === undefined) return;
    const { seq, tx, modelId, prover, count, finalAt, fellAt } = row;
    await this.sql.run(
      "INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      ...[id, seq, tx, modelId, prover, count, finalAt ?? null, fellAt === undefined ? 0 : 1],
      JSON.stringify(row),
    );
  }

  /** The row of a signed claim, likewise. */
  async putSigned(id: Hex, row: SignedRow | undefined): Promise<void> {
    await this.sql.run("DELETE FROM signed_claims WHERE id = ?", id);
    if (row === undefined) return;
    const { seq, state, signed, joined } = row;
    await this.sql.run(
      "INSERT INTO signed_claims VALUES (?, ?, ?, ?, ?, ?, ?)",
      ...[id, seq, state, signed.modelId, signed.prover, joined ?? null],
      JSON.stringify(row),
    );
  }

  /** Forgets what is above this block, but rows of requests, claims and promises, which are derived anew. */
  async takeBack(ancestor: number): Promise<void> {
    const { sql } = this;
    const first = firstOf(ancestor + 1);
    await Promise.all([
      sql.run("DELETE FROM moves WHERE seq >= ?", first),
      sql.run("DELETE FROM models WHERE seq >= ?", first),
      sql.run("DELETE FROM transactions WHERE block > ?", ancestor),
      sql.run("DELETE FROM blocks WHERE number > ?", ancestor),
    ]);
  }

  async clear(): Promise<void> {
    const tables = ["blocks", "transactions", "moves", "models", "requests", "claims", "tickets", "batches"];
    for (const table of [...tables, "signed_claims", "sums", "undo"])
      await this.sql.run(`DELETE FROM ${table}`);
  }

  /** Places of the events from one second on, and up to another. @param until absent: without an end */
  async between(since = 0, until?: number): Promise<readonly [first: number, end: number]> {
    const none = Promise.resolve(undefined);
    const [from, to] = await Promise.all([
      this.sql.get<{ number: number }>(
        "SELECT number FROM blocks WHERE time >= ? ORDER BY time, number LIMIT 1",
        since,
      ),
      until === undefined
        ? none
        : this.sql.get<{ number: number }>(
            "SELECT number FROM blocks WHERE time > ? ORDER BY time, number LIMIT 1",
            until,
          ),
    ]);
    const first = from === undefined ? Number.MAX_SAFE_INTEGER : firstOf(from.number);
    return [first, to === undefined ? Number.MAX_SAFE_INTEGER : firstOf(to.number)];
  }

  async requestOfClaim(id: Hex): Promise<RequestId | undefined> {
    return (await this.sql.get<{ id: RequestId }>("SELECT request_id AS id FROM claims WHERE id = ?", id))
      ?.id;
  }

  async modelOfRequest(id: Hex): Promise<Hex | undefined> {
    return (await this.sql.get<{ model: Hex }>("SELECT model FROM requests WHERE id = ?", id))?.model;
  }

  request(id: Hex): Promise<RequestRow | undefined> {
    return this.#body("SELECT body FROM requests WHERE id = ?", id);
  }

  claim(id: Hex): Promise<ClaimRow | undefined> {
    return this.#body("SELECT body FROM claims WHERE id = ?", id);
  }

  claimsOf(request: Hex): Promise<ClaimRow[]> {
    return this.bodies("SELECT body FROM claims WHERE request_id = ? ORDER BY seq", request);
  }

  batch(id: Hex): Promise<BatchRow | undefined> {
    return this.#body("SELECT body FROM batches WHERE id = ?", id);
  }

  /** Signed claims of a prover that wait for stake. @param joinedBefore seq; absent: all */
  async waitingOf(prover: string, joinedBefore = Number.MAX_SAFE_INTEGER): Promise<number> {
    const row = await this.sql.get<{ n: number }>(
      "SELECT count(*) AS n FROM signed_claims WHERE prover = ? AND joined < ?",
      ...[prover, joinedBefore],
    );
    return row?.n ?? 0;
  }

  signed(id: Hex): Promise<SignedRow | undefined> {
    return this.#body("SELECT body FROM signed_claims WHERE id = ?", id);
  }

  async model(id: Hex): Promise<KeptModel | undefined> {
    const row = await this.sql.get<ModelRow>("SELECT id, seq, word, tx FROM models WHERE id = ?", id);
    return row && { ...row, word: BigInt(row.word) };
  }

  /** Newest first. @param before seq of the one to go on behind */
  async models(before: number, limit: number): Promise<KeptModel[]> {
    const rows = await this.sql.all<ModelRow>(
      "SELECT id, seq, word, tx FROM models WHERE seq < ? ORDER BY seq DESC LIMIT ?",
      ...[before, limit],
    );
    return rows.map((row) => ({ ...row, word: BigInt(row.word) }));
  }

  transaction(hash: Hex): Promise<KeptTransaction | undefined> {
    return this.sql.get<KeptTransaction>(
      `SELECT t.hash, t.block, b.time, t.sender, t.recipient AS "to", t.gas_used AS "gasUsed", t.fee, t.input
        FROM transactions t JOIN blocks b ON b.number = t.block WHERE t.hash = ?`,
      hash,
    );
  }

  /** @param where conditions on `m`, moves @param order what they are ordered by, and how many */
  async moves(where: string, order: string, values: readonly SqlValue[]): Promise<KeptMove[]> {
    const rows = await this.sql.all<Omit<KeptMove, "contract" | "text" | "money" | "args"> & Body>(
      `${MOVES} WHERE ${where} ${order}`,
      ...values,
    );
    return rows.map(({ body, ...row }) => ({
      ...row,
      ...(JSON.parse(body) as Pick<KeptMove, "contract" | "text" | "money" | "args">),
    }));
  }

  /** Rows as they were put. @param text a query of one column, `body` */
  async bodies<Row>(text: string, ...values: SqlValue[]): Promise<Row[]> {
    const rows = await this.sql.all<Body>(text, ...values);
    return rows.map(({ body }) => JSON.parse(body) as Row);
  }

  async #body<Row>(text: string, id: Hex): Promise<Row | undefined> {
    const row = await this.sql.get<Body>(text, id);
    return row === undefined ? undefined : (JSON.parse(row.body) as Row);
  }

  #putRequest(row: RequestRow): Promise<void> {
    const { requestId, seq, requestedAt, state, modelId, requester, finalLane, finalAt } = row;
    return this.sql.run(
      "INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      ...[requestId, seq, state, modelId, requester, finalLane ?? null],
      finalAt === undefined ? null : finalAt - requestedAt,
      JSON.stringify(row),
    );
  }

  async #putClaim(row: ClaimRow): Promise<void> {
    const { claimId, seq, requestId, state, modelId, prover, fall, tickets } = row;
    await Promise.all([
      this.sql.run(
        "INSERT INTO claims VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ...[claimId, seq, requestId, state, modelId, prover, fall ?? null, tickets.length],
        JSON.stringify(row),
      ),
      ...tickets.map((account) =>
        this.sql.run("INSERT INTO tickets VALUES (?, ?, ?)", claimId, account, seq),
      ),
    ]);
  }
}

interface Body {
  readonly body: string;
}
interface ModelRow {
  readonly id: Hex;
  readonly seq: number;
  readonly word: string;
  readonly tx: Hex;
}
