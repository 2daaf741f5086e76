/** Work in SQLite: wanted by the newest block, most urgent first, done once at a time. */
import { fileURLToPath } from "node:url";
import type { ClaimId, RequestId } from "../protocol/rules/types.ts";
import type { SchemaPart, SqliteDatabase } from "../protocol/service/journal/database.ts";

/** The table of jobs. */
export const JOBS_SCHEMA: SchemaPart = {
  name: "jobs",
  folder: fileURLToPath(new URL("store", import.meta.url)),
};

/** `due`: seconds; the last moment for an answer, else what orders the rest. */
export type Job =
  | { readonly kind: "commitTrace"; readonly subject: ClaimId; readonly due: number }
  | { readonly kind: "reveal"; readonly subject: ClaimId; readonly position: bigint; readonly due: number }
  | { readonly kind: "finalize"; readonly subject: ClaimId; readonly due: number }
  /** answer a request, by a claim or by truth */
  | { readonly kind: "claim"; readonly subject: RequestId; readonly due: number }
  /** end a dispute about a claim of this prover by truth */
  | { readonly kind: "settle"; readonly subject: ClaimId; readonly due: number }
  /** end another's overdue claim that blocks a request */
  | { readonly kind: "end"; readonly subject: ClaimId; readonly due: number }
  | { readonly kind: "deliver"; readonly subject: RequestId; readonly due: number };
export type JobKind = Job["kind"];

/** A job that this process holds. */
export interface HeldJob {
  readonly id: number;
  readonly job: Job;
  /** tries since it was wanted, this one included */
  readonly attempt: number;
  /** why the last try did not do it */
  readonly reason: string | undefined;
}

interface Row {
  id: number;
  kind: JobKind;
  subject: string;
  position: string | null;
  due: number;
  attempt: number;
  reason: string | null;
}

/** An answer that is owed comes before anything else. */
const urgencyOf = ({ kind }: Job): number => (kind === "commitTrace" || kind === "reveal" ? 0 : 1);
const positionOf = (job: Job): string | null => (job.kind === "reveal" ? `${job.position}` : null);

export const jobKey = (job: Job): string =>
  job.kind === "reveal" ? `reveal:${job.subject}:${job.position}` : `${job.kind}:${job.subject}`;

export class JobStore {
  readonly #db: SqliteDatabase;
  readonly #owner: string;

  /** @param db opened with JOBS_SCHEMA; its folder is locked, so whatever is held there was held by a dead process
   *  @param owner this process */
  constructor(db: SqliteDatabase, owner: string) {
    this.#db = db;
    this.#owner = owner;
    db.prepare("UPDATE jobs SET locked_by = NULL, run_at_ms = 0 WHERE locked_by IS NOT NULL").run();
  }

  /** Makes the table what is wanted now: new jobs enter, those that nobody wants any more leave unless they run. */
  sync(wanted: readonly Job[]): void {
    const insert = this.#db.prepare(
      `INSERT INTO jobs (key, kind, subject, position, urgency, due, run_at_ms) VALUES (?, ?, ?, ?, ?, ?, 0)
       ON CONFLICT (key) DO UPDATE SET due = excluded.due`,
    );
    const keys = new Set(wanted.map(jobKey));
    const write = this.#db.transaction(() => {
      const held = this.#db
        .prepare<[], { id: number; key: string }>("SELECT id, key FROM jobs WHERE locked_by IS NULL")
        .all();
      for (const { id, key } of held) {
        if (!keys.has(key)) this.#db.prepare("DELETE FROM jobs WHERE id = ?").run(id);
      }
      for (const job of wanted) {
        insert.run(jobKey(job), job.kind, job.subject, positionOf(job), urgencyOf(job), Math.floor(job.due));
      }
    });
    write.immediate();
  }

  /** Takes the most urgent job that may run now.
   *  @param urgentOnly leave what can wait */
  take(nowMs: number, urgentOnly = false): HeldJob | undefined {
    const row = this.#db
      .prepare<[string, number, number], Row>(
        `UPDATE jobs SET locked_by = ?, attempt = attempt + 1 WHERE id = (
           SELECT id FROM jobs WHERE locked_by IS NULL AND run_at_ms <= ? AND urgency <= ?
           ORDER BY urgency, due, id LIMIT 1)
         RETURNING id, kind, subject, position, due, attempt, reason`,
      )
      .get(this.#owner, nowMs, urgentOnly ? 0 : 1);
    if (row === undefined) return undefined;
    const { id, attempt, reason } = row;
    return { id, attempt, reason: reason ?? undefined, job: toJob(row) };
  }

  /** Removes a job that is done.
   *  @returns false if this process does not hold it any more */
  finish({ id, attempt }: HeldJob): boolean {
    return (
      this.#db
        .prepare("DELETE FROM jobs WHERE id = ? AND locked_by = ? AND attempt = ?")
        .run(id, this.#owner, attempt).changes === 1
    );
  }

  /** Lets go of a job until then.
   *  @param reason why it is not done
   *  @returns false if this process does not hold it any more */
  postpone({ id, attempt }: Pick<HeldJob, "id" | "attempt">, runAtMs: number, reason: string): boolean {
    return (
      this.#db
        .prepare(
          "UPDATE jobs SET locked_by = NULL, run_at_ms = ?, reason = ? WHERE id = ? AND locked_by = ? AND attempt = ?",
        )
        .run(Math.floor(runAtMs), reason, id, this.#owner, attempt).changes === 1
    );
  }

  /** Jobs by kind, running and waiting. */
  counts(): Partial<Record<JobKind, number>> {
    const rows = this.#db
      .prepare<[], { kind: JobKind; count: number }>("SELECT kind, count(*) AS count FROM jobs GROUP BY kind")
      .all();
    return Object.fromEntries(rows.map(({ kind, count }) => [kind, count]));
  }
}

function toJob({ kind, subject, position, due }: Row): Job {
  if (kind === "reveal") return { kind, subject: subject as ClaimId, position: BigInt(position ?? 0), due };
  if (kind === "claim" || kind === "deliver") return { kind, subject: subject as RequestId, due };
  return { kind, subject: subject as ClaimId, due };
}
