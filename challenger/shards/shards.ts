/** Divides the checks of claims between challengers with different keys, by a database that they share.
 *
 *  Each says there that it lives, and which claims it found right. What a challenger that seems to live has not found right
 *  after a quarter of the window, every other one checks; without the database each checks everything. */
import { hostname } from "node:os";
import type { Address } from "viem";
import { isBaseError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { ClaimEntry } from "../../protocol/chain/claim-index.ts";
import { pause } from "../../protocol/chain/follower.ts";
import type { ClaimId } from "../../protocol/rules/types.ts";
import type { Rows } from "../../protocol/service/postgres/session.ts";
import { firstOf } from "./assign.ts";

/** A session with the deployment's schema of challengers. */
export interface ShardSession {
  rows: Rows;
  destroy(): void;
}

export interface ShardsParts {
  readonly own: Address;
  readonly open: () => Promise<ShardSession>;
  /** whether this daemon signs with its key, and so speaks for it */
  readonly leads: () => boolean;
  readonly log: Logger;
  /** between two signs of life, ms; default 1,000 */
  readonly beatMs?: number;
}

/** After which a challenger that is not heard of has no claims any more. */
const SILENT_MS = 5_000;
/** Claims that are asked for, and found right, in one statement. */
const AT_ONCE = 5_000;
/** Claims whose record waits for the database: older ones are dropped, and are everybody's after a quarter of their window,
 *  as all are while the database is gone. */
const MAX_UNWRITTEN = 50_000;
const KEPT_SECONDS = 86_400;
/** Beats between two looks for records that are not needed any more. */
const TIDY_EVERY = 600;

export class Shards {
  readonly #parts: ShardsParts;
  /** Unknown: this one alone. */
  #accounts: readonly Address[];
  readonly #first = new Map<ClaimId, boolean>();
  /** Claims of others that are not found right yet. */
  readonly #waiting = new Set<ClaimId>();
  readonly #right = new Set<ClaimId>();
  /** Claims that this challenger found right, and the ends of their windows, until that is in the database. */
  readonly #unwritten = new Map<ClaimId, number>();
  /** Of those, how many were dropped since the database was gone. */
  #dropped = 0;
  #faultMessage: string | undefined;
  #beats = 0;

  constructor(parts: ShardsParts) {
    this.#parts = parts;
    this.#accounts = [parts.own];
  }

  /** Challengers that divide the claims, this one included; 1 without the database. */
  get size(): number {
    return this.#accounts.length;
  }

  /** Claims that are left to others for now. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Whether this challenger checks the claim first. */
  isOwn(id: ClaimId): boolean {
    let isOwn = this.#first.get(id);
    if (isOwn === undefined) {
      isOwn = firstOf(this.#accounts, id) === this.#parts.own;
      this.#first.set(id, isOwn);
    }
    return isOwn;
  }

  /** Leaves a claim to whose it is for now.
   *  @returns true once that one has found it right */
  leave(id: ClaimId): boolean {
    if (this.#right.has(id)) return true;
    this.#waiting.add(id);
    return false;
  }

  /** The claim is checked, or over, or not there any more. */
  forget(id: ClaimId): void {
    this.#first.delete(id);
    this.#waiting.delete(id);
    this.#right.delete(id);
  }

  /** Tells the others. */
  foundRight({ id, windowEnd }: Pick<ClaimEntry, "id" | "windowEnd">): void {
    this.#unwritten.set(id, windowEnd);
    if (this.#unwritten.size <= MAX_UNWRITTEN) return;
    const [oldest] = this.#unwritten.keys();
    this.#unwritten.delete(oldest as ClaimId);
    if (this.#dropped++ > 0) return;
    const facts = { limit: MAX_UNWRITTEN };
    this.#parts.log.warn(
      facts,
      "too many checked claims wait for the database: of the oldest the others are told nothing, and check them too",
    );
  }

  /** Until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    let session: ShardSession | undefined;
    while (!signal.aborted) {
      try {
        session ??= await this.#parts.open();
        await this.#beat(session.rows);
      } catch (error) {
        session?.destroy();
        session = undefined;
        this.#alone(error);
      }
      await pause(this.#parts.beatMs ?? 1_000, signal);
    }
    session?.destroy();
  }

  async #beat(rows: Rows): Promise<void> {
    const { own, leads } = this.#parts;
    if (leads())
      await rows(
        `INSERT INTO challengers VALUES ($1, $2, clock_timestamp())
         ON CONFLICT (account) DO UPDATE SET host = excluded.host, beat = excluded.beat`,
        [own, hostname()],
      );
    await this.#write(rows);
    const alive = await rows<{ account: Address }>(
      "SELECT account FROM challengers WHERE beat > clock_timestamp() - $1 * interval '1 millisecond' ORDER BY account",
      [SILENT_MS],
    );
    // A standby's key is alive while its signer is, and it checks what that one checks.
    const accounts = new Set(alive.map(({ account }) => account)).add(own);
    this.#become([...accounts].sort());
    const asked = [...this.#waiting].slice(0, AT_ONCE);
    const right = await rows<{ claim_id: ClaimId }>(
      "SELECT claim_id FROM right_claims WHERE claim_id = ANY($1)",
      [asked],
    );
    for (const { claim_id: id } of right) if (this.#waiting.delete(id)) this.#right.add(id);
    // Others than those are asked for next time.
    for (const id of asked) if (this.#waiting.delete(id)) this.#waiting.add(id);
    if (this.#beats++ % TIDY_EVERY === 0)
      await rows("DELETE FROM right_claims WHERE window_end < extract(epoch FROM clock_timestamp()) - $1", [
        KEPT_SECONDS,
      ]);
  }

  async #write(rows: Rows): Promise<void> {
    const found = [...this.#unwritten].slice(0, AT_ONCE);
    if (found.length === 0) return;
    await rows(
      `INSERT INTO right_claims SELECT id, $1, window_end FROM unnest($2::text[], $3::bigint[]) AS found (id, window_end)
       ON CONFLICT DO NOTHING`,
      [this.#parts.own, found.map(([id]) => id), found.map(([, end]) => end)],
    );
    for (const [id] of found) this.#unwritten.delete(id);
    if (this.#unwritten.size > 0 || this.#dropped === 0) return;
    this.#parts.log.info(
      { dropped: this.#dropped },
      "the checked claims are in the database, but for those that were dropped",
    );
    this.#dropped = 0;
  }

  #become(accounts: readonly Address[]): void {
    this.#faultMessage = undefined;
    if (accounts.join() === this.#accounts.join()) return;
    this.#accounts = accounts;
    this.#first.clear();
    this.#parts.log.info({ accounts }, "these challengers divide the checks of claims");
  }

  #alone(error: unknown): void {
    const reason = isBaseError(error) ? error.message : String(error);
    if (reason !== this.#faultMessage)
      this.#parts.log.error({ reason }, "the other challengers are not known: this one checks every claim");
    this.#faultMessage = reason;
    this.#accounts = [this.#parts.own];
    this.#first.clear();
  }
}
