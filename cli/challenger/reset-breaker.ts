/** `assay challenger reset-breaker`: a person has looked, and tickets may be filed again. */
import { join } from "node:path";
import type { Command } from "commander";
import { BREAKER_SCHEMA, reset, type Tripped } from "../../challenger/circuit-breaker.ts";
import { JOURNAL_SCHEMA, lockFolder, openDatabase } from "../../protocol/service/journal/database.ts";
import { Notes } from "../../protocol/service/journal/notes.ts";
import { chainConfig, withChain } from "../chain.ts";
import { printResult, withJson } from "../output.ts";
import { orByDaemon } from "../withdraw.ts";

export function addResetBreakerCommand(challenger: Command): void {
  const command = challenger
    .command("reset-breaker")
    .description("file tickets again after the challenger stopped itself; a running one does it at once");
  withJson(withChain(command)).action(async (_options: object, self: Command) => {
    const config = chainConfig(self);
    const result = await orByDaemon(config, "resetBreaker", {}, async () => resetIn(config.data));
    printResult(self, result, [`Tickets are filed again; they were not because ${result.reason}.`]);
  });
}

/** @throws BaseError DATA_FOLDER_BUSY, NOT_TRIPPED */
function resetIn(data: string): Tripped {
  const lock = lockFolder(data);
  try {
    const db = openDatabase(join(data, "assay.sqlite"), [JOURNAL_SCHEMA, BREAKER_SCHEMA]);
    try {
      return reset(new Notes(db), Date.now());
    } finally {
      db.close();
    }
  } finally {
    lock.release();
  }
}
