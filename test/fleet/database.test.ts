/** What the database itself refuses, how a folder's journal enters it, and what messages hold. */

import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { type Hex, keccak256, toHex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SILENT } from "../../base/log.ts";
import { openShardSession } from "../../challenger/shards/open.ts";
import { Shards } from "../../challenger/shards/shards.ts";
import type { ClaimId } from "../../protocol/rules/types.ts";
import { JOURNAL_SCHEMA, MIRROR_SCHEMA, openDatabase } from "../../protocol/service/journal/database.ts";
import { type JournalOwner, LocalJournal } from "../../protocol/service/journal/journal.ts";
import { Notes } from "../../protocol/service/journal/notes.ts";
import { requireDatabase } from "../../protocol/service/postgres/require-database.ts";
import { enterSchema, schemaNameOf } from "../../protocol/service/postgres/schema.ts";
import { PostgresSession } from "../../protocol/service/postgres/session.ts";
import { SignerLock } from "../../protocol/service/postgres/signer-lock.ts";
import { databaseTerms } from "../../protocol/service/postgres/terms.ts";
import { PASSWORD, type Postgres, startPostgres } from "../support/postgres.ts";
import { newOwner, openShared, type Shared, SOON, sharedFolder } from "../support/shared-journal.ts";

let postgres: Postgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(async () => {
  await postgres?.stop();
  sharedFolder.remove();
});

const terms = () => databaseTerms(postgres.url, undefined);
const open = () => PostgresSession.open(terms(), () => undefined);
const leads = ({ journal }: Shared) => expect.poll(() => journal.leads, SOON).toBe(true);

const transactionOf = (text: string) => ({
  ...{ hash: keccak256(toHex(text)), raw: toHex(text) as Hex, signedAtMs: 5 },
  ...{ maxFeePerGas: 2n, maxPriorityFeePerGas: 1n },
});
const actionOf = (key: string) => ({
  key,
  to: `0x${"33".repeat(20)}` as Hex,
  data: "0x" as Hex,
  value: 1n,
  doneBy: [],
});

/** What a daemon wrote to its folder while it had no database. */
function withLocal(path: string, owner: JournalOwner, work: (local: LocalJournal) => void): void {
  const db = openDatabase(path, [JOURNAL_SCHEMA, MIRROR_SCHEMA]);
  work(new LocalJournal(db, owner));
  db.close();
}

const statesIn = async (owner: JournalOwner): Promise<string[]> => {
  const rows = await postgres.query<{ text: string }>(
    `SELECT concat_ws(' ', key, nonce, state) AS text FROM ${schemaNameOf(owner)}.actions ORDER BY key`,
  );
  return rows.map(({ text }) => text);
};

describe("the fence", () => {
  test("behavior: a row with an older number is refused by the database, and nothing of its transaction stays", async () => {
    const owner = newOwner();
    const shared = openShared(owner, postgres.url);
    await leads(shared);
    await shared.journal.sign(actionOf("a"), 0, 1n, transactionOf("a"));
    const session = await open();
    await enterSchema(session, terms(), owner);
    await session.rows("UPDATE signer SET fence = fence + 1");
    const schema = schemaNameOf(owner);
    for (const sql of [
      `INSERT INTO ${schema}.actions SELECT 'b', state, 1, target, data, value, gas, signed_at_ms, hash, block_number, block_hash, gas_used, gas_price, revert, revision, fence FROM ${schema}.actions`,
      `UPDATE ${schema}.actions SET state = 'displaced'`,
      `UPDATE ${schema}.transactions SET nonce = 7`,
    ])
      await expect(postgres.query(sql)).rejects.toMatchObject({ code: "AS001" });
    // The signer finds out, and takes the newer number before it writes again.
    await shared.journal.sign(actionOf("c"), 1, 1n, transactionOf("c"));
    const rows = await session.rows("SELECT key, fence FROM actions ORDER BY key");
    expect(rows).toEqual([
      { key: "a", fence: 1 },
      { key: "c", fence: 3 },
    ]);
    session.destroy();
    await shared.close();
  });

  test("behavior: one session has the lock; another gets it when that one is ended", async () => {
    const owner = newOwner();
    const [first, second] = [await open(), await open()];
    const [held, wanted] = [new SignerLock(first, owner), new SignerLock(second, owner)];
    expect(await held.take()).toBe(true);
    expect(await wanted.take()).toBe(false);
    expect(await new SignerLock(second, newOwner()).take()).toBe(true);
    await wanted.expel();
    await expect.poll(() => wanted.take(), SOON).toBe(true);
    await expect(first.rows("SELECT 1")).rejects.toMatchObject({ code: "DATABASE_UNREACHABLE" });
    expect(first.isOver).toBe(true);
    second.destroy();
  });
});

describe("SharedJournal", () => {
  test("behavior: a folder that had the journal alone brings it along, to a standby too", async () => {
    const owner = newOwner();
    const path = join(sharedFolder.path, "before.sqlite");
    const alone = openDatabase(path, [JOURNAL_SCHEMA]);
    new LocalJournal(alone, owner).sign(actionOf("old"), 4, 1n, transactionOf("old"));
    alone.close();
    const shared = openShared(owner, postgres.url, path);
    await leads(shared);
    expect(shared.journal.unshared).toBe(0);
    const standby = openShared(owner, postgres.url);
    await expect.poll(() => standby.journal.get("old"), SOON).toEqual(shared.journal.get("old"));
    expect(standby.journal.inState("signed")).toEqual([]);
    expect(standby.journal.refusal(actionOf("new"))).toMatchObject({ code: "NOT_SIGNER" });
    await Promise.all([shared.close(), standby.close()]);
  });

  test("behavior: of two actions with one nonce that of the signer counts, and the other's daemon gets the place to say so", async () => {
    const owner = newOwner();
    const signer = openShared(owner, postgres.url);
    await leads(signer);
    await signer.journal.sign(actionOf("x"), 0, 1n, transactionOf("x"));
    const path = join(sharedFolder.path, "cut-off.sqlite");
    withLocal(path, owner, (local) => local.sign(actionOf("y"), 0, 1n, transactionOf("y")));
    const cutOff = openShared(owner, postgres.url, path);
    await leads(cutOff);
    await expect.poll(() => signer.journal.leads, SOON).toBe(false);
    expect(await statesIn(owner)).toEqual(["x 0 signed", "y 0 displaced"]);
    expect(cutOff.journal.unshared).toBe(0);
    await Promise.all([signer.close(), cutOff.close()]);
  });

  test("behavior: an action whose nonce another took meanwhile gets there after it", async () => {
    const owner = newOwner();
    const path = join(sharedFolder.path, "moved.sqlite");
    const before = openShared(owner, postgres.url, path);
    await leads(before);
    const b = await before.journal.sign(actionOf("b"), 0, 1n, transactionOf("b"));
    await before.close();
    withLocal(path, owner, (local) => {
      local.markDisplaced(b);
      local.sign(actionOf("a"), 0, 1n, transactionOf("a"));
      local.sign(actionOf("b"), 1, 1n, transactionOf("b again"));
    });
    const after = openShared(owner, postgres.url, path);
    await leads(after);
    expect(await statesIn(owner)).toEqual(["a 0 signed", "b 1 signed"]);
    await after.close();
  });

  /** Takes from the server what came after a revision, as one has that was restored or failed over. */
  async function loseAfter(owner: JournalOwner, revision: string | undefined): Promise<void> {
    const schema = schemaNameOf(owner);
    await postgres.query(`DELETE FROM ${schema}.transactions WHERE revision > $1`, [revision]);
    await postgres.query(`DELETE FROM ${schema}.actions WHERE revision > $1`, [revision]);
    await postgres.query(`UPDATE ${schema}.signer SET revision = $1`, [revision]);
  }
  /** A daemon that stopped; the server lost what it signed last. */
  async function withLoss(owner: JournalOwner): Promise<Shared> {
    const first = openShared(owner, postgres.url);
    await leads(first);
    await first.journal.sign(actionOf("kept"), 0, 1n, transactionOf("kept"));
    const [before] = await postgres.query<{ revision: string }>(
      `SELECT revision FROM ${schemaNameOf(owner)}.signer`,
    );
    await first.journal.sign(actionOf("lost"), 1, 1n, transactionOf("lost"));
    await first.journal.stop();
    await loseAfter(owner, before?.revision);
    return first;
  }

  test("behavior: a server that lost its newest changes gets them again", async () => {
    const owner = newOwner();
    const again = (await withLoss(owner)).reopen();
    await leads(again);
    expect(await statesIn(owner)).toEqual(["kept 0 signed", "lost 1 signed"]);
    await again.close();
  });

  test("behavior: it gets them also where another daemon has signed since, and its copy gets what that one signed", async () => {
    const owner = newOwner();
    const first = await withLoss(owner);
    const other = openShared(owner, postgres.url);
    await leads(other);
    // As many changes as were lost, and the same nonce.
    await other.journal.sign(actionOf("new"), 1, 1n, transactionOf("new"));
    const again = first.reopen();
    await leads(again);
    expect(await statesIn(owner)).toEqual(["kept 0 signed", "lost 1 displaced", "new 1 signed"]);
    expect(again.journal.get("new")).toEqual(other.journal.get("new"));
    await Promise.all([again.close(), other.close()]);
  });
});

describe("notes of the shared journal", () => {
  const note = (key: string, atMs: number, body: string | null = null) => ({ key, atMs, body });
  const inServer = async (owner: JournalOwner): Promise<string[]> => {
    const rows = await postgres.query<{ text: string }>(
      `SELECT concat_ws(' ', key, at_ms, body) AS text FROM ${schemaNameOf(owner)}.notes ORDER BY key`,
    );
    return rows.map(({ text }) => text);
  };

  test("behavior: one comes to the standby, one of the standby to the signer; the later of two counts", async () => {
    const owner = newOwner();
    const signer = openShared(owner, postgres.url);
    await leads(signer);
    signer.notes.put(note("ticket:a", 1));
    signer.notes.put(note("tripped", 2, "why"));
    const standby = openShared(owner, postgres.url);
    await expect.poll(() => standby.notes.get("tripped"), SOON).toEqual(note("tripped", 2, "why"));
    standby.notes.put(note("tripped", 3));
    await expect.poll(() => signer.notes.get("tripped"), SOON).toEqual(note("tripped", 3));
    expect(await inServer(owner)).toEqual(["ticket:a 1", "tripped 3"]);
    // An older one of a daemon that was away does not undo it.
    const path = join(sharedFolder.path, "away.sqlite");
    const away = openDatabase(path, [JOURNAL_SCHEMA, MIRROR_SCHEMA]);
    new Notes(away).put(note("tripped", 2, "old"));
    away.close();
    const back = openShared(owner, postgres.url, path);
    await expect.poll(() => back.notes.get("tripped"), SOON).toEqual(note("tripped", 3));
    expect(back.journal.unshared).toBe(0);
    await back.close();
    await Promise.all([signer.close(), standby.close()]);
  });

  test("behavior: what passed is dropped a day later, in the server and in every copy", async () => {
    const owner = newOwner();
    const signer = openShared(owner, postgres.url);
    await leads(signer);
    const standby = openShared(owner, postgres.url);
    const day = 86_400_000;
    signer.notes.put(note("lost:a", 1));
    for (const key of ["ticket:a", "back:a", "ticketed"]) signer.notes.put(note(key, 1, "7"));
    const first = ["back:a 1 7", "lost:a 1", "ticket:a 1 7", "ticketed 1 7"];
    await expect.poll(() => inServer(owner), SOON).toEqual(first);
    await expect.poll(() => standby.notes.get("ticket:a"), SOON).toBeDefined();
    signer.notes.put(note("ticket:b", 1 + day, "7"));
    await expect
      .poll(() => inServer(owner), SOON)
      .toEqual([...first.slice(0, 3), `ticket:b ${1 + day} 7`, ...first.slice(3)]);
    signer.notes.put(note("ticket:c", 2 + day, "7"));
    const left = ["lost:a 1", `ticket:b ${1 + day} 7`, `ticket:c ${2 + day} 7`, "ticketed 1 7"];
    await expect.poll(() => inServer(owner), SOON).toEqual(left);
    await expect.poll(() => standby.notes.get("ticket:c"), SOON).toBeDefined();
    for (const { notes } of [signer, standby])
      expect(["ticket:a", "back:a", "lost:a", "ticket:b"].map((key) => notes.get(key)?.atMs)).toEqual([
        ...[undefined, undefined, 1, 1 + day],
      ]);
    await Promise.all([signer.close(), standby.close()]);
  });

  test("behavior: one that is written while a transaction is journalled gets there, too", async () => {
    const owner = newOwner();
    const signer = openShared(owner, postgres.url);
    await leads(signer);
    for (let n = 0; n < 20; n++) {
      const signing = signer.journal.sign(actionOf(`${n}`), n, 1n, transactionOf(`noted ${n}`));
      for (let turn = 0; turn < n; turn++) await Promise.resolve();
      signer.notes.put(note(`ticket:${String(n).padStart(2, "0")}`, n + 1));
      await signing;
    }
    const all = Array.from({ length: 20 }, (_, n) => `ticket:${String(n).padStart(2, "0")} ${n + 1}`);
    await expect.poll(() => inServer(owner), SOON).toEqual(all);
    await signer.close();
  });

  test("behavior: a server that lost its newest notes gets them again, and refuses those of an older signer", async () => {
    const owner = newOwner();
    const signer = openShared(owner, postgres.url);
    await leads(signer);
    signer.notes.put(note("ticket:a", 1));
    await expect.poll(() => inServer(owner), SOON).toEqual(["ticket:a 1"]);
    await signer.journal.stop();
    const schema = schemaNameOf(owner);
    await postgres.query(`DELETE FROM ${schema}.notes`);
    await postgres.query(`UPDATE ${schema}.signer SET revision = 0`);
    const again = signer.reopen();
    await leads(again);
    await expect.poll(() => inServer(owner), SOON).toEqual(["ticket:a 1"]);
    await again.journal.stop();
    await postgres.query(`UPDATE ${schema}.signer SET fence = fence + 1`);
    await expect(postgres.query(`UPDATE ${schema}.notes SET at_ms = 9`)).rejects.toMatchObject({
      code: "AS001",
    });
    await again.close();
  });
});

describe("Shards", () => {
  const game = { chainId: 31337, assay: `0x${"77".repeat(20)}` as Hex };
  const ids = Array.from({ length: 8 }, (_, n) => keccak256(toHex(`shard ${n}`)) as ClaimId);
  const shardsOf = (own: Hex, database = terms()) =>
    new Shards({
      ...{ own, leads: () => true, log: SILENT, beatMs: 10 },
      open: () => openShardSession(database, game),
    });

  test("behavior: each claim is one's; what one found right the other leaves for good; without the database all is everybody's", async () => {
    const over = new AbortController();
    const [a, b] = [shardsOf(`0x${"0a".repeat(20)}`), shardsOf(`0x${"0b".repeat(20)}`)];
    const running = [a.run(over.signal), b.run(over.signal)];
    await expect.poll(() => [a.size, b.size], SOON).toEqual([2, 2]);
    for (const id of ids) expect(a.isOwn(id)).toBe(!b.isOwn(id));
    const [first, second] = ids as [ClaimId, ClaimId];
    expect([b.leave(first), b.leave(second), b.waiting]).toEqual([false, false, 2]);
    a.foundRight({ id: first, windowEnd: 10 ** 10 });
    await expect.poll(() => b.leave(first), SOON).toBe(true);
    expect([b.leave(second), b.waiting]).toEqual([false, 1]);
    b.forget(second);
    expect(b.waiting).toBe(0);
    over.abort();
    await Promise.all(running);
    const alone = shardsOf(`0x${"0c".repeat(20)}`, databaseTerms("postgres://127.0.0.1:1/none", undefined));
    expect(ids.every((id) => alone.isOwn(id))).toBe(true);
  });
});

describe("requireDatabase", () => {
  test("default: passes, and passes a server that is not there", async () => {
    const owner = newOwner();
    await requireDatabase(terms(), owner);
    await requireDatabase(databaseTerms("postgres://127.0.0.1:1/none", undefined), owner);
  });

  test("error: the schema of another deployment", async () => {
    const owner = newOwner();
    await requireDatabase(terms(), owner);
    const other = { ...owner, assay: `0x${"99".repeat(20)}` as Hex };
    await expect(requireDatabase(terms(), other)).rejects.toMatchObject({ code: "JOURNAL_OWNER_MISMATCH" });
  });
});

describe("PostgresSession", () => {
  test("behavior: no error holds the password: it is wrong, the server is gone, hangs, or has no such database", async () => {
    const wrong = postgres.url.replace(PASSWORD, `${PASSWORD}-wrong`);
    const silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as { port: number };
    for (const url of [
      wrong,
      `postgres://u:${PASSWORD}@127.0.0.1:1/x`,
      `postgres://u:${PASSWORD}@127.0.0.1:${port}/x`,
      postgres.url.replace("/postgres", "/none"),
    ]) {
      const error = await PostgresSession.open(databaseTerms(url, undefined), () => undefined).then(
        () => undefined,
        (fault: Error) => fault,
      );
      expect(error).toMatchObject({ code: "DATABASE_UNREACHABLE" });
      expect(`${error?.stack} ${JSON.stringify(error)} ${String(error?.cause)}`).not.toContain(PASSWORD);
    }
    silent.close();
  });

  test("error: a certificate that is not there", async () => {
    const url = `${postgres.url}?sslmode=verify-full&sslrootcert=/none/root.pem`;
    const error = await PostgresSession.open(databaseTerms(url, undefined), () => undefined).catch(
      (fault: unknown) => fault,
    );
    expect(error).toMatchObject({
      code: "DATABASE_URL_INVALID",
      shortMessage: "The database's URL cannot be used: /none/root.pem cannot be read (ENOENT).",
    });
    expect(`${(error as Error).stack} ${JSON.stringify(error)}`).not.toContain(PASSWORD);
  });

  test("behavior: the password comes from a file", async () => {
    const session = await PostgresSession.open(
      databaseTerms(postgres.urlWithoutPassword, postgres.passwordFile),
      () => undefined,
    );
    session.destroy();
  });
});

test("the copy of a folder has the columns of the schema", async () => {
  const owner = newOwner();
  await requireDatabase(terms(), owner);
  const db = openDatabase(":memory:", [JOURNAL_SCHEMA, MIRROR_SCHEMA]);
  for (const table of ["actions", "transactions", "notes"]) {
    const columns = await postgres.query<{ name: string }>(
      "SELECT column_name AS name FROM information_schema.columns WHERE table_schema = $1 AND table_name = $2 ORDER BY ordinal_position",
      [schemaNameOf(owner), table],
    );
    const own = db.prepare<[], { name: string }>(`SELECT name FROM pragma_table_info('${table}')`).all();
    expect(columns).toEqual(own);
  }
  db.close();
});
