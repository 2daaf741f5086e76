/** What a daemon reads of the tables of workers and answers, and removes from them and from the queue. */
import type { PostgresSession } from "../postgres/session.ts";
import type { Connected } from "./database.ts";
import { ANSWERS_SCHEMA, QUEUE_SCHEMA, QUEUES, type QueueName, SILENT_MS } from "./orders.ts";

/** Answers that are read at once, at most, one of each worker to each job. */
export const MOST_ROWS = 64;
/** Workers that are counted, at most; a login that is not the daemon's is one of them. */
const MOST_ALIVE = 10_000;

export interface AnswerRow extends Record<string, unknown> {
  readonly job: string;
  readonly login: string;
  readonly worker: string;
  readonly digest: string;
  readonly outcome: "made" | "failed";
  readonly content: Uint8Array;
}

/** A job that is over, and its queue. */
export interface OverJob {
  readonly job: string;
  readonly queue: QueueName;
}

/** Whose an answer is. A worker with the daemon's own login could write its journal as well, so its name is believed;
 *  any other login counts as one worker, whatever names it uses. */
export const identityOf = (own: string, login: string, worker: string): string =>
  login === own ? `${login}/${worker}` : login;

/** By which a row that was read is left out: one of each worker to each job counts, however many it writes. */
export const seenOf = (own: string, { job, login, worker }: AnswerRow): string =>
  `${job} ${login} ${login === own ? worker : ""}`;

/** @param seen as of `seenOf` */
export const readAnswers = (
  { session, login }: Connected,
  jobs: readonly string[],
  seen: readonly string[],
): Promise<AnswerRow[]> =>
  session.rows<AnswerRow>(
    `SELECT DISTINCT ON (job, login, name) job, login, worker, digest, outcome, content
     FROM ${ANSWERS_SCHEMA}.answers, LATERAL (SELECT CASE WHEN login = $3 THEN worker ELSE '' END) AS named (name)
     WHERE job = ANY($1) AND NOT job || ' ' || login || ' ' || name = ANY($2)
     ORDER BY job, login, name, made LIMIT ${MOST_ROWS}`,
    [jobs, seen, login],
  );

/** @returns identities of those that were heard of a short while ago */
export async function readAlive({ session, login: own }: Connected): Promise<string[]> {
  const rows = await session.rows<{ login: string; name: string }>(
    `SELECT DISTINCT login, CASE WHEN login = $1 THEN name ELSE '' END AS name FROM ${ANSWERS_SCHEMA}.workers
     WHERE seen > clock_timestamp() - ${SILENT_MS} * interval '1 millisecond'
       AND seen <= clock_timestamp()
     LIMIT ${MOST_ALIVE}`,
    [own],
  );
  return rows.map(({ login, name }) => identityOf(own, login, name));
}

/** Takes jobs and their answers away.
 *  @returns those that are there still: the queue gives a job back by putting its row in again, past a statement that
 *  deletes it meanwhile */
export async function removeJobs({ session, boss }: Connected, over: readonly OverJob[]): Promise<OverJob[]> {
  if (over.length === 0) return [];
  for (const queue of QUEUES) {
    const jobs = over.filter((one) => one.queue === queue).map(({ job }) => job);
    if (jobs.length > 0) await boss.deleteJob(queue, jobs);
  }
  const ids = over.map(({ job }) => job);
  await session.rows(`DELETE FROM ${ANSWERS_SCHEMA}.answers WHERE job = ANY($1)`, [ids]);
  const left = await session.rows<{ id: string }>(
    `SELECT id FROM ${QUEUE_SCHEMA}.job WHERE id = ANY($1::uuid[])`,
    [ids],
  );
  const there = new Set(left.map(({ id }) => id));
  return over.filter(({ job }) => there.has(job));
}

/** Removes what daemons left behind that died, and answers that came too late. */
export async function prune({ session, boss }: Connected): Promise<void> {
  await boss.maintain();
  await removeOld(session, "answers WHERE made < clock_timestamp() - interval '5 minutes'");
  await removeOld(
    session,
    "workers WHERE seen < clock_timestamp() - interval '1 hour' OR seen > clock_timestamp()",
  );
}

const removeOld = (session: PostgresSession, rows: string) =>
  session.rows(`DELETE FROM ${ANSWERS_SCHEMA}.${rows}`);
