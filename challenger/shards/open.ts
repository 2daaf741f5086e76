/** The database by which challengers divide the checks. */
import { fileURLToPath } from "node:url";
import type { GameAddress } from "../../protocol/rules/ids.ts";
import type { SchemaPart } from "../../protocol/service/journal/database.ts";
import type { DatabaseTerms } from "../../protocol/service/postgres/terms.ts";
import type { ShardSession } from "./shards.ts";

export const SHARDS_SCHEMA: SchemaPart = {
  name: "shards",
  folder: fileURLToPath(new URL("migrations", import.meta.url)),
};

/** @throws BaseError as PostgresSession and enterNamedSchema do */
export async function openShardSession(
  database: DatabaseTerms,
  { chainId, assay }: GameAddress,
): Promise<ShardSession> {
  const { PostgresSession } = await import("../../protocol/service/postgres/session.ts");
  const { enterNamedSchema, schemaNameOf } = await import("../../protocol/service/postgres/schema.ts");
  const session = await PostgresSession.open(database, () => undefined);
  try {
    await enterNamedSchema(session, database, schemaNameOf({ chainId, account: assay }), [SHARDS_SCHEMA]);
  } catch (error) {
    session.destroy();
    throw error;
  }
  return {
    rows: (sql, parameters) => session.rows(sql, parameters),
    destroy: () => session.destroy(),
  };
}
