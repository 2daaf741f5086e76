/** The queue's database: one connection, made again whenever it ends, and pg-boss on it. */
import { fileURLToPath } from "node:url";
import PgBoss from "pg-boss";
import { BaseError, isBaseError } from "../../../base/errors.ts";
import type { Logger } from "../../../base/log.ts";
import { pause } from "../../chain/follower.ts";
import type { SchemaPart } from "../journal/database.ts";
import { enterNamedSchema } from "../postgres/schema.ts";
import { PostgresSession } from "../postgres/session.ts";
import type { DatabaseTerms } from "../postgres/terms.ts";
import { type ANSWERED, ANSWERS_SCHEMA, type ORDERED, QUEUE_SCHEMA, QUEUES } from "./orders.ts";

const ANSWERS_PART: SchemaPart = {
  name: "workers",
  folder: fileURLToPath(new URL("migrations", import.meta.url)),
};
/** Between two tries to connect, ms. */
const RECONNECT_MS = 1_000;
/** After which what nobody took away leaves, seconds: the engine's jobs, and then its archive of them. */
export const KEEP_SECONDS = 300;

export interface WorkDatabaseParts {
  readonly terms: DatabaseTerms;
  /** daemons make the tables and the queues; workers, whose login may not, wait for that */
  readonly makesTables: boolean;
  /** called with the job that it names when there is news on the channel */
  readonly listen: { readonly channel: typeof ORDERED | typeof ANSWERED; onNews(job: string): void };
  /** called when a connection ends */
  readonly onLost?: () => void;
  readonly log: Logger;
}

/** What is used while there is a connection. */
export interface Connected {
  readonly session: PostgresSession;
  readonly boss: PgBoss;
  /** of this connection */
  readonly login: string;
}

export class WorkDatabase {
  readonly #parts: WorkDatabaseParts;
  #connected: Connected | undefined;
  #reason: string | undefined;
  #isOver = false;

  constructor(parts: WorkDatabaseParts) {
    this.#parts = parts;
  }

  /** undefined while PostgreSQL cannot be used */
  get connected(): Connected | undefined {
    return this.#connected?.session.isOver === true ? undefined : this.#connected;
  }

  /** Keeps a connection until the signal aborts.
   *  @throws BaseError what another try cannot change: DATABASE_URL_INVALID, DATABASE_TOO_OLD, DATABASE_NEWER */
  async run(signal: AbortSignal): Promise<void> {
    const { terms, log } = this.#parts;
    while (!signal.aborted) {
      if (this.connected === undefined) {
        try {
          this.#connected = await this.#connect();
          if (this.#reason !== undefined) log.info({ database: terms.name }, "the queue is there again");
          this.#reason = undefined;
        } catch (error) {
          if (!isBaseError(error) || !error.retryable) throw error;
          this.#report(error.message);
        }
      }
      await pause(RECONNECT_MS, signal);
    }
    this.#isOver = true;
    this.#connected?.session.destroy();
  }

  /** Of one that was never used, whoever opens it hears. */
  #lost(session: PostgresSession): void {
    if (this.#connected?.session !== session) return;
    if (!this.#isOver) this.#report("the connection ended");
    this.#parts.onLost?.();
  }

  #report(reason: string): void {
    if (reason === this.#reason) return;
    this.#reason = reason;
    this.#parts.log.warn({ reason }, "the queue of workers cannot be used");
  }

  async #connect(): Promise<Connected> {
    const { terms, makesTables, listen } = this.#parts;
    const session = await PostgresSession.open(terms, (ended) => this.#lost(ended));
    try {
      if (makesTables) await enterNamedSchema(session, terms, ANSWERS_SCHEMA, [ANSWERS_PART]);
      else await requireTables(session, terms);
      const boss = new PgBoss({
        db: { executeSql: async (text, values) => ({ rows: await session.rows(text, values ?? []) }) },
        schema: QUEUE_SCHEMA,
        ...{ schedule: false, supervise: false, migrate: makesTables },
        ...{ archiveCompletedAfterSeconds: KEEP_SECONDS, deleteAfterSeconds: KEEP_SECONDS },
      });
      // Whatever fails is thrown by the call as well.
      boss.on("error", () => undefined);
      await boss.start();
      if (makesTables) for (const queue of QUEUES) await boss.createQueue(queue);
      await session.listen(listen.channel, (job) => listen.onNews(job));
      const [row] = await session.rows<{ login: string }>("SELECT session_user::text AS login");
      return { session, boss, login: row?.login ?? "" };
    } catch (error) {
      session.destroy();
      throw error;
    }
  }
}

/** @throws BaseError QUEUE_MISSING (retryable) */
async function requireTables(session: PostgresSession, { name }: DatabaseTerms): Promise<void> {
  const [row] = await session.rows<{ there: boolean }>(
    "SELECT to_regclass($1) IS NOT NULL AND to_regclass($2) IS NOT NULL AS there",
    [`${ANSWERS_SCHEMA}.answers`, `${QUEUE_SCHEMA}.version`],
  );
  if (row?.there === true) return;
  throw new BaseError({
    code: "QUEUE_MISSING",
    shortMessage: `PostgreSQL at ${name} has no queue for workers, or this login may not see it.`,
    nextStep:
      "Start a prover or challenger with --workers on this database, and grant the worker's login its rights.",
    retryable: true,
  });
}

/** Channels are identifiers of this program's own. */
export const noticeOf = (channel: typeof ORDERED | typeof ANSWERED): string =>
  `SELECT pg_notify('${channel}', $1)`;
