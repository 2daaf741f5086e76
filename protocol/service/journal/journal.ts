/** The journal of transactions in a folder: what this account wants on the chain, written before anything is sent. */
import type { Address, Hex } from "viem";
import { fromHex, toHex } from "../../../base/bytes.ts";
import { BaseError } from "../../../base/errors.ts";
import type { Action } from "../../chain/actions.ts";
import type { Revert } from "../../chain/errors.ts";
import type { ActionState, Inclusion, JournalEntry, SignedTransaction } from "../../chain/journal.ts";
import type { SqliteDatabase } from "./database.ts";

/** Whose journal it is. */
export interface JournalOwner {
  readonly chainId: number;
  readonly assay: Address;
  /** block of the deployment: tells a local chain from its successor */
  readonly blockHash: Hex;
  readonly account: Address;
}

export interface ActionRow {
  key: string;
  state: ActionState;
  nonce: number;
  target: Address;
  data: Buffer;
  value: string;
  gas: string;
  signed_at_ms: number;
  hash: Hex | null;
  block_number: number | null;
  block_hash: Hex | null;
  gas_used: string | null;
  gas_price: string | null;
  revert: string | null;
  /** of the shared journal that has this row as it is here; null: none has */
  revision: number | null;
  /** how often the right to sign had changed hands when it was written there */
  fence: number | null;
}

export interface TransactionRow {
  hash: Hex;
  key: string;
  nonce: number;
  raw: Buffer;
  max_fee: string;
  max_priority_fee: string;
  signed_at_ms: number;
  revision: number | null;
  fence: number | null;
}

/** Columns of an action without its data, which may have 128 KB. */
const ENTRY_COLUMNS =
  "key, state, nonce, target, value, gas, signed_at_ms, hash, block_number, block_hash, gas_used, gas_price, revert";
type EntryRow = Omit<ActionRow, "data" | "revision" | "fence">;

/** Passes a database that nobody has used yet.
 *  @param owner what is known of who would use it now
 *  @throws BaseError JOURNAL_OWNER_MISMATCH */
export function requireOwner(db: SqliteDatabase, owner: Partial<JournalOwner>): void {
  const isUsed = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'owner'").get() !== undefined;
  const held = isUsed
    ? db
        .prepare<[], JournalOwner>(
          "SELECT chain_id AS chainId, assay, block_hash AS blockHash, account FROM owner",
        )
        .get()
    : undefined;
  if (held !== undefined) requireSameOwner(held, owner, `data folder of ${db.name}`);
}

/** @param where what was used, for the message
 *  @throws BaseError JOURNAL_OWNER_MISMATCH */
export function requireSameOwner(held: JournalOwner, owner: Partial<JournalOwner>, where: string): void {
  for (const name of ["chainId", "assay", "blockHash", "account"] as const) {
    if (owner[name] === undefined || held[name] === owner[name]) continue;
    throw new BaseError({
      code: "JOURNAL_OWNER_MISMATCH",
      shortMessage: `The ${where} was used with ${name} ${held[name]}, now it is ${owner[name]}.`,
      nextStep:
        "Use one data folder (--data, ASSAY_DATA), and one database where there is one, for each key and deployment.",
    });
  }
}

/** Every change is written when its method returns. The methods are those of TransactionJournal. */
export class LocalJournal {
  readonly #db: SqliteDatabase;

  /** @param db opened with JOURNAL_SCHEMA among its parts
   *  @throws BaseError JOURNAL_OWNER_MISMATCH if the folder was used with another chain, deployment or key */
  constructor(db: SqliteDatabase, owner: JournalOwner) {
    this.#db = db;
    db.prepare(
      "INSERT INTO owner (id, chain_id, assay, block_hash, account) VALUES (1, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    ).run(owner.chainId, owner.assay, owner.blockHash, owner.account);
    requireOwner(db, owner);
  }

  get(key: string): JournalEntry | undefined {
    const row = this.#db
      .prepare<[string], EntryRow>(`SELECT ${ENTRY_COLUMNS} FROM actions WHERE key = ?`)
      .get(key);
    return row === undefined ? undefined : this.#entryOf(row);
  }

  inState(state: ActionState): JournalEntry[] {
    return this.#db
      .prepare<[string], EntryRow>(`SELECT ${ENTRY_COLUMNS} FROM actions WHERE state = ? ORDER BY nonce`)
      .all(state)
      .map((row) => this.#entryOf(row));
  }

  unheld(): JournalEntry[] {
    return this.#db
      .prepare<[], EntryRow>(
        `SELECT ${ENTRY_COLUMNS} FROM actions AS own WHERE state = 'displaced' AND NOT EXISTS
           (SELECT 1 FROM actions AS other WHERE other.nonce = own.nonce AND other.state <> 'displaced')
         ORDER BY nonce`,
      )
      .all()
      .map((row) => this.#entryOf(row));
  }

  nextNonce(): number {
    const row = this.#db
      .prepare<[], { next: number }>(
        "SELECT coalesce(max(nonce) + 1, 0) AS next FROM actions WHERE state IN ('signed', 'mined')",
      )
      .get();
    return row?.next ?? 0;
  }

  transactionsOf({ key, nonce }: JournalEntry): SignedTransaction[] {
    return this.#db
      .prepare<[string, number], TransactionRow>(
        "SELECT * FROM transactions WHERE key = ? AND nonce = ? ORDER BY length(max_fee) DESC, max_fee DESC",
      )
      .all(key, nonce)
      .map((row) => ({
        hash: row.hash,
        raw: toHex(row.raw),
        maxFeePerGas: BigInt(row.max_fee),
        maxPriorityFeePerGas: BigInt(row.max_priority_fee),
        signedAtMs: row.signed_at_ms,
      }));
  }

  transactionAt(nonce: number): Hex | undefined {
    const row = this.#db
      .prepare<[number], { raw: Buffer }>(
        "SELECT raw FROM transactions WHERE nonce = ? ORDER BY length(max_fee) DESC, max_fee DESC LIMIT 1",
      )
      .get(nonce);
    return row === undefined ? undefined : toHex(row.raw);
  }

  sign(action: Action, nonce: number, gas: bigint, transaction: SignedTransaction): JournalEntry {
    const write = this.#db.transaction(() => {
      this.#db
        .prepare("UPDATE actions SET state = 'displaced' WHERE nonce = ? AND key <> ? AND state = 'reverted'")
        .run(nonce, action.key);
      this.#db
        .prepare(
          `INSERT INTO actions (key, state, nonce, target, data, value, gas, signed_at_ms)
           VALUES (@key, 'signed', @nonce, @to, @data, @value, @gas, @signedAtMs)
           ON CONFLICT (key) DO UPDATE SET state = 'signed', nonce = @nonce, target = @to, data = @data,
             value = @value, gas = @gas, signed_at_ms = @signedAtMs, hash = NULL, block_number = NULL,
             block_hash = NULL, gas_used = NULL, gas_price = NULL, revert = NULL
           WHERE state IN ('reverted', 'displaced')`,
        )
        .run({
          key: action.key,
          nonce,
          to: action.to,
          data: Buffer.from(fromHex(action.data)),
          value: action.value.toString(),
          gas: gas.toString(),
          signedAtMs: transaction.signedAtMs,
        });
      this.#insertTransaction(action.key, nonce, transaction);
    });
    write.immediate();
    return this.get(action.key) as JournalEntry;
  }

  replace({ key, nonce }: JournalEntry, transaction: SignedTransaction): void {
    this.#insertTransaction(key, nonce, transaction);
  }

  markMined(entry: JournalEntry, inclusion: Inclusion): void {
    this.#include(entry, "mined", inclusion, undefined);
  }

  markReverted(entry: JournalEntry, inclusion: Inclusion, revert: Revert): void {
    this.#include(entry, "reverted", inclusion, revert);
  }

  markDone({ key }: JournalEntry): void {
    this.#db.prepare("UPDATE actions SET state = 'done' WHERE key = ? AND state = 'mined'").run(key);
  }

  markSigned({ key }: JournalEntry): void {
    this.#db
      .prepare(
        "UPDATE actions SET state = 'signed', hash = NULL, block_number = NULL, block_hash = NULL WHERE key = ? AND state IN ('mined', 'done')",
      )
      .run(key);
  }

  markDisplaced({ key }: JournalEntry): void {
    this.#db.prepare("UPDATE actions SET state = 'displaced' WHERE key = ? AND state = 'signed'").run(key);
  }

  /** INVARIANT: an action that has another nonce by now is not where its earlier transaction is. */
  #include(
    { key, nonce }: JournalEntry,
    state: "mined" | "reverted",
    inclusion: Inclusion,
    revert: Revert | undefined,
  ): void {
    this.#db
      .prepare(
        `UPDATE actions SET state = @state, hash = @hash, block_number = @blockNumber, block_hash = @blockHash,
           gas_used = @gasUsed, gas_price = @gasPrice, revert = @revert WHERE key = @key AND nonce = @nonce`,
      )
      .run({
        key,
        nonce,
        state,
        hash: inclusion.hash,
        blockNumber: Number(inclusion.blockNumber),
        blockHash: inclusion.blockHash,
        gasUsed: inclusion.gasUsed.toString(),
        gasPrice: inclusion.gasPrice.toString(),
        revert: revert === undefined ? null : JSON.stringify({ ...revert, args: textArgs(revert) }),
      });
  }

  #entryOf(row: EntryRow): JournalEntry {
    const { key } = row;
    const dataOf = () => this.#dataOf(key);
    return {
      key,
      state: row.state,
      nonce: row.nonce,
      to: row.target,
      // Read where it is asked for: whoever follows a transaction looks at all of them, again and again.
      get data() {
        return dataOf();
      },
      value: BigInt(row.value),
      gas: BigInt(row.gas),
      signedAtMs: row.signed_at_ms,
      ...inclusionOf(row),
      ...(row.revert === null ? {} : { revert: JSON.parse(row.revert) as Revert }),
    };
  }

  #dataOf(key: string): Hex {
    const row = this.#db
      .prepare<[string], Pick<ActionRow, "data">>("SELECT data FROM actions WHERE key = ?")
      .get(key);
    return toHex((row as Pick<ActionRow, "data">).data);
  }

  #insertTransaction(key: string, nonce: number, transaction: SignedTransaction): void {
    this.#db
      .prepare(
        `INSERT INTO transactions (hash, key, nonce, raw, max_fee, max_priority_fee, signed_at_ms)
         VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (hash) DO UPDATE SET key = excluded.key`,
      )
      .run(
        transaction.hash,
        key,
        nonce,
        Buffer.from(fromHex(transaction.raw)),
        transaction.maxFeePerGas.toString(),
        transaction.maxPriorityFeePerGas.toString(),
        transaction.signedAtMs,
      );
  }
}

function inclusionOf(row: EntryRow): Pick<JournalEntry, "inclusion"> {
  if (row.hash === null || row.block_number === null || row.block_hash === null) return {};
  return {
    inclusion: {
      hash: row.hash,
      blockNumber: BigInt(row.block_number),
      blockHash: row.block_hash,
      gasUsed: BigInt(row.gas_used ?? 0),
      gasPrice: BigInt(row.gas_price ?? 0),
    },
  };
}

/** Bigints have no JSON: arguments are kept as text. */
function textArgs({ args }: Revert): Record<string, string> {
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, String(value)]));
}
