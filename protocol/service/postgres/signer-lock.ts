/** Which of several daemons signs with a key: a lock of the session that ends with it, and a fencing number. */
import { createHash } from "node:crypto";
import { hostname } from "node:os";
import type { JournalOwner } from "../journal/journal.ts";
import type { PostgresSession } from "./session.ts";

/** After which a signer that is not heard of loses the lock, by the clock of the database. */
const SILENT_MS = 4_000;

/** What the schema says of its signer. */
export interface SignerState {
  /** of its time as the signer */
  readonly identity: string;
  readonly fence: number;
  readonly revision: number;
  readonly host: string;
  readonly isSilent: boolean;
  /** who asks for the signer's place */
  readonly successor: string | null;
}

const LOCK_OF = "((classid::bigint << 32) | objid::bigint)";

export class SignerLock {
  readonly #session: PostgresSession;
  readonly #key: string;

  constructor(session: PostgresSession, { chainId, account }: Pick<JournalOwner, "chainId" | "account">) {
    this.#session = session;
    const digest = createHash("sha256").update(`assay signer ${chainId} ${account.toLowerCase()}`).digest();
    this.#key = digest.readBigInt64BE(0).toString();
  }

  /** @returns true if the session holds the lock from now on, until it ends */
  async take(): Promise<boolean> {
    const [row] = await this.#session.rows<{ taken: boolean }>("SELECT pg_try_advisory_lock($1) AS taken", [
      this.#key,
    ]);
    return row?.taken === true;
  }

  /** Whoever holds the lock has a new number; writes with an older one are refused. */
  async raiseFence(): Promise<SignerState> {
    const [state] = await this.#session.rows<SignerState & Record<string, unknown>>(
      `WITH taken AS (
         UPDATE signer SET identity = gen_random_uuid(), fence = fence + 1, host = $1, beat = clock_timestamp(),
           successor = NULL
         RETURNING identity, fence, revision, host, successor
       ), kept AS (INSERT INTO signers SELECT identity, fence, revision FROM taken)
       SELECT *, false AS "isSilent" FROM taken`,
      [hostname()],
    );
    if (state === undefined) throw new Error("the table signer is empty");
    return state;
  }

  async state(): Promise<SignerState> {
    const [state] = await this.#session.rows<SignerState & Record<string, unknown>>(
      `SELECT identity, fence, revision, host, successor,
         clock_timestamp() - beat > $1 * interval '1 millisecond' AS "isSilent" FROM signer`,
      [SILENT_MS],
    );
    if (state === undefined) throw new Error("the table signer is empty");
    return state;
  }

  /** Says that the signer lives.
   *  @returns undefined if another has a newer number */
  async beat(fence: number): Promise<SignerState | undefined> {
    const [state] = await this.#session.rows<SignerState & Record<string, unknown>>(
      `UPDATE signer SET beat = clock_timestamp() WHERE fence = $1
       RETURNING identity, fence, revision, host, successor, false AS "isSilent"`,
      [fence],
    );
    return state;
  }

  /** The newest change that the journal still has in common with a copy: a server that was restored, or failed over, may
   *  have lost some before it took others.
   *  @returns 0 for a copy of another journal */
  async inCommon({ identity, revision }: Pick<SignerState, "identity" | "revision">): Promise<number> {
    const [row] = await this.#session.rows<{ revision: number }>(
      `SELECT least($2::bigint, min(later.revision)) AS revision
       FROM signers own JOIN signers later ON later.fence > own.fence WHERE own.identity = $1 HAVING count(*) > 0`,
      [identity, revision],
    );
    return row?.revision ?? 0;
  }

  /** Lets another have it. */
  async release(): Promise<void> {
    await this.#session.rows("SELECT pg_advisory_unlock($1)", [this.#key]);
  }

  /** Asks the signer for its place. */
  async ask(who: string): Promise<void> {
    await this.#session.rows("UPDATE signer SET successor = $1", [who]);
  }

  /** Ends the sessions that hold the lock: a process that hangs, or whose host is cut off, would hold it for hours. */
  async expel(): Promise<void> {
    await this.#session.rows(
      `SELECT pg_terminate_backend(pid) FROM pg_locks
       WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND pid <> pg_backend_pid()
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
         AND ${LOCK_OF} = $1`,
      [this.#key],
    );
  }
}
