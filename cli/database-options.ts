/** The database that several daemons of one key share. */
import type { Command } from "commander";
import { BaseError } from "../base/errors.ts";
import { DATABASE_SETTINGS, loadConfig } from "../protocol/service/config.ts";
import { type DatabaseTerms, databaseTerms, holdsPassword } from "../protocol/service/postgres/terms.ts";

/** @throws BaseError CONFIG_INVALID for a password where others can read it, and as loadConfig and databaseTerms do */
export function configuredDatabase(self: Command): DatabaseTerms | undefined {
  const { env } = process;
  const { database, databasePasswordFile } = loadConfig(DATABASE_SETTINGS, {
    flags: self.optsWithGlobals(),
    env,
  });
  if (database === undefined) return undefined;
  if (holdsPassword(database) && database !== env.ASSAY_DATABASE)
    throw new BaseError({
      code: "CONFIG_INVALID",
      shortMessage:
        "database holds a password: neither arguments nor a configuration file are a place for one.",
      nextStep: "Set ASSAY_DATABASE, or leave it out and set --database-password-file.",
    });
  return databaseTerms(database, databasePasswordFile);
}
