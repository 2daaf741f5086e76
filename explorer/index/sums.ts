/** Counts and amounts that events add to, and what they were before: a block that goes away takes its part back. */
import type { SqliteDatabase } from "../../protocol/service/journal/database.ts";
import type { Delta, Scope } from "./deltas.ts";
import { type Prepare, statementsOf } from "./statements.ts";

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

export class Sums {
  readonly #sql: Prepare;

  /** @param db with the explorer's tables */
  constructor(db: SqliteDatabase) {
    this.#sql = statementsOf(db);
  }

  /** Adds what the events of one block add. Blocks come in order.
   *  @param deltas in any order */
  add(block: number, deltas: readonly Delta[]): void {
    const changed = new Map<
      string,
      { readonly delta: Delta; row: Row | undefined; values: Map<string, bigint>; last: number }
    >();
    const find = this.#sql<[string, string, number], Row>(
      "SELECT id, day, last, body FROM sums WHERE scope = ? AND id = ? AND day = ?",
    );
    for (const delta of deltas) {
      const key = `${delta.scope} ${delta.id} ${delta.day}`;
      let held = changed.get(key);
      if (held === undefined) {
        const row = find.get(delta.scope, delta.id, delta.day);
        held = {
          delta,
          row,
          values: new Map(row === undefined ? [] : decode(row.body)),
          last: row?.last ?? 0,
        };
        changed.set(key, held);
      }
      const { values } = held;
      for (const [name, amount] of Object.entries(delta.add))
        values.set(name, (values.get(name) ?? 0n) + amount);
      for (const [name, value] of Object.entries(delta.range ?? {})) widen(values, name, value);
      held.last = Math.max(held.last, delta.seq);
    }
    const keep = this.#sql("INSERT OR IGNORE INTO undo VALUES (?, ?, ?, ?, ?, ?)");
    const put = this.#sql("INSERT OR REPLACE INTO sums VALUES (?, ?, ?, ?, ?)");
    for (const { delta, row, values, last } of changed.values()) {
      const key = [delta.scope, delta.id, delta.day] as const;
      keep.run(block, ...key, row?.last ?? null, row?.body ?? null);
      put.run(...key, last, encode(values));
    }
  }

  /** Makes the sums what they were at this block. Blocks above it must be kept. */
  takeBack(ancestor: number): void {
    const above = this.#sql<
      [number],
      { scope: string; id: string; day: number; last: number | null; body: string | null }
    >("SELECT scope, id, day, last, body FROM undo WHERE block > ? ORDER BY block DESC").all(ancestor);
    const put = this.#sql("INSERT OR REPLACE INTO sums VALUES (?, ?, ?, ?, ?)");
    const drop = this.#sql("DELETE FROM sums WHERE scope = ? AND id = ? AND day = ?");
    for (const { scope, id, day, last, body } of above) {
      if (body === null) drop.run(scope, id, day);
      else put.run(scope, id, day, last, body);
    }
    this.#sql("DELETE FROM undo WHERE block > ?").run(ancestor);
  }

  /** Drops what was kept of blocks before this one: they cannot go away alone. */
  settle(block: number): void {
    this.#sql("DELETE FROM undo WHERE block < ?").run(block);
  }

  get(scope: Scope, id: string): Values {
    return this.find(scope, id)?.values ?? new Map();
  }

  /** A sum of all days; undefined where no event added to it. */
  find(scope: Scope, id: string): Sum | undefined {
    const row = this.#sql<[string, string, number], Row>(
      "SELECT id, day, last, body FROM sums WHERE scope = ? AND id = ? AND day = ?",
    ).get(scope, id, 0);
    return row && sumOf(row);
  }

  /** Newest days first. */
  days(scope: "day" | "accountDay", id: string, limit: number): Sum[] {
    return this.#sql<[string, string, number], Row>(
      "SELECT id, day, last, body FROM sums WHERE scope = ? AND id = ? ORDER BY day DESC LIMIT ?",
    )
      .all(scope, id, limit)
      .map(sumOf);
  }

  /** Those whose id begins so. */
  below(scope: Scope, prefix: string): Sum[] {
    return this.#sql<[string, string, string], Row>(
      "SELECT id, day, last, body FROM sums WHERE scope = ? AND id >= ? AND id < ?",
    )
      .all(scope, prefix, `${prefix}\uffff`)
      .map(sumOf);
  }

  /** Most recently changed first.
   *  @param before `last` and id of the one to go on behind */
  newest(scope: Scope, limit: number, before?: { readonly last: number; readonly id: string }): Sum[] {
    const { last, id } = before ?? { last: Number.MAX_SAFE_INTEGER, id: "" };
    return this.#sql<[string, number, string, number], Row>(
      "SELECT id, day, last, body FROM sums WHERE scope = ? AND (last, id) < (?, ?) ORDER BY last DESC, id DESC LIMIT ?",
    )
      .all(scope, last, id, limit)
      .map(sumOf);
  }

  count(scope: Scope): number {
    return (
      this.#sql<[string], { n: number }>("SELECT count(*) AS n FROM sums WHERE scope = ?").get(scope)?.n ?? 0
    );
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
