/** The explorer's tables beside the sums: blocks, transactions, moves, models, requests, claims. */
import { type Address, type Hex, numberToHex } from "viem";
import { jsonOf } from "../../base/json.ts";
import type { EventOf } from "../../protocol/chain/events.ts";
import type { Head } from "../../protocol/chain/follower.ts";
import type { RequestId } from "../../protocol/rules/types.ts";
import type { SqliteDatabase } from "../../protocol/service/journal/database.ts";
import type { BlockFacts, TransactionFacts } from "./facts.ts";
import type { ClaimRow, Life, RequestRow } from "./life.ts";
import { firstOf, type Money, type Move, seqOf } from "./moves.ts";
import { type Prepare, statementsOf } from "./statements.ts";

/** A move as it was kept: amounts are decimal. */
export interface KeptMove {
  readonly seq: number;
  readonly name: string;
  readonly tx: Hex;
  readonly requestId: Hex | null;
  readonly claimId: Hex | null;
  readonly modelId: Hex | null;
  readonly account: Address | null;
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

/** Times that are kept in memory. */
const MAX_TIMES = 10_000;
const MOVE_COLUMNS = `m.seq, m.name, m.tx, m.request_id AS requestId, m.claim_id AS claimId, m.model_id AS modelId,
  m.account, m.body, b.time, b.hash AS blockHash, t.sender, t.gas_used AS gasUsed, t.fee`;
const MOVES = `SELECT ${MOVE_COLUMNS} FROM moves m JOIN blocks b ON b.number = m.seq / 1048576 JOIN transactions t ON t.hash = m.tx`;

export class Tables {
  readonly db: SqliteDatabase;
  /** prepares a statement of which there are few */
  readonly sql: Prepare;
  readonly #times = new Map<number, number>();

  constructor(db: SqliteDatabase) {
    this.db = db;
    this.sql = statementsOf(db);
  }

  head(): Head | undefined {
    const row = this.sql<[], { number: number; hash: Hex; time: number }>(
      "SELECT * FROM blocks ORDER BY number DESC LIMIT 1",
    ).get();
    return row && { number: BigInt(row.number), hash: row.hash, timestamp: row.time };
  }

  /** Seconds since 1970. @throws TypeError for a block that is not kept */
  timeOf(block: number): number {
    const known = this.#times.get(block);
    if (known !== undefined) return known;
    const row = this.sql<[number], { time: number }>("SELECT time FROM blocks WHERE number = ?").get(block);
    if (row === undefined) throw new TypeError(`Block ${block} is not kept.`);
    this.#remember(block, row.time);
    return row.time;
  }

  putBlock({ number, hash, time }: BlockFacts): void {
    this.sql("INSERT OR REPLACE INTO blocks VALUES (?, ?, ?)").run(Number(number), hash, time);
    this.#remember(Number(number), time);
  }

  putTransaction({ hash, block, sender, to, gasUsed, fee, input }: TransactionFacts): void {
    this.sql("INSERT OR REPLACE INTO transactions VALUES (?, ?, ?, ?, ?, ?, ?)").run(
      hash,
      Number(block),
      sender,
      to ?? null,
      gasUsed,
      `${fee}`,
      input ?? null,
    );
  }

  putMove({ seq, tx, name, requestId, claimId, modelId, account, text, money, args }: Move): void {
    this.sql("INSERT OR REPLACE INTO moves VALUES (?, ?, ?, ?, ?, ?, ?, ?)").run(
      ...[seq, tx, name, requestId ?? null, claimId ?? null, modelId ?? null, account ?? null],
      jsonOf({ text, money, args }),
    );
  }

  putModel({ args, block, logIndex, transactionHash }: EventOf<"ModelRegistered">): void {
    this.sql("INSERT OR REPLACE INTO models VALUES (?, ?, ?, ?)").run(
      args.modelId,
      seqOf(block.number, logIndex),
      numberToHex(args.word),
      transactionHash,
    );
  }

  /** The rows of a request and its claims, instead of those that were there. */
  putLife(id: RequestId, { request, claims }: Life): void {
    this.sql("DELETE FROM requests WHERE id = ?").run(id);
    this.sql("DELETE FROM tickets WHERE claim_id IN (SELECT id FROM claims WHERE request_id = ?)").run(id);
    this.sql("DELETE FROM claims WHERE request_id = ?").run(id);
    if (request !== undefined) this.#putRequest(request);
    for (const claim of claims) this.#putClaim(claim);
  }

  /** Forgets what is above this block, but rows of requests and claims, which are derived anew. */
  takeBack(ancestor: number): void {
    const first = firstOf(ancestor + 1);
    this.sql("DELETE FROM moves WHERE seq >= ?").run(first);
    this.sql("DELETE FROM models WHERE seq >= ?").run(first);
    this.sql("DELETE FROM transactions WHERE block > ?").run(ancestor);
    this.sql("DELETE FROM blocks WHERE number > ?").run(ancestor);
    this.#times.clear();
  }

  clear(): void {
    for (const table of [
      "blocks",
      "transactions",
      "moves",
      "models",
      "requests",
      "claims",
      "tickets",
      "sums",
      "undo",
    ])
      this.db.exec(`DELETE FROM ${table}`);
    this.#times.clear();
  }

  /** Places of the events from one second on, and up to another. @param until absent: without an end */
  between(since = 0, until?: number): readonly [first: number, end: number] {
    const from = this.sql<[number], { number: number }>(
      "SELECT number FROM blocks WHERE time >= ? ORDER BY time LIMIT 1",
    ).get(since);
    const to =
      until === undefined
        ? undefined
        : this.sql<[number], { number: number }>(
            "SELECT number FROM blocks WHERE time > ? ORDER BY time LIMIT 1",
          ).get(until);
    const first = from === undefined ? Number.MAX_SAFE_INTEGER : firstOf(from.number);
    return [first, to === undefined ? Number.MAX_SAFE_INTEGER : firstOf(to.number)];
  }

  requestOfClaim(id: Hex): RequestId | undefined {
    return this.sql<[string], { id: RequestId }>("SELECT request_id AS id FROM claims WHERE id = ?").get(id)
      ?.id;
  }

  modelOfRequest(id: Hex): Hex | undefined {
    return this.sql<[string], { model: Hex }>("SELECT model FROM requests WHERE id = ?").get(id)?.model;
  }

  request(id: Hex): RequestRow | undefined {
    return parsed(this.sql<[string], Body>("SELECT body FROM requests WHERE id = ?").get(id));
  }

  claim(id: Hex): ClaimRow | undefined {
    return parsed(this.sql<[string], Body>("SELECT body FROM claims WHERE id = ?").get(id));
  }

  claimsOf(request: Hex): ClaimRow[] {
    return this.sql<[string], Body>("SELECT body FROM claims WHERE request_id = ? ORDER BY seq")
      .all(request)
      .map(({ body }) => JSON.parse(body) as ClaimRow);
  }

  model(id: Hex): KeptModel | undefined {
    const row = this.sql<[string], ModelRow>("SELECT * FROM models WHERE id = ?").get(id);
    return row && { ...row, word: BigInt(row.word) };
  }

  /** Newest first. @param before seq of the one to go on behind */
  models(before: number, limit: number): KeptModel[] {
    return this.sql<[number, number], ModelRow>(
      "SELECT * FROM models WHERE seq < ? ORDER BY seq DESC LIMIT ?",
    )
      .all(before, limit)
      .map((row) => ({ ...row, word: BigInt(row.word) }));
  }

  transaction(hash: Hex): KeptTransaction | undefined {
    return this.sql<[string], KeptTransaction>(
      `SELECT t.hash, t.block, b.time, t.sender, t.recipient AS "to", t.gas_used AS gasUsed, t.fee, t.input
        FROM transactions t JOIN blocks b ON b.number = t.block WHERE t.hash = ?`,
    ).get(hash);
  }

  /** @param where conditions on `m`, moves @param order what they are ordered by, and how many */
  moves(where: string, order: string, values: readonly unknown[]): KeptMove[] {
    return this.sql<unknown[], Omit<KeptMove, "text" | "money" | "args"> & Body>(
      `${MOVES} WHERE ${where} ${order}`,
    )
      .all(...values)
      .map(({ body, ...row }) => ({
        ...row,
        ...(JSON.parse(body) as Pick<KeptMove, "text" | "money" | "args">),
      }));
  }

  #remember(block: number, time: number): void {
    if (this.#times.size >= MAX_TIMES) this.#times.clear();
    this.#times.set(block, time);
  }

  #putRequest(row: RequestRow): void {
    const { requestId, seq, requestedAt, state, modelId, requester, finalLane, finalAt } = row;
    this.sql("INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?, ?, ?)").run(
      ...[requestId, seq, state, modelId, requester, finalLane ?? null],
      finalAt === undefined ? null : finalAt - requestedAt,
      JSON.stringify(row),
    );
  }

  #putClaim(row: ClaimRow): void {
    const { claimId, seq, requestId, state, modelId, prover, fall, tickets } = row;
    this.sql("INSERT INTO claims VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)").run(
      ...[claimId, seq, requestId, state, modelId, prover, fall ?? null, tickets.length],
      JSON.stringify(row),
    );
    const put = this.sql("INSERT INTO tickets VALUES (?, ?, ?)");
    for (const account of tickets) put.run(claimId, account, seq);
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

const parsed = <Row>(row: Body | undefined): Row | undefined =>
  row === undefined ? undefined : (JSON.parse(row.body) as Row);
