/** The journal in the folder as a copy of a shared one: what it lacks, what it has that the other lacks. */
import type { SignerState } from "../postgres/signer-lock.ts";
import type { SqliteDatabase } from "./database.ts";
import type { ActionRow, TransactionRow } from "./journal.ts";
import type { NoteRow } from "./notes.ts";
import { countRows, type JournalRows, type Query, RowQueries, TABLES } from "./rows.ts";

const isLive = ({ state }: Pick<ActionRow, "state">): boolean =>
  state === "signed" || state === "mined" || state === "done";

/** A state of the shared journal. */
export type Held = Pick<SignerState, "identity" | "revision">;

export class Mirror {
  readonly #db: SqliteDatabase;
  readonly #queries = new RowQueries("sqlite");

  /** @param db opened with MIRROR_SCHEMA, that of the LocalJournal */
  constructor(db: SqliteDatabase) {
    this.#db = db;
  }

  /** Whose change it has last, and which; undefined if it is no copy yet. */
  get held(): Held | undefined {
    return this.#db.prepare<[], Held>("SELECT identity, revision FROM mirror").get();
  }

  /** Makes it a copy of a journal with which it has the changes up to a revision in common. */
  follow({ identity, revision }: Held): void {
    this.#atOnce(() => {
      // A row that was read with newer changes than those it was asked for is not lost.
      const isLoss = revision < (this.held?.revision ?? Number.POSITIVE_INFINITY);
      for (const table of isLoss ? TABLES : [])
        this.#db.prepare(`UPDATE ${table} SET revision = NULL WHERE revision > ?`).run(revision);
      this.#db
        .prepare(
          `INSERT INTO mirror VALUES (1, ?, ?)
           ON CONFLICT DO UPDATE SET identity = excluded.identity, revision = excluded.revision`,
        )
        .run(identity, revision);
    });
  }

  /** What is not in the shared journal. */
  unshared(): JournalRows {
    const { actions, transactions, notes } = this.#queries.unshared();
    return {
      actions: this.#all<ActionRow>(actions),
      transactions: this.#all<TransactionRow>(transactions),
      notes: this.#all<NoteRow>(notes),
    };
  }

  /** How many rows that is. */
  get unsharedCount(): number {
    return countRows(this.unshared());
  }

  /** Keys of actions that are not in the shared journal as they are here. */
  unsharedKeys(): Set<string> {
    return new Set(
      this.#db
        .prepare<[], { key: string }>("SELECT key FROM actions WHERE revision IS NULL")
        .all()
        .map(({ key }) => key),
    );
  }

  /** What would be unshared after a change, which is not made. */
  unsharedAfter(change: () => void): JournalRows {
    const undo = new Error("undo");
    let rows: JournalRows | undefined;
    try {
      this.#atOnce(() => {
        change();
        rows = this.unshared();
        throw undo;
      });
    } catch (error) {
      if (error !== undo) throw error;
    }
    return rows as JournalRows;
  }

  /** Makes a change after which the rows that it leaves are in the shared journal, as of that revision.
   *  @param notes that were written there; others may have come since, while nobody changes what is left */
  share(change: () => void, { notes }: Pick<JournalRows, "notes">, revision: number, fence: number): void {
    this.#atOnce(() => {
      change();
      for (const table of ["actions", "transactions"])
        this.#db
          .prepare(`UPDATE ${table} SET revision = ?, fence = ? WHERE revision IS NULL`)
          .run(revision, fence);
      const share = this.#db.prepare(
        "UPDATE notes SET revision = ?, fence = ? WHERE key = ? AND at_ms = ? AND body IS ?",
      );
      for (const { key, at_ms: atMs, body } of notes) share.run(revision, fence, key, atMs, body);
      this.#db.prepare("UPDATE mirror SET revision = ?").run(revision);
    });
  }

  /** Takes rows of the shared journal. An action that is under way here and ended there stays as it is here; of two that
   *  hold one nonce, the other's counts: the chain decides which of them is mined, and what was displaced is asked for
   *  again. Of two notes the later one counts. */
  take({ actions, transactions, notes }: JournalRows, revision: number, fence: number): void {
    this.#atOnce(() => {
      const unshared = this.unshared();
      const local = new Map(unshared.actions.map((row) => [row.key, row] as const));
      const localNotes = new Map(unshared.notes.map((row) => [row.key, row.at_ms] as const));
      const takenNotes = notes.filter(({ key, at_ms: atMs }) => atMs >= (localNotes.get(key) ?? atMs));
      const taken = actions.filter((row) => {
        const own = local.get(row.key);
        return own === undefined || !isLive(own) || isLive(row);
      });
      const release = this.#db.prepare(
        "UPDATE actions SET state = 'displaced' WHERE nonce = ? AND key <> ? AND state <> 'displaced'",
      );
      for (const row of taken) if (row.state !== "displaced") release.run(row.nonce, row.key);
      // An action that is left out may have transactions that are not.
      const known = new Set([...taken.map(({ key }) => key), ...local.keys()]);
      const held = transactions.filter(({ key }) => known.has(key) || this.#has(key));
      const rows = { actions: taken, transactions: held, notes: takenNotes };
      this.#runAll(this.#queries.write(rows, fence));
      this.#db.prepare("UPDATE mirror SET revision = ?").run(revision);
    });
  }

  #has(key: string): boolean {
    return this.#db.prepare("SELECT 1 FROM actions WHERE key = ?").get(key) !== undefined;
  }

  #all<Row>({ sql, parameters }: Query): Row[] {
    return this.#db.prepare<unknown[], Row>(sql).all(...parameters);
  }

  #runAll(queries: readonly Query[]): void {
    for (const { sql, parameters } of queries) this.#db.prepare(sql).run(...parameters);
  }

  #atOnce(work: () => void): void {
    this.#db.transaction(work).immediate();
  }
}
