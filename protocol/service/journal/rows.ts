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
import { type NoteRow, PASSING_KEPT_MS, PASSING_NOTES } from "./notes.ts";

export interface JournalRows {
  readonly actions: readonly ActionRow[];
  readonly transactions: readonly TransactionRow[];
  readonly notes: readonly NoteRow[];
}

interface Tables {
  readonly actions: ActionRow;
  readonly transactions: TransactionRow;
  readonly notes: NoteRow;
}

/** In the order in which their rows are written: a transaction names its action. */
export const TABLES = ["actions", "transactions", "notes"] as const satisfies readonly (keyof Tables)[];
type RowsQueries = Readonly<Record<keyof Tables, Query>>;

/** The rows that a query for each table finds.
 *  @param find rows of one query */
export async function rowsOf(
  queries: RowsQueries,
  find: <Row extends Record<string, unknown>>(query: Query) => Promise<Row[]>,
): Promise<JournalRows> {
  return {
    actions: await find<ActionRow & Record<string, unknown>>(queries.actions),
    transactions: await find<TransactionRow & Record<string, unknown>>(queries.transactions),
    notes: await find<NoteRow & Record<string, unknown>>(queries.notes),
  };
}

export const countRows = (rows: JournalRows): number =>
  TABLES.reduce((sum, table) => sum + rows[table].length, 0);

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

  /** Rows that the given revision does not have yet. */
  since(revision: number): RowsQueries {
    return this.#each((table) => this.#build.selectFrom(table).selectAll().where("revision", ">", revision));
  }

  /** Those that no shared journal has. */
  unshared(): RowsQueries {
    return this.#each((table) => this.#build.selectFrom(table).selectAll().where("revision", "is", null));
  }

  #each(query: (table: keyof Tables) => { compile(): Query }): RowsQueries {
    const [actions, transactions, notes] = TABLES;
    return {
      actions: query(actions).compile(),
      transactions: query(transactions).compile(),
      notes: query(notes).compile(),
    };
  }

  /** Puts rows in the place of those of the same keys, and drops notes that have passed. */
  write({ actions, transactions, notes }: JournalRows, fence: number): Query[] {
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
    for (const rows of portions(notes))
      queries.push(
        this.#build
          .insertInto("notes")
          .values(rows)
          .onConflict((conflict) =>
            conflict.column("key").doUpdateSet(({ ref }) => ({
              at_ms: ref("excluded.at_ms"),
              body: ref("excluded.body"),
              revision: ref("excluded.revision"),
              fence: ref("excluded.fence"),
            })),
          )
          .compile(),
      );
    if (notes.length > 0) {
      const latest = notes.reduce((most, { at_ms }) => Math.max(most, at_ms), 0);
      queries.push(
        this.#build
          .deleteFrom("notes")
          .where(({ eb, or }) =>
            or(Object.values(PASSING_NOTES).map((prefix) => eb("key", "like", `${prefix}%`))),
          )
          .where("at_ms", "<", latest - PASSING_KEPT_MS)
          .compile(),
      );
    }
    return queries;
  }
}

function portions<Row>(rows: readonly Row[]): Row[][] {
  const count = Math.ceil(rows.length / ROWS_A_STATEMENT);
  return Array.from({ length: count }, (_, at) =>
    rows.slice(at * ROWS_A_STATEMENT, (at + 1) * ROWS_A_STATEMENT),
  );
}
