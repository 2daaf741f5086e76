/** The schema of one signer: the tables that its data folder has, made by the same migrations. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { JOURNAL_SCHEMA, migrationsOf, requireKnown, type SchemaPart } from "../journal/database.ts";
import { type JournalOwner, requireSameOwner } from "../journal/journal.ts";
import type { PostgresSession } from "./session.ts";
import type { DatabaseTerms } from "./terms.ts";

const PARTS: readonly SchemaPart[] = [
  JOURNAL_SCHEMA,
  { name: "signer", folder: fileURLToPath(new URL("migrations", import.meta.url)) },
];

/** Migrations are written in SQLite's SQL, of which these are the words that PostgreSQL does not know. */
export const toPostgres = (sql: string): string =>
  sql
    .replace(/\)\s*(STRICT\b|WITHOUT ROWID\b|,\s*)+;/g, ");")
    .replace(/\bCOLLATE BINARY\b/g, 'COLLATE "C"')
    .replace(/\bINTEGER\b/g, "BIGINT")
    .replace(/\bBLOB\b/g, "BYTEA");

/** A nonce belongs to a key on a chain, whatever contracts it is used with. */
export const schemaNameOf = ({ chainId, account }: Pick<JournalOwner, "chainId" | "account">): string =>
  `assay_${chainId}_${account.toLowerCase().slice(2)}`;

/** In the transaction that enters a schema. */
type Enter = <Row extends Record<string, unknown>>(
  sql: string,
  parameters?: readonly unknown[],
) => Promise<Row[]>;

/** Makes the schema the session's, creates it if it is not there, and brings it up to date.
 *  @param then in the same transaction
 *  @throws BaseError DATABASE_NEWER, and as PostgresSession does; what `then` throws */
export async function enterNamedSchema(
  session: PostgresSession,
  { name }: DatabaseTerms,
  schema: string,
  parts: readonly SchemaPart[],
  then: (query: Enter) => Promise<void> = async () => undefined,
): Promise<void> {
  await session.transaction(async (run) => {
    const query: Enter = (sql, parameters = []) => run({ sql, parameters });
    // Two that begin at once would both create it.
    await query("SELECT pg_advisory_xact_lock(hashtext($1))", [schema]);
    await query(`SET search_path TO ${schema}`);
    const [present] = await query("SELECT FROM pg_namespace WHERE nspname = $1", [schema]);
    if (present === undefined) await query(`CREATE SCHEMA ${schema}`);
    await query(
      "CREATE TABLE IF NOT EXISTS migrations (part TEXT, number BIGINT, name TEXT NOT NULL, PRIMARY KEY (part, number))",
    );
    for (const part of parts) {
      const [newest] = await query<{ number: number }>(
        "SELECT coalesce(max(number), 0) AS number FROM migrations WHERE part = $1",
        [part.name],
      );
      const files = migrationsOf(part);
      const done = newest?.number ?? 0;
      requireKnown(`${name}, schema ${schema}`, part, done, files.length);
      for (const [index, file] of files.entries()) {
        if (index < done) continue;
        await query(toPostgres(readFileSync(join(part.folder, file), "utf8")));
        await query("INSERT INTO migrations VALUES ($1, $2, $3)", [part.name, index + 1, file]);
      }
    }
    await then(query);
  });
}

/** Enters the schema of a signer.
 *  @throws BaseError JOURNAL_OWNER_MISMATCH, and as enterNamedSchema does */
export async function enterSchema(
  session: PostgresSession,
  terms: DatabaseTerms,
  owner: JournalOwner,
): Promise<void> {
  const schema = schemaNameOf(owner);
  await enterNamedSchema(session, terms, schema, PARTS, async (query) => {
    const { chainId, assay, blockHash, account } = owner;
    await query("INSERT INTO owner VALUES (1, $1, $2, $3, $4) ON CONFLICT DO NOTHING", [
      chainId,
      assay,
      blockHash,
      account,
    ]);
    const [held] = await query<JournalOwner & Record<string, unknown>>(
      'SELECT chain_id AS "chainId", assay, block_hash AS "blockHash", account FROM owner',
    );
    if (held !== undefined) requireSameOwner(held, owner, `schema ${schema} of ${terms.name}`);
  });
}
