/** Counts and amounts that events add to, and what they were before: a block that goes away takes its part back. */
import type { Sql } from "../store/sql.ts";
import type { Delta, Scope } from "./deltas.ts";

/** Values by name; decimal in the database, where no integer holds 256 bits. */
export type Values = ReadonlyMap<string, bigint>;

export interface Sum {
  readonly id: string;
  readonly day: number;
  readonly last: number;
  readonly values: Values;
}

interface Row {
  readonly id: string;
  readonly day: number;
  readonly last: number;
  readonly body: string;
}

/** A sum that a block changes. */
interface Changed {
  readonly key: Pick<Delta, "scope" | "id" | "day">;
  readonly deltas: Delta[];
}

const PUT = `INSERT INTO sums VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (scope, id, day) DO UPDATE SET last = excluded.last, body = excluded.body`;
const FIND = "SELECT id, day, last, body FROM sums WHERE scope = ? AND id = ? AND day = ?";

export class Sums {
  readonly #sql: Sql;

  /** @param sql with the explorer's tables */
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Adds what the events of one block add. Blocks come in order.
   *  @param deltas in any order */
  async add(block: number, deltas: readonly Delta[]): Promise<void> {
    const changed = new Map<string, Changed>();
    for (const delta of deltas) {
      const { scope, id, day } = delta;
      const name = `${scope} ${id} ${day}`;
      const known = changed.get(name);
      if (known === undefined) changed.set(name, { key: { scope, id, day }, deltas: [delta] });
      else known.deltas.push(delta);
    }
    const all = [...changed.values()];
    const rows = await Promise.all(
      all.map(({ key: { scope, id, day } }) => this.#sql.get<Row>(FIND, scope, id, day)),
    );
    await Promise.all(all.map(({ key, deltas }, i) => this.#put(block, key, rows[i], deltas)));
  }

  /** Makes the sums what they were at this block. Blocks above it must be kept. */
  async takeBack(ancestor: number): Promise<void> {
    const sql = this.#sql;
    const above = await sql.all<{
      scope: string;
      id: string;
      day: number;
      last: number | null;
      body: string | null;
    }>("SELECT scope, id, day, last, body FROM undo WHERE block > ? ORDER BY block DESC", ancestor);
    await Promise.all(
      above.map(({ scope, id, day, last, body }) =>
        body === null
          ? sql.run("DELETE FROM sums WHERE scope = ? AND id = ? AND day = ?", scope, id, day)
          : sql.run(PUT, scope, id, day, last, body),
      ),
    );
    await sql.run("DELETE FROM undo WHERE block > ?", ancestor);
  }

  /** Drops what was kept of blocks before this one: they cannot go away alone. */
  settle(block: number): Promise<void> {
    return this.#sql.run("DELETE FROM undo WHERE block < ?", block);
  }

  async get(scope: Scope, id: string): Promise<Values> {
    return (await this.find(scope, id))?.values ?? new Map();
  }

  /** A sum of all days; undefined where no event added to it. */
  async find(scope: Scope, id: string): Promise<Sum | undefined> {
    const row = await this.#sql.get<Row>(FIND, scope, id, 0);
    return row && sumOf(row);
  }

  /** Newest days first. */
  async days(scope: "day" | "accountDay", id: string, limit: number): Promise<Sum[]> {
    const rows = await this.#sql.all<Row>(
      "SELECT id, day, last, body FROM sums WHERE scope = ? AND id = ? ORDER BY day DESC LIMIT ?",
      ...[scope, id, limit],
    );
    return rows.map(sumOf);
  }

  /** Those whose id begins so, in the order of their ids. */
  async below(scope: Scope, prefix: string): Promise<Sum[]> {
    const rows = await this.#sql.all<Row>(
      "SELECT id, day, last, body FROM sums WHERE scope = ? AND id >= ? AND id < ? ORDER BY id",
      ...[scope, prefix, `${prefix}\uffff`],
    );
    return rows.map(sumOf);
  }

  /** Most recently changed first.
   *  @param before `last` and id of the one to go on behind */
  async newest(
    scope: Scope,
    limit: number,
    before?: { readonly last: number; readonly id: string },
  ): Promise<Sum[]> {
    const { last, id } = before ?? { last: Number.MAX_SAFE_INTEGER, id: "" };
    const rows = await this.#sql.all<Row>(
      `SELECT id, day, last, body FROM sums WHERE scope = ? AND (last, id) < (?, ?)
        ORDER BY last DESC, id DESC LIMIT ?`,
      ...[scope, last, id, limit],
    );
    return rows.map(sumOf);
  }

  async count(scope: Scope): Promise<number> {
    const row = await this.#sql.get<{ n: number }>("SELECT count(*) AS n FROM sums WHERE scope = ?", scope);
    return row?.n ?? 0;
  }

  /** @param row what was there before the block */
  async #put(
    block: number,
    { scope, id, day }: Changed["key"],
    row: Row | undefined,
    deltas: readonly Delta[],
  ): Promise<void> {
    const values = row === undefined ? new Map<string, bigint>() : decode(row.body);
    let last = row?.last ?? 0;
    for (const { add, range, seq } of deltas) {
      for (const [name, amount] of Object.entries(add)) values.set(name, (values.get(name) ?? 0n) + amount);
      for (const [name, value] of Object.entries(range ?? {})) widen(values, name, value);
      last = Math.max(last, seq);
    }
    await Promise.all([
      this.#sql.run(
        "INSERT INTO undo VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        ...[block, scope, id, day, row?.last ?? null, row?.body ?? null],
      ),
      this.#sql.run(PUT, scope, id, day, last, encode(values)),
    ]);
  }
}

export const amountIn = (values: Values, name: string): bigint => values.get(name) ?? 0n;

const sumOf = ({ id, day, last, body }: Row): Sum => ({ id, day, last, values: decode(body) });

function widen(values: Map<string, bigint>, name: string, value: bigint): void {
  const [least, greatest] = [values.get(`least:${name}`), values.get(`greatest:${name}`)];
  if (least === undefined || value < least) values.set(`least:${name}`, value);
  if (greatest === undefined || value > greatest) values.set(`greatest:${name}`, value);
}

const encode = (values: Values): string =>
  JSON.stringify(Object.fromEntries([...values].map(([name, value]) => [name, `${value}`])));
const decode = (body: string): Map<string, bigint> =>
  new Map(
    Object.entries(JSON.parse(body) as Record<string, string>).map(([name, value]) => [name, BigInt(value)]),
  );
