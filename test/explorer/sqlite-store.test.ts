/** SQLite behind the interface of an index. */
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { temporaryFolder } from "../support/deploy.ts";
import { openExplorerStore } from "../support/explorer.ts";
import { expectNothingBesideATransaction } from "../support/index-play.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());

test("error: what goes on when another part of a batch has failed writes nothing beside it", () =>
  expectNothingBesideATransaction(async () => openExplorerStore(join(folder.path, "late.sqlite"))));

test("behavior: it is closed behind what is under way, and once", async () => {
  const store = openExplorerStore(join(folder.path, "closed.sqlite"));
  const writing = store.write((sql) => sql.run("INSERT INTO blocks VALUES (1, '0x', 0)"));
  await Promise.all([store.close(), store.close()]);
  expect(await writing).toBeUndefined();
  await expect(store.read((sql) => sql.all("SELECT * FROM blocks"))).rejects.toThrow();
});
