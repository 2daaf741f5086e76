/** Rows of the journal, in SQLite and in PostgreSQL: one set of queries, written for both by Kysely. */
import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { ActionRow, TransactionRow } from "./journal.ts";

export interface JournalRows {
  readonly actions: readonly ActionRow[];
  readonly transactions: readonly TransactionRow[];
}

interface Tables {
  readonly actions: ActionRow;
  readonly transactions: TransactionRow;
}

export type Query = Pick<CompiledQuery, "sql" | "parameters">;
export type Dialect = "sqlite" | "postgres";

/** Rows of one statement: SQLite takes 32,766 parameters, PostgreSQL 65,535. */
const ROWS_A_STATEMENT = 500;

const ACTION_COLUMNS = [
  "state",
  "nonce",
  "target",
  "data",
  "value",
  "gas",
  "signed_at_ms",
  "hash",
  "block_number",
  "block_hash",
  "gas_used",
  "gas_price",
  "revert",
  "revision",
  "fence",
] as const satisfies readonly (keyof ActionRow)[];

function builderFor(dialect: Dialect): Kysely<Tables> {
  const createDriver = () => new DummyDriver();
  return new Kysely<Tables>({
    dialect:
      dialect === "sqlite"
        ? {
            createDriver,
            createAdapter: () => new SqliteAdapter(),
            createIntrospector: (db) => new SqliteIntrospector(db),
            createQueryCompiler: () => new SqliteQueryCompiler(),
          }
        : {
            createDriver,
            createAdapter: () => new PostgresAdapter(),
            createIntrospector: (db) => new PostgresIntrospector(db),
            createQueryCompiler: () => new PostgresQueryCompiler(),
          },
  });
}

/** Queries about rows of the journal in a dialect of SQL. */
export class RowQueries {
  readonly #build: Kysely<Tables>;

  constructor(dialect: Dialect) {
    this.#build = builderFor(dialect);
  }

  /** Actions and transactions that the given revision does not have yet. */
  since(revision: number): readonly [Query, Query] {
    return [
      this.#build.selectFrom("actions").selectAll().where("revision", ">", revision).compile(),
      this.#build.selectFrom("transactions").selectAll().where("revision", ">", revision).compile(),
    ];
  }

  /** Those that no shared journal has. */
  unshared(): readonly [Query, Query] {
    return [
      this.#build.selectFrom("actions").selectAll().where("revision", "is", null).compile(),
      this.#build.selectFrom("transactions").selectAll().where("revision", "is", null).compile(),
    ];
  }

  /** Puts rows in the place of those of the same keys. */
  write({ actions, transactions }: JournalRows, fence: number): Query[] {
    const queries: Query[] = [];
    // Between the state before and the one after, two of them might hold one nonce.
    for (const rows of portions(actions)) {
      const keys = rows.map(({ key }) => key);
      queries.push(
        this.#build
          .updateTable("actions")
          .set({ state: "displaced", fence })
          .where("key", "in", keys)
          .compile(),
      );
    }
    for (const rows of portions(actions))
      queries.push(
        this.#build
          .insertInto("actions")
          .values(rows)
          .onConflict((conflict) =>
            conflict
              .column("key")
              .doUpdateSet(({ ref }) =>
                Object.fromEntries(ACTION_COLUMNS.map((column) => [column, ref(`excluded.${column}`)])),
              ),
          )
          .compile(),
      );
    for (const rows of portions(transactions))
      queries.push(
        this.#build
          .insertInto("transactions")
          .values(rows)
          .onConflict((conflict) =>
            conflict.column("hash").doUpdateSet(({ ref }) => ({
              key: ref("excluded.key"),
              revision: ref("excluded.revision"),
              fence: ref("excluded.fence"),
            })),
          )
          .compile(),
      );
    return queries;
  }
}

function portions<Row>(rows: readonly Row[]): Row[][] {
  const count = Math.ceil(rows.length / ROWS_A_STATEMENT);
  return Array.from({ length: count }, (_, at) =>
    rows.slice(at * ROWS_A_STATEMENT, (at + 1) * ROWS_A_STATEMENT),
  );
}
