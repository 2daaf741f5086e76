/** SQLite behind the interface that an index uses: a file of better-sqlite3, or a browser's memory. There is one
 *  connection, which answers at once; whoever has it, reads or writes alone. */
import { runWork, type Sql, type SqlStore, type SqlValue } from "./sql.ts";

interface Statement {
  run(...values: SqlValue[]): unknown;
  get(...values: SqlValue[]): unknown;
  all(...values: SqlValue[]): unknown[];
}

/** What is used of a database. */
export interface SqliteConnection {
  /** a Statement: the types of drivers differ in what they bind */
  prepare(text: string): unknown;
  exec(text: string): unknown;
  close(): unknown;
}

export class SqliteStore implements SqlStore {
  readonly #db: SqliteConnection;
  /** there are few texts */
  readonly #statements = new Map<string, Statement>();
  readonly #sql: Sql;
  #turn: Promise<unknown> = Promise.resolve();
  #closing: Promise<unknown> | undefined;

  constructor(db: SqliteConnection) {
    this.#db = db;
    this.#sql = {
      all: async <Row>(text: string, ...values: SqlValue[]) => this.#prepared(text).all(...values) as Row[],
      get: async <Row>(text: string, ...values: SqlValue[]) =>
        this.#prepared(text).get(...values) as Row | undefined,
      run: async (text, ...values) => void this.#prepared(text).run(...values),
    };
  }

  read<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    return this.#inTurn(() => runWork(this.#sql, work));
  }

  write<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    return this.#inTurn(async () => {
      this.#db.exec("BEGIN IMMEDIATE");
      try {
        const result = await runWork(this.#sql, work);
        this.#db.exec("COMMIT");
        return result;
      } catch (error) {
        this.#rollBack();
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    this.#closing ??= this.#inTurn(async () => this.#db.close());
    await this.#closing;
  }

  /** After some failures, a full disk say, SQLite has done so by itself. */
  #rollBack(): void {
    try {
      this.#db.exec("ROLLBACK");
    } catch {}
  }

  #prepared(text: string): Statement {
    const statement = this.#statements.get(text) ?? (this.#db.prepare(text) as Statement);
    this.#statements.set(text, statement);
    return statement;
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }
}
