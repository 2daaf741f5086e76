/** The database of an index: SQLite in a file, SQLite in a browser's memory, or PostgreSQL. All statements are texts that
 *  each of them takes, with `?` for their values; one that is written twice for two databases would be two indexes. */

/** Integers are below 2^53; of greater amounts the decimal text is kept. */
export type SqlValue = string | number | null;

/** Statements of one transaction. They run in the order in which they were asked for, so that what does not need the
 *  answer of another may be asked for at once: where the database is far away, that saves the way. */
export interface Sql {
  all<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row[]>;
  /** The first row. */
  get<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row | undefined>;
  run(text: string, ...values: SqlValue[]): Promise<void>;
}

export interface SqlStore {
  /** Reads one state of the database, whatever is written meanwhile. Wait for nothing else in it.
   *  @throws what the work throws; of PostgreSQL BaseError DATABASE_UNREACHABLE, TOO_BUSY (retryable) */
  read<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
  /** Writes all or nothing, one after the other.
   *  @throws as `read` does: of a write that lost its connection nobody knows whether it is there */
  write<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
  /** May be called again. */
  close(): Promise<void>;
}

/** Runs a transaction's work. What of it goes on when another part has failed is refused its statements: they would be
 *  written beside the transaction, or into the next one. */
export async function runWork<Result>(sql: Sql, work: (sql: Sql) => Promise<Result>): Promise<Result> {
  let isOver = false;
  const checked = (): Sql => {
    if (isOver) throw new Error("The transaction of this statement is over.");
    return sql;
  };
  try {
    return await work({
      all: async (text, ...values) => checked().all(text, ...values),
      get: async (text, ...values) => checked().get(text, ...values),
      run: async (text, ...values) => checked().run(text, ...values),
    });
  } finally {
    isOver = true;
  }
}
