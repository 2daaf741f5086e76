/** A journal that several daemons of one key share in PostgreSQL, of which one signs at a time.
 *
 *  Each has a copy in its folder, from which it reads. What the signer begins is committed in PostgreSQL before it is in
 *  the copy, and only then sent. While PostgreSQL is gone nothing new is begun; answers without which a bond is lost are
 *  journalled in the folder alone, sent, and written to PostgreSQL when it is back. Whatever two daemons send in such a
 *  time, a nonce is mined once, and the contract takes an answer once. */
import { randomUUID } from "node:crypto";
import { BaseError, isBaseError } from "../../../base/errors.ts";
import type { Logger } from "../../../base/log.ts";
import type { Action } from "../../chain/actions.ts";
import { pause } from "../../chain/follower.ts";
import type { ActionState, JournalEntry } from "../../chain/journal.ts";
import { enterSchema } from "../postgres/schema.ts";
import { PostgresSession } from "../postgres/session.ts";
import { SignerLock, type SignerState } from "../postgres/signer-lock.ts";
import type { DatabaseTerms } from "../postgres/terms.ts";
import type { SqliteDatabase } from "./database.ts";
import type { JournalOwner, LocalJournal } from "./journal.ts";
import { Mirror } from "./mirror.ts";
import { type JournalRows, RowQueries, rowsOf } from "./rows.ts";
import { FolderJournal } from "./transaction-journal.ts";

export interface SharedJournalParts {
  readonly database: DatabaseTerms;
  readonly owner: JournalOwner;
  readonly local: LocalJournal;
  /** the folder's, opened with MIRROR_SCHEMA */
  readonly db: SqliteDatabase;
  /** T of the deployment */
  readonly answerSeconds: number;
  readonly log: Logger;
  /** between two signs of life of the signer, and two looks of a standby, ms; default 1,000 */
  readonly beatMs?: number;
}

/** What a daemon is among those of its key. */
export type Role =
  /** signs */
  | "signer"
  /** another signs, or it is being found out */
  | "standby"
  /** PostgreSQL cannot be used */
  | "cut-off";

interface Connection {
  readonly session: PostgresSession;
  readonly lock: SignerLock;
}

const BEAT_MS = 1_000;
/** For which a signer that was asked for its place leaves it. */
const REST_BEATS = 3;
/** In which a session that is told to end does so; if not, the next look finds it. */
const EXPEL_MS = 100;
/** Of a change: a connection that was lost unnoticed is not the last word. */
const WRITE_TRIES = 2;

export class SharedJournal extends FolderJournal {
  readonly #parts: SharedJournalParts;
  readonly #mirror: Mirror;
  readonly #queries = new RowQueries("postgres");
  readonly #stopping = new AbortController();
  #connection: Connection | undefined;
  #role: Role = "standby";
  /** Of the last one that this process had. */
  #fence: number | undefined;
  /** Whether it signed when PostgreSQL went away: then most likely nobody else does. */
  #wasSigner = false;
  #signerHost = "";
  /** Until when it leaves its place to the one that asked for it, by the process's clock. */
  #restsUntilMs = 0;
  readonly #name = randomUUID();
  /** The role that the log has last. */
  #announced: Role | undefined;
  #fault: BaseError | undefined;
  #faultMessage: string | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #loop: Promise<void> | undefined;

  constructor(parts: SharedJournalParts) {
    super(parts.local);
    this.#parts = parts;
    this.#mirror = new Mirror(parts.db);
  }

  /** Connects, stays connected, and takes over when nobody signs. */
  start(): void {
    this.#loop ??= this.#run();
  }

  /** Lets another take over. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
    await this.#inTurn(async () => this.#connection?.session.destroy());
  }

  get role(): Role {
    return this.#role;
  }

  get leads(): boolean {
    return this.#role === "signer";
  }

  /** What only this folder knows: actions, their transactions, and notes. */
  get unshared(): number {
    return this.#mirror.unsharedCount;
  }

  refusal({ key, owed }: Action): BaseError | undefined {
    if (this.leads) return undefined;
    if (this.#role === "standby") return isStandby(key, this.#signerHost);
    // Whoever did not sign leaves it to the signer, which may live behind another wall, while there is time.
    const isUrgent = owed !== undefined && owed.secondsLeft <= this.#parts.answerSeconds / 2;
    if (owed !== undefined && (this.#wasSigner || isUrgent)) return undefined;
    return isCutOff(key, this.#fault);
  }

  /** Those of another signer are followed there. */
  override inState(state: ActionState): JournalEntry[] {
    return this.#followed(this.local.inState(state));
  }

  override unheld(): JournalEntry[] {
    return this.#followed(this.local.unheld());
  }

  #followed(entries: JournalEntry[]): JournalEntry[] {
    if (entries.length === 0 || this.#followsAll) return entries;
    const own = this.#mirror.unsharedKeys();
    return entries.filter(({ key }) => own.has(key));
  }

  protected write(key: string, change: () => void, begun?: Action): Promise<void> {
    return this.#inTurn(async () => {
      for (let tries = 0; tries < WRITE_TRIES && this.leads; tries++) {
        const rows = this.#mirror.unsharedAfter(change);
        const revision = await this.#push(rows).catch(() => this.#drop());
        if (revision !== undefined) {
          this.#mirror.share(change, rows, revision, this.#fence as number);
          return;
        }
        // Whether PostgreSQL is gone, or this process was taken for dead.
        await this.#poll();
      }
      const refusal = begun === undefined ? this.#refusalOfChange(key) : this.#refusalOf(begun);
      if (refusal !== undefined) throw refusal;
      change();
    });
  }

  /** Why an action is not begun in the folder alone. */
  #refusalOf(action: Action): BaseError | undefined {
    return (
      this.refusal(action) ?? (action.owed === undefined ? isCutOff(action.key, this.#fault) : undefined)
    );
  }

  /** What became of an action of another signer is written there. */
  #refusalOfChange(key: string): BaseError | undefined {
    if (this.#followsAll || this.#mirror.unsharedKeys().has(key)) return undefined;
    return isStandby(key, this.#signerHost);
  }

  get #beatMs(): number {
    return this.#parts.beatMs ?? BEAT_MS;
  }

  get #followsAll(): boolean {
    return this.leads || (this.#role === "cut-off" && this.#wasSigner);
  }

  /** @returns the revision that has the rows
   *  @throws BaseError as PostgresSession does, SIGNER_REPLACED */
  async #push(rows: JournalRows): Promise<number> {
    const { session } = this.#connection as Connection;
    const fence = this.#fence as number;
    return session.transaction(async (run) => {
      // Locks the row: a new signer waits for this to end, or ends it.
      const [signer] = await run<{ revision: number }>({
        sql: "UPDATE signer SET revision = revision + 1, beat = clock_timestamp() WHERE fence = $1 RETURNING revision",
        parameters: [fence],
      });
      if (signer === undefined) throw replaced();
      const { revision } = signer;
      const numbered = <Row extends object>(all: readonly Row[]) =>
        all.map((row) => ({ ...row, revision, fence }));
      const { actions, transactions, notes } = rows;
      const written = {
        actions: numbered(actions),
        transactions: numbered(transactions),
        notes: numbered(notes),
      };
      for (const query of this.#queries.write(written, fence)) await run(query);
      return revision;
    });
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      // Others need not wait while a server does not answer.
      const opened = this.#connection === undefined ? await this.#open() : undefined;
      await this.#inTurn(() => this.#poll(opened));
      await pause(this.#beatMs, signal);
    }
  }

  /** A connection, or why there is none. */
  async #open(): Promise<Connection | BaseError> {
    const { database, owner } = this.#parts;
    let session: PostgresSession | undefined;
    try {
      session = await PostgresSession.open(database, (over) => this.#ended(over));
      await enterSchema(session, database, owner);
      return { session, lock: new SignerLock(session, owner) };
    } catch (error) {
      session?.destroy();
      return error as BaseError;
    }
  }

  #ended(session: PostgresSession): void {
    if (this.#connection?.session === session) this.#drop();
  }

  /** Finds out who signs, takes over if nobody does, and brings both journals together. That PostgreSQL is gone is said
   *  only when a new connection fails: an old one may have been ended by a daemon that took over.
   *  @param opened a new connection, or why there is none; absent: it is made where it is needed */
  async #poll(opened?: Connection | BaseError): Promise<void> {
    const isOld = this.#connection !== undefined;
    try {
      return await this.#pollOnce(opened);
    } catch (error) {
      this.#drop();
      if (!isOld) return this.#cutOff(error);
    }
    await this.#pollOnce().catch((error: unknown) => {
      this.#drop();
      this.#cutOff(error);
    });
  }

  /** @throws what makes PostgreSQL, or the connection, unusable */
  async #pollOnce(opened?: Connection | BaseError): Promise<void> {
    if (this.#connection === undefined) {
      const connection = opened ?? (await this.#open());
      if (connection instanceof Error) throw connection;
      this.#connection = connection;
    } else if (opened !== undefined && !(opened instanceof Error)) opened.session.destroy();
    const { lock } = this.#connection;
    if (this.leads) {
      const state = await lock.beat(this.#fence as number);
      if (state === undefined) throw replaced();
      // A change that the folder could not take, on a full disk say.
      await this.#pull(state);
      // Notes are written without a change of the journal that would bring them along.
      await this.#shareRest(state.fence);
      return state.successor === null ? undefined : this.#handOver(state);
    }
    const isResting = performance.now() < this.#restsUntilMs;
    if (!isResting && (await lock.take())) return this.#takeOver(await lock.raiseFence());
    const state = await lock.state();
    await this.#pull(state);
    this.#become("standby", state);
    // What is in this folder alone, only a signer writes to PostgreSQL.
    if (!isResting && state.successor === null && this.unshared > 0) await lock.ask(this.#name);
    if (!state.isSilent) return;
    this.#parts.log.warn({ host: state.host }, "the daemon that signs is silent: its connection is ended");
    await lock.expel();
    await pause(EXPEL_MS, this.#stopping.signal);
    if (await lock.take()) await this.#takeOver(await lock.raiseFence());
  }

  async #handOver(state: SignerState): Promise<void> {
    await (this.#connection as Connection).lock.release();
    this.#restsUntilMs = performance.now() + REST_BEATS * this.#beatMs;
    this.#become("standby", state);
  }

  async #takeOver(state: SignerState): Promise<void> {
    this.#fence = state.fence;
    await this.#pull(state);
    await this.#shareRest(state.fence);
    this.#become("signer", state);
  }

  async #shareRest(fence: number): Promise<void> {
    if (this.unshared === 0) return;
    const rows = this.#mirror.unshared();
    const revision = await this.#push(rows);
    this.#mirror.share(() => undefined, rows, revision, fence);
  }

  async #pull({ identity, revision, fence }: SignerState): Promise<void> {
    const { session, lock } = this.#connection as Connection;
    const copy = this.#mirror.held;
    let held = copy?.revision ?? 0;
    if (copy?.identity !== identity || held > revision) {
      const isNewSigner = copy !== undefined && copy.identity !== identity;
      held = Math.min(isNewSigner ? await lock.inCommon(copy) : held, revision);
      this.#mirror.follow({ identity, revision: held });
    }
    if (held === revision) return;
    const queries = this.#queries.since(held);
    const rows = await session.transaction((run) => rowsOf(queries, run));
    this.#mirror.take(rows, revision, fence);
  }

  #become(role: Role, { fence, host }: SignerState): void {
    const { log, database } = this.#parts;
    if (this.#role === "cut-off") log.info({ database: database.name }, "PostgreSQL is back");
    if (role !== this.#announced) {
      if (role === "signer") log.info({ fence, unshared: this.unshared }, "this daemon signs with its key");
      else log.info({ fence, host }, "another daemon signs with this key; standing by");
    }
    this.#announced = role;
    this.#fault = undefined;
    this.#faultMessage = undefined;
    this.#wasSigner = role === "signer";
    this.#signerHost = host;
    this.#role = role;
  }

  /** Lets go of a connection that failed; what this daemon is now is found out next. */
  #drop(): undefined {
    this.#connection?.session.destroy();
    this.#connection = undefined;
    if (this.#role === "signer") this.#wasSigner = true;
    if (this.#role !== "cut-off") this.#role = "standby";
    return undefined;
  }

  #cutOff(error: unknown): void {
    const fault = isBaseError(error) ? error : undefined;
    const message = fault?.message ?? String(error);
    if (this.#role !== "cut-off" || message !== this.#faultMessage)
      this.#parts.log.error(
        { code: fault?.code, reason: message, wasSigner: this.#wasSigner },
        "PostgreSQL cannot be used: nothing new is begun, owed answers are journalled in the folder",
      );
    this.#role = "cut-off";
    this.#announced = undefined;
    this.#fault = fault;
    this.#faultMessage = message;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }
}

function isStandby(key: string, host: string): BaseError {
  return new BaseError({
    code: "NOT_SIGNER",
    shortMessage: `${key} is left to the daemon that signs with this key${host === "" ? "" : `, on ${host}`}.`,
    nextStep: "Ask there; this daemon takes over when that one is gone.",
    retryable: true,
  });
}

function isCutOff(key: string, fault: BaseError | undefined): BaseError {
  return new BaseError({
    code: "JOURNAL_CUT_OFF",
    shortMessage: `${key} is not begun while the shared journal cannot be written.${fault === undefined ? "" : ` ${fault.shortMessage}`}`,
    nextStep: "Look after PostgreSQL; this daemon goes on by itself when it is back.",
    retryable: true,
  });
}

function replaced(): BaseError {
  return new BaseError({
    code: "SIGNER_REPLACED",
    shortMessage: "Another daemon took over from this one, which was not heard of for too long.",
    nextStep: "Nothing: this daemon stands by from now on.",
    retryable: true,
  });
}
