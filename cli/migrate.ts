/** `assay migrate`: a daemon's data from one kind of store to another. */
import type { Command } from "commander";
import { DATABASE_SETTINGS } from "../protocol/service/config.ts";
import { chainConfig, withChain, withSettings } from "./chain.ts";
import { configuredDatabase } from "./database-options.ts";
import { printProgress, printResult, refuseArgument, withJson } from "./output.ts";

export function addMigrateCommand(program: Command): void {
  const migrate = program.command("migrate").description("bring a daemon's data into another store");
  const command = migrate
    .command("sqlite-to-postgres")
    .description("bring the journal of a stopped daemon's data folder into PostgreSQL, and compare the two");
  withJson(withSettings(withChain(command), DATABASE_SETTINGS)).action(
    async (_options: object, self: Command) => {
      const { data } = chainConfig(self);
      const database = configuredDatabase(self);
      if (database === undefined)
        refuseArgument("--database", undefined, "postgres://USER@HOST:PORT/DATABASE");
      const { migrateJournal } = await import("../protocol/service/journal/migrate.ts");
      const { BREAKER_SCHEMA } = await import("../challenger/circuit-breaker.ts");
      printProgress(`bringing the journal of ${data} to ${database.name}`);
      const { owner, rows, digest } = await migrateJournal(data, database, [BREAKER_SCHEMA]);
      const { actions, transactions, notes } = rows;
      printResult(self, { database: database.name, owner, rows, digest }, [
        `${actions} actions, ${transactions} transactions and ${notes} notes of ${owner.account} are in ${database.name} as in ${data}`,
        `SHA-256 of both: ${digest}`,
      ]);
    },
  );
}
