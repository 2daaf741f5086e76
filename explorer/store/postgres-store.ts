/** PostgreSQL behind the interface that an index uses. A page reads in a transaction of its own, which sees one state; a
 *  batch is written in one that excludes other writers, also those of other processes. */
import type { Socket } from "node:net";
import pg from "pg";
import { BaseError } from "../../base/errors.ts";
import type { SchemaPart } from "../../protocol/service/journal/database.ts";
import { enterNamedSchema } from "../../protocol/service/postgres/schema.ts";
import {
  clientOptions,
  databaseUnreachable,
  PostgresSession,
} from "../../protocol/service/postgres/session.ts";
import type { DatabaseTerms } from "../../protocol/service/postgres/terms.ts";
import { runWork, type Sql, type SqlStore, type SqlValue } from "./sql.ts";

/** Pages that are read at once; further ones wait for their turn, as long as for a connection. */
const MAX_READS = 8;
/** Longest that one statement may take, ms: a page that waits longer is better told so; a batch of a large re-org may
 *  take a while. */
const READ_MS = 5_000;
const WRITE_MS = 60_000;
/** After which the server ends a transaction of an explorer that is gone, ms. One that computes for others meanwhile
 *  asks nothing for seconds. */
const IDLE_MS = 15_000;
/** As the pool says it of its queue; a server that gives no connection is another matter. */
const QUEUE_IS_FULL = "timeout exceeded when trying to connect";

/** Classes of SQLSTATE that say that a statement is wrong, not that the database cannot be used. */
const OUR_FAULTS = /^(22|23|42(?!501|P01))/;

export class PostgresStore implements SqlStore {
  readonly #readers: pg.Pool;
  /** Apart from them, so that a batch waits for no page: however many ask, the chain is followed. */
  readonly #writer: pg.Pool;
  readonly #terms: DatabaseTerms;
  readonly #schema: string;
  readonly #parts: readonly SchemaPart[];
  readonly #clients = new Set<pg.PoolClient>();
  #entering: Promise<void> | undefined;
  #closing: Promise<unknown> | undefined;

  /** Connects when it is first used.
   *  @param schema that holds the tables; made where it is not there
   *  @throws BaseError DATABASE_URL_INVALID */
  constructor(terms: DatabaseTerms, schema: string, parts: readonly SchemaPart[]) {
    this.#terms = terms;
    this.#schema = schema;
    this.#parts = parts;
    this.#readers = poolOf(terms, MAX_READS, this.#clients);
    this.#writer = poolOf(terms, 1, this.#clients);
  }

  /** Makes the tables, and brings them up to date.
   *  @throws BaseError DATABASE_UNREACHABLE (retryable), DATABASE_URL_INVALID, DATABASE_TOO_OLD, DATABASE_NEWER */
  enter(): Promise<void> {
    this.#entering ??= this.#enter().catch((error: unknown) => {
      this.#entering = undefined;
      throw error;
    });
    return this.#entering;
  }

  read<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    const begin = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${this.#settings(READ_MS)}`;
    return this.#transaction(this.#readers, begin, READ_MS, work);
  }

  write<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    const lock = `SELECT pg_advisory_xact_lock(hashtext('${this.#schema}'))`;
    return this.#transaction(this.#writer, `BEGIN; ${this.#settings(WRITE_MS)}; ${lock}`, WRITE_MS, work);
  }

  /** Also ends what is under way. */
  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    // A client's own end waits for the server, which may hang.
    for (const client of this.#clients)
      (client as unknown as { connection: { stream: Socket } }).connection.stream.destroySoon();
    await Promise.all([this.#readers.end(), this.#writer.end()]);
  }

  async #enter(): Promise<void> {
    const session = await PostgresSession.open(this.#terms, () => undefined);
    try {
      await enterNamedSchema(session, this.#terms, this.#schema, this.#parts);
    } finally {
      session.destroy();
    }
  }

  #settings(statementMs: number): string {
    const limits = `SET LOCAL statement_timeout = ${statementMs}; SET LOCAL idle_in_transaction_session_timeout = ${IDLE_MS}`;
    return `SET LOCAL search_path TO ${this.#schema}; ${limits}`;
  }

  async #transaction<Result>(
    pool: pg.Pool,
    begin: string,
    statementMs: number,
    work: (sql: Sql) => Promise<Result>,
  ): Promise<Result> {
    await this.enter();
    const client = await pool.connect().catch((error: unknown) => {
      throw (error as Error).message === QUEUE_IS_FULL ? tooBusy(this.#terms) : this.#fault(error);
    });
    let isUsable = false;
    try {
      const query = <Row extends pg.QueryResultRow>(text: string, values?: readonly SqlValue[]) =>
        client
          .query<Row>({
            text,
            ...(values === undefined ? {} : { values: [...values] }),
            query_timeout: statementMs,
          } as pg.QueryConfig)
          .catch((error: unknown) => {
            throw this.#fault(error);
          });
      await query(begin);
      try {
        const result = await runWork(sqlOf(query), work);
        await query("COMMIT");
        isUsable = true;
        return result;
      } catch (error) {
        // What the work throws says nothing of the connection.
        isUsable = await query("ROLLBACK").then(
          () => true,
          () => false,
        );
        throw error;
      }
    } finally {
      client.release(!isUsable);
    }
  }

  #fault(error: unknown): unknown {
    const { code } = error as { readonly code?: unknown };
    if (error instanceof BaseError || (typeof code === "string" && OUR_FAULTS.test(code))) return error;
    // The tables may have been dropped, or another server may answer.
    this.#entering = undefined;
    return databaseUnreachable(this.#terms.name, error);
  }
}

/** @param clients that are connected */
function poolOf({ url }: DatabaseTerms, max: number, clients: Set<pg.PoolClient>): pg.Pool {
  const pool = new pg.Pool({ ...clientOptions(url), pipeline: true, max });
  // Of a connection that ends, whoever uses it hears by its statements; the next gets another.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => {
    clients.add(client);
    client.on("error", () => undefined);
    client.once("end", () => clients.delete(client));
  });
  return pool;
}

const tooBusy = ({ name }: DatabaseTerms): BaseError =>
  new BaseError({
    code: "TOO_BUSY",
    shortMessage: `${MAX_READS} pages are read from PostgreSQL at ${name}, the limit, and others wait already.`,
    nextStep: "Ask again in 2 s.",
    details: { limit: MAX_READS, retryAfterSeconds: 2 },
    retryable: true,
  });

type Query = <Row extends pg.QueryResultRow>(
  text: string,
  values: readonly SqlValue[],
) => Promise<pg.QueryResult<Row>>;

function sqlOf(query: Query): Sql {
  const all = async <Row extends object>(text: string, ...values: SqlValue[]) =>
    (await query<Row & pg.QueryResultRow>(numbered(text), values)).rows as Row[];
  return {
    all,
    get: async <Row extends object>(text: string, ...values: SqlValue[]): Promise<Row | undefined> => {
      const [row] = await all<Row>(text, ...values);
      return row;
    },
    run: async (text, ...values) => void (await query(numbered(text), values)),
  };
}

/** There are few texts. */
const known = new Map<string, string>();

/** PostgreSQL numbers its values. A question mark in a text is always a value's place. */
function numbered(text: string): string {
  let found = known.get(text);
  if (found === undefined) {
    let count = 0;
    found = text.replaceAll("?", () => `$${++count}`);
    known.set(text, found);
  }
  return found;
}
