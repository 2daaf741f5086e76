/** Brings the journal of a folder into PostgreSQL, and shows that it is all there. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { BaseError } from "../../../base/errors.ts";
import { SILENT } from "../../../base/log.ts";
import { pause } from "../../chain/follower.ts";
import { enterSchema } from "../postgres/schema.ts";
import { PostgresSession } from "../postgres/session.ts";
import type { DatabaseTerms } from "../postgres/terms.ts";
import {
  JOURNAL_SCHEMA,
  lockFolder,
  MIRROR_SCHEMA,
  openDatabase,
  type SchemaPart,
  type SqliteDatabase,
} from "./database.ts";
import { type JournalOwner, LocalJournal } from "./journal.ts";
import { type JournalRows, RowQueries, rowsOf, TABLES } from "./rows.ts";
import { SharedJournal } from "./shared-journal.ts";

export interface Migrated {
  readonly owner: JournalOwner;
  /** rows of both, by table */
  readonly rows: Readonly<Record<(typeof TABLES)[number], number>>;
  /** SHA-256 over the rows of both, as hex */
  readonly digest: string;
}

/** How long another daemon of the key may take to leave its place, ms. */
const PATIENCE_MS = 60_000;
const LOOK_MS = 100;
/** Every row has a later revision. */
const BEFORE_ALL = -1;

/** The folder is a copy of the shared journal from then on. Repeating it changes nothing, and compares again.
 *  @param folder of a daemon that does not run
 *  @param parts that once kept in tables of their own what are notes now: they are brought up to date first, where the
 *  folder has them
 *  @throws BaseError JOURNAL_MISSING, DATA_FOLDER_BUSY, NOT_SIGNER (retryable), MIGRATION_DIFFERS, and as openDatabase and
 *  PostgresSession do */
export async function migrateJournal(
  folder: string,
  database: DatabaseTerms,
  parts: readonly SchemaPart[] = [],
): Promise<Migrated> {
  const path = join(folder, "assay.sqlite");
  if (!existsSync(path)) throw missing(path);
  const lock = lockFolder(folder);
  let db: SqliteDatabase | undefined;
  let session: PostgresSession | undefined;
  try {
    db = openDatabase(path, [JOURNAL_SCHEMA, MIRROR_SCHEMA]);
    const held = partsIn(db, parts);
    db.close();
    db = openDatabase(path, held);
    const owner = ownerIn(db, path);
    session = await PostgresSession.open(database, () => undefined);
    await enterSchema(session, database, owner);
    return await share(db, owner, database, session);
  } finally {
    session?.destroy();
    db?.close();
    lock.release();
  }
}

const partsIn = (db: SqliteDatabase, parts: readonly SchemaPart[]): SchemaPart[] =>
  parts.filter(({ name }) => db.prepare("SELECT 1 FROM migrations WHERE part = ?").get(name) !== undefined);

function ownerIn(db: SqliteDatabase, path: string): JournalOwner {
  const owner = db
    .prepare<[], JournalOwner>(
      "SELECT chain_id AS chainId, assay, block_hash AS blockHash, account FROM owner",
    )
    .get();
  if (owner === undefined) throw missing(path);
  return owner;
}

async function share(
  db: SqliteDatabase,
  owner: JournalOwner,
  database: DatabaseTerms,
  session: PostgresSession,
): Promise<Migrated> {
  const local = new LocalJournal(db, owner);
  // It signs nothing, so no answer has a time.
  const journal = new SharedJournal({ db, owner, local, database, answerSeconds: 0, log: SILENT });
  try {
    journal.start();
    await untilSigner(journal, owner, database);
    // While it is the signer nobody else writes there.
    const there = await session.transaction((run) =>
      rowsOf(new RowQueries("postgres").since(BEFORE_ALL), run),
    );
    const here = await rowsOf(new RowQueries("sqlite").since(BEFORE_ALL), async ({ sql, parameters }) =>
      db.prepare<unknown[], never>(sql).all(...parameters),
    );
    const [digest, digestThere] = [digestOf(here), digestOf(there)];
    if (digest !== digestThere || journal.unshared > 0) throw differs(here, there, database);
    const { actions, transactions, notes } = here;
    const rows = { actions: actions.length, transactions: transactions.length, notes: notes.length };
    return { owner, rows, digest };
  } finally {
    await journal.stop();
  }
}

async function untilSigner(
  journal: SharedJournal,
  { account }: JournalOwner,
  database: DatabaseTerms,
): Promise<void> {
  const { signal } = new AbortController();
  for (let waited = 0; !journal.leads; waited += LOOK_MS) {
    if (waited >= PATIENCE_MS)
      throw new BaseError({
        code: "NOT_SIGNER",
        shortMessage: `Another daemon signs with ${account} in ${database.name}, and did not leave its place for ${PATIENCE_MS / 1_000} s.`,
        nextStep: "Stop the daemons of the key, and repeat this.",
        retryable: true,
      });
    await pause(LOOK_MS, signal);
  }
}

/** Over what a row means, without where and when it was shared. */
function digestOf(rows: JournalRows): string {
  const hash = createHash("sha256");
  for (const table of TABLES) {
    const lines = rows[table].map((row) => {
      const { revision, fence, ...meaning } = row;
      const entries = Object.entries(meaning).map(([name, value]) => [
        name,
        Buffer.isBuffer(value) ? value.toString("hex") : value,
      ]);
      return JSON.stringify(entries.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
    });
    hash.update(`${table} ${lines.length}\n${lines.sort().join("\n")}\n`);
  }
  return hash.digest("hex");
}

const countsOf = (rows: JournalRows): string =>
  TABLES.map((table) => `${rows[table].length} ${table}`).join(", ");

const missing = (path: string) =>
  new BaseError({
    code: "JOURNAL_MISSING",
    shortMessage: `There is no journal in ${path}.`,
    nextStep:
      "Name the data folder of a prover or challenger (--data, ASSAY_DATA); a daemon that has none yet needs only --database.",
  });

const differs = (here: JournalRows, there: JournalRows, { name }: DatabaseTerms) =>
  new BaseError({
    code: "MIGRATION_DIFFERS",
    shortMessage: `The folder has ${countsOf(here)}, PostgreSQL at ${name} has ${countsOf(there)}, and they are not the same.`,
    nextStep:
      "Somebody else wrote to the schema. Start no daemon; drop the schema of the key, restore the folder from before, and repeat this.",
  });
