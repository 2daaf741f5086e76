/** `assay migrate sqlite-to-postgres` on a real server. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Hex, keccak256, toHex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BREAKER_SCHEMA } from "../../challenger/circuit-breaker.ts";
import {
  isMirror,
  JOURNAL_SCHEMA,
  lockFolder,
  migrationsOf,
  openDatabase,
} from "../../protocol/service/journal/database.ts";
import { type JournalOwner, LocalJournal } from "../../protocol/service/journal/journal.ts";
import { migrateJournal } from "../../protocol/service/journal/migrate.ts";
import { Notes } from "../../protocol/service/journal/notes.ts";
import { schemaNameOf } from "../../protocol/service/postgres/schema.ts";
import { databaseTerms } from "../../protocol/service/postgres/terms.ts";
import { runAssay } from "../support/assay.ts";
import { PASSWORD, type Postgres, startPostgres } from "../support/postgres.ts";
import { newOwner, openShared, SOON, sharedFolder } from "../support/shared-journal.ts";

/** More than one statement takes. */
const ACTIONS = 600;

let postgres: Postgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(async () => {
  await postgres?.stop();
  sharedFolder.remove();
});

/** A folder that a daemon had alone. */
function folderOf(name: string, owner: JournalOwner, count = ACTIONS): string {
  const folder = join(sharedFolder.path, name);
  mkdirSync(folder);
  const db = openDatabase(join(folder, "assay.sqlite"), [JOURNAL_SCHEMA]);
  const local = new LocalJournal(db, owner);
  db.transaction(() => {
    for (let nonce = 0; nonce < count; nonce++) {
      const text = `${name} ${nonce}`;
      const action = {
        key: text,
        to: `0x${"33".repeat(20)}` as Hex,
        data: toHex(text),
        value: 1n,
        doneBy: [],
      };
      const fees = { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n, signedAtMs: nonce };
      local.sign(action, nonce, 1n, { hash: keccak256(toHex(text)), raw: toHex(text), ...fees });
    }
  })();
  new Notes(db).put({ key: "tripped", atMs: 3, body: "why" });
  db.close();
  return folder;
}

const migrate = (folder: string, url = postgres.url) =>
  runAssay(["migrate", "sqlite-to-postgres", "--data", folder, "--json"], { ASSAY_DATABASE: url });
const codeOf = ({ stderr }: { stderr: string }) => JSON.parse(stderr.slice(stderr.indexOf("{"))).error.code;

describe("assay migrate sqlite-to-postgres", () => {
  test("default: all is there, as it was; repeating it changes nothing; the daemons go on from it", async () => {
    const owner = newOwner();
    const folder = folderOf("whole", owner);
    const first = await migrate(folder);
    expect(first).toMatchObject({ code: 0 });
    const report = JSON.parse(first.stdout);
    expect(report).toMatchObject({ owner, rows: { actions: ACTIONS, transactions: ACTIONS, notes: 1 } });
    expect(report.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.parse((await migrate(folder)).stdout)).toEqual(report);
    expect(first.stdout + first.stderr).not.toContain(PASSWORD);
    const standby = openShared(owner, postgres.url);
    await expect.poll(() => standby.journal.get(`whole ${ACTIONS - 1}`)?.nonce, SOON).toBe(ACTIONS - 1);
    expect(standby.notes.get("tripped")?.body).toBe("why");
    await standby.close();
  });

  test("behavior: a challenger that had stopped itself before there were notes is stopped there too", async () => {
    const owner = newOwner();
    const folder = folderOf("older", owner, 0);
    const db = openDatabase(join(folder, "assay.sqlite"), [JOURNAL_SCHEMA]);
    db.exec("DELETE FROM notes");
    const [first] = migrationsOf(BREAKER_SCHEMA) as [string];
    db.exec(readFileSync(join(BREAKER_SCHEMA.folder, first), "utf8"));
    db.prepare("INSERT INTO migrations VALUES (?, 1, ?)").run(BREAKER_SCHEMA.name, first);
    db.exec("INSERT INTO circuit_breaker VALUES (1, 'why', 3)");
    db.close();
    const { stdout } = await migrate(folder);
    expect(JSON.parse(stdout).rows).toEqual({ actions: 0, transactions: 0, notes: 1 });
    const standby = openShared(owner, postgres.url);
    await expect.poll(() => standby.notes.get("tripped")?.body, SOON).toBe("why");
    await standby.close();
  });

  test("error: a daemon uses the folder, there is no journal, or no server: the folder stays as it was", async () => {
    const owner = newOwner();
    const folder = folderOf("used", owner, 2);
    const lock = lockFolder(folder);
    expect(codeOf(await migrate(folder))).toBe("DATA_FOLDER_BUSY");
    lock.release();
    expect(codeOf(await migrate(join(sharedFolder.path, "none")))).toBe("JOURNAL_MISSING");
    expect(codeOf(await migrate(folder, "postgres://u@127.0.0.1:1/none"))).toBe("DATABASE_UNREACHABLE");
    const db = openDatabase(join(folder, "assay.sqlite"), [JOURNAL_SCHEMA]);
    expect(isMirror(db)).toBe(false);
    db.close();
  });

  test("error: somebody took a row out of the server, or changed one", async () => {
    const terms = databaseTerms(postgres.url, undefined);
    for (const change of ["DELETE FROM notes", "UPDATE transactions SET nonce = 9 WHERE nonce = 1"]) {
      const owner = newOwner();
      const folder = folderOf(`changed ${change.slice(0, 6)}`, owner, 2);
      const { rows } = await migrateJournal(folder, terms);
      expect(rows).toEqual({ actions: 2, transactions: 2, notes: 1 });
      const schema = schemaNameOf(owner);
      await postgres.query(`ALTER TABLE ${schema}.transactions DISABLE TRIGGER USER`);
      await postgres.query(`SET search_path TO ${schema}; ${change}`);
      await postgres.query(`ALTER TABLE ${schema}.transactions ENABLE TRIGGER USER`);
      await expect(migrateJournal(folder, terms)).rejects.toMatchObject({ code: "MIGRATION_DIFFERS" });
    }
  });
});
