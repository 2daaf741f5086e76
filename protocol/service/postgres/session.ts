/** One connection to PostgreSQL, in the schema of one signer. Its first failure is its end: what became of the statement
 *  is not known then, and the next connection finds out. */
import { hostname } from "node:os";
import pg from "pg";
import { BaseError } from "../../../base/errors.ts";
import type { Query } from "../journal/rows.ts";
import { type DatabaseTerms, databaseUrlInvalid } from "./terms.ts";

/** The oldest version that is used, as `server_version_num` counts. */
const LEAST_VERSION = 140_000;
/** After which a database that does not answer counts as gone, ms. */
const ANSWER_MS = 2_000;

/** Numbers of these tables are blocks, nonces and counters: far below 2^53. */
const INT8 = 20;
const types = {
  getTypeParser: (id: number, format?: "text" | "binary") =>
    id === INT8 ? Number : pg.types.getTypeParser(id, format as "text"),
} as pg.CustomTypesConfig;

/** Runs one statement.
 *  @throws BaseError DATABASE_UNREACHABLE (retryable) */
export type Rows = <Row extends pg.QueryResultRow>(
  sql: string,
  parameters?: readonly unknown[],
) => Promise<Row[]>;

export class PostgresSession {
  readonly #client: pg.Client;
  readonly #name: string;
  #turn: Promise<unknown> = Promise.resolve();
  #isOver = false;

  private constructor(client: pg.Client, name: string) {
    this.#client = client;
    this.#name = name;
  }

  /** @param onEnd called once, when the connection ends
   *  @throws BaseError DATABASE_URL_INVALID, DATABASE_UNREACHABLE (retryable), DATABASE_TOO_OLD */
  static async open(
    { url, name }: DatabaseTerms,
    onEnd: (session: PostgresSession) => void,
  ): Promise<PostgresSession> {
    const client = clientOf(url);
    const session = new PostgresSession(client, name);
    client.on("error", () => session.destroy());
    client.once("end", () => {
      session.#isOver = true;
      onEnd(session);
    });
    try {
      await client.connect();
      const [version] = await session.rows<{ number: number }>(
        "SELECT current_setting('server_version_num')::bigint AS number",
      );
      requireVersion(version?.number ?? 0, name);
      // What was committed must outlive the server, also where it is set up otherwise.
      await session.rows(
        "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
      );
      return session;
    } catch (error) {
      session.destroy();
      throw session.#fault(error);
    }
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** @throws BaseError DATABASE_UNREACHABLE (retryable) */
  rows<Row extends pg.QueryResultRow>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    return this.#inTurn(() => this.#run<Row>({ sql, parameters }));
  }

  /** Runs some work in a transaction, alone on this connection.
   *  @throws BaseError as rows does; what the work throws */
  transaction<T>(work: (run: <Row extends pg.QueryResultRow>(query: Query) => Promise<Row[]>) => Promise<T>) {
    return this.#inTurn(async () => {
      await this.#run({ sql: "BEGIN", parameters: [] });
      const result = await work((query) => this.#run(query));
      await this.#run({ sql: "COMMIT", parameters: [] });
      return result;
    });
  }

  /** Has news of a channel until the connection ends.
   *  @param channel an identifier of this program's own
   *  @throws BaseError as rows does */
  async listen(channel: string, onNews: (payload: string) => void): Promise<void> {
    this.#client.on("notification", (notice) => {
      if (notice.channel === channel) onNews(notice.payload ?? "");
    });
    await this.rows(`LISTEN ${channel}`);
  }

  /** Ends it, also where the server does not answer. */
  destroy(): void {
    this.#isOver = true;
    // Its own end waits for the server.
    (this.#client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
  }

  /** A failure ends the connection, and with it an open transaction. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(async () => {
      try {
        return await work();
      } catch (error) {
        this.destroy();
        throw this.#fault(error);
      }
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #run<Row extends pg.QueryResultRow>({ sql, parameters }: Query): Promise<Row[]> {
    if (this.#isOver) throw new Error("the connection is over");
    return (await this.#client.query<Row>(sql, [...parameters])).rows;
  }

  #fault(error: unknown): BaseError {
    return databaseUnreachable(this.#name, error);
  }
}

/** @param name of the database @param error what the driver threw; one of ours stays what it is */
export function databaseUnreachable(name: string, error: unknown): BaseError {
  if (error instanceof BaseError) return error;
  const { code, message } = error as { code?: string; message?: string };
  const why = message === undefined || message === "" ? (code ?? "no reason given") : message;
  return new BaseError({
    code: "DATABASE_UNREACHABLE",
    shortMessage: `PostgreSQL at ${name} cannot be used: ${why}.`,
    nextStep: "Look after the server; this program goes on by itself when it is back.",
    details: { database: name, reason: code },
    retryable: true,
  });
}

/** How a connection is made, and how long is waited for it. @param url with the password */
export const clientOptions = (url: string) =>
  ({
    connectionString: url,
    application_name: `assay on ${hostname()}`,
    connectionTimeoutMillis: ANSWER_MS,
    idle_in_transaction_session_timeout: ANSWER_MS,
    keepAlive: true,
    types,
  }) satisfies pg.ClientConfig;

/** @throws BaseError DATABASE_URL_INVALID: it reads the files that a URL names */
function clientOf(url: string): pg.Client {
  try {
    return new pg.Client({ ...clientOptions(url), query_timeout: ANSWER_MS, statement_timeout: ANSWER_MS });
  } catch (cause) {
    const { code, path } = cause as NodeJS.ErrnoException;
    throw databaseUrlInvalid(path === undefined ? "it cannot be read" : `${path} cannot be read (${code})`);
  }
}

/** @param number as `server_version_num` @param name of the database
 *  @throws BaseError DATABASE_TOO_OLD */
export function requireVersion(number: number, name: string): void {
  if (number >= LEAST_VERSION) return;
  const major = Math.floor(number / 10_000);
  throw new BaseError({
    code: "DATABASE_TOO_OLD",
    shortMessage: `PostgreSQL at ${name} is version ${major}; ${LEAST_VERSION / 10_000} or later is needed.`,
    nextStep: "Upgrade the server, or name another with --database (ASSAY_DATABASE).",
    details: { version: major, least: LEAST_VERSION / 10_000 },
  });
}
