/** SQLite in WebAssembly with the part of better-sqlite3's interface that an index uses, in memory. Text ends at a NUL,
 *  which JSON holds escaped. */
import type { BindableValue, Database, PreparedStatement, Sqlite3Static } from "@sqlite.org/sqlite-wasm";
import type { SqliteConnection } from "../store/sqlite-store.ts";

type Row = Record<string, unknown>;

/** @param load the package's own, which is one for Node.js and another for browsers */
export function loadSqlite(load: () => Promise<Sqlite3Static>): Promise<Sqlite3Static> {
  // It warns of files of the browser that it cannot have, which a database in memory does without.
  Object.assign(globalThis, { sqlite3ApiConfig: { warn: () => undefined } });
  return load();
}

/** @param tables SQL that makes them */
export function openInMemory(sqlite: Sqlite3Static, tables: readonly string[]): SqliteConnection {
  const db = new WasmDatabase(sqlite);
  for (const text of tables) db.exec(text);
  return db;
}

class WasmDatabase implements SqliteConnection {
  readonly #db: Database;

  constructor(sqlite: Sqlite3Static) {
    this.#db = new sqlite.oo1.DB(":memory:");
  }

  prepare(text: string): WasmStatement {
    return new WasmStatement(this.#db.prepare(text));
  }

  exec(text: string): void {
    this.#db.exec(text);
  }

  close(): void {
    this.#db.close();
  }
}

class WasmStatement {
  readonly #statement: PreparedStatement;
  readonly #columns: readonly string[];

  constructor(statement: PreparedStatement) {
    this.#statement = statement;
    this.#columns = statement.columnCount === 0 ? [] : statement.getColumnNames([]);
  }

  run(...values: BindableValue[]): void {
    this.#with(values, () => {
      while (this.#statement.step());
    });
  }

  get(...values: BindableValue[]): Row | undefined {
    return this.#with(values, () => (this.#statement.step() ? this.#row() : undefined));
  }

  all(...values: BindableValue[]): Row[] {
    return this.#with(values, () => {
      const rows: Row[] = [];
      while (this.#statement.step()) rows.push(this.#row());
      return rows;
    });
  }

  #row(): Row {
    const values = this.#statement.get([]) as unknown[];
    return Object.fromEntries(this.#columns.map((name, i) => [name, values[i]]));
  }

  #with<Result>(values: BindableValue[], work: () => Result): Result {
    const statement = this.#statement;
    try {
      if (values.length > 0) statement.bind(values);
      return work();
    } finally {
      statement.reset(true);
    }
  }
}
