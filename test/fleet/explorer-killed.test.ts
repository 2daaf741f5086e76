/** `assay explorer --database` as a process that is killed in the middle of following, and of a re-org: another one goes on,
 *  and what it holds in the end is what SQLite holds that nobody disturbed. */
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ANVIL_KEYS } from "../../cli/anvil.ts";
import { type Daemon, startDaemon } from "../../cli/demo/processes.ts";
import { modelFolder } from "../../cli/model-source.ts";
import { ExplorerIndex } from "../../explorer/index/explorer-index.ts";
import { EXPLORER_SCHEMA } from "../../explorer/index/schema.ts";
import { indexFileOf, indexSchemaOf } from "../../explorer/main.ts";
import { PostgresStore } from "../../explorer/store/postgres-store.ts";
import { loadModelFolder } from "../../inference/model-folder.ts";
import { writeDeployment } from "../../protocol/chain/deployment-file.ts";
import { databaseTerms } from "../../protocol/service/postgres/terms.ts";
import { contentOf, openExplorerStore } from "../support/explorer.ts";
import { kill } from "../support/fleet.ts";
import { caughtUp, startLocalExplorer } from "../support/local-explorer.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";
import { type PlayedPromises, playPromises } from "../support/promises/played-promises.ts";
import { encodeText } from "../support/sentiment-call.ts";

const SOON = { timeout: 240_000, interval: 20 };
/** More than a batch of the follower has. */
const FAR = 260;
/** Number of the lock on which whoever writes what is watched waits, so that it is killed exactly there. */
const HOLD = 77;

let postgres: Postgres;
let played: PlayedPromises;

beforeAll(async () => {
  [postgres, played] = await Promise.all([startPostgres(), playPromises("some text")]);
});
afterAll(async () => {
  await played?.stop();
  await postgres?.stop();
});

let count = 0;
function startExplorer(): Daemon {
  const { folder, local, deployment, models } = played;
  const path = join(folder.path, "deployment.json");
  writeDeployment(path, deployment);
  const database = [
    "--database",
    postgres.urlWithoutPassword,
    "--database-password-file",
    postgres.passwordFile,
  ];
  return startDaemon({
    name: `explorer-${++count}`,
    args: ["explorer", "--port", "0", "--models", models, ...database],
    key: ANVIL_KEYS[9] as `0x${string}`,
    folder: folder.path,
    rpcUrl: local.rpcUrl,
    deployment: path,
  });
}

/** Starts one, and kills it while its transaction writes, or takes back, an event from this block on. */
async function killAt(schema: string, change: "INSERT" | "DELETE", block: bigint): Promise<void> {
  const row = change === "INSERT" ? "NEW" : "OLD";
  await postgres.query(`CREATE OR REPLACE FUNCTION ${schema}.hold() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN IF ${row}.block >= ${block} THEN PERFORM pg_advisory_xact_lock(${HOLD}); END IF; RETURN ${row}; END $$`);
  await postgres.query(
    `CREATE TRIGGER hold BEFORE ${change} ON ${schema}.events FOR EACH ROW EXECUTE FUNCTION ${schema}.hold()`,
  );
  const holder = new pg.Client({ connectionString: postgres.url });
  await holder.connect();
  await holder.query(`SELECT pg_advisory_lock(${HOLD})`);
  const explorer = startExplorer();
  const waiting = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = ${HOLD} AND NOT granted`;
  await expect.poll(async () => (await postgres.query(waiting)).length, SOON).toBe(1);
  await kill(explorer);
  await holder.end();
  // The server has found out that nobody is there.
  await expect.poll(async () => (await postgres.query(waiting)).length, SOON).toBe(0);
  await postgres.query(`DROP TRIGGER hold ON ${schema}.events`);
}

test("behavior: kill -9 in the middle of a batch and of a re-org: it goes on, and its tables are SQLite's", async () => {
  const { local, played: moves, folder, models } = played;
  const { chain } = moves;
  const sentiment = loadModelFolder(modelFolder("sentiment"));
  const blocks: bigint[] = [];
  const request = async () => {
    await local.control.mine({ blocks: FAR });
    await moves.request(encodeText(sentiment, "Profit doubles"));
    blocks.push(await local.client.getBlockNumber());
  };
  for (let i = 0; i < 2; i++) await request();
  const before = await local.control.snapshot();
  for (let i = 0; i < 2; i++) await request();
  const [first, second, third, fourth] = blocks as [bigint, bigint, bigint, bigint];

  const schema = indexSchemaOf(chain);
  const store = new PostgresStore(databaseTerms(postgres.url, undefined), schema, [EXPLORER_SCHEMA]);
  await store.enter();
  const index = new ExplorerIndex(store);
  const newest = async () => (await index.cursor())?.at(-1)?.number ?? -1n;
  let reached = -1n;
  for (const block of [1n, first, second, fourth]) {
    await killAt(schema, "INSERT", block);
    const at = await newest();
    expect(at).toBeLessThan(block);
    expect(at).toBeGreaterThanOrEqual(reached);
    reached = at;
  }
  expect(reached).toBeGreaterThanOrEqual(third);
  // Other blocks, and more of them, without the last two requests.
  await local.control.revert({ id: before });
  await local.control.mine({ blocks: 3 * FAR });
  await killAt(schema, "DELETE", third);
  expect(await newest()).toBe(reached);

  const last = startExplorer();
  await caughtUp(String((await last.logged("explorer is up")).url), chain);
  await last.stop();
  const found = await contentOf(store);
  await store.close();

  const data = join(folder.path, "undisturbed");
  const plain = await startLocalExplorer({ chain, data, models: [models], pagesFolder: join(data, "none") });
  await caughtUp(plain.url, chain);
  await plain.stop();
  const other = openExplorerStore(join(data, indexFileOf(chain)));
  const expected = await contentOf(other);
  await other.close();
  // Blocks without events are kept where a batch ends, which is elsewhere.
  for (const [table, rows] of Object.entries(expected)) {
    if (table === "blocks") expect(found.blocks?.length).toBeGreaterThan(0);
    else expect(found[table], table).toEqual(rows);
  }
  expect(expected.requests?.length).toBeGreaterThan(2);
  expect(expected.batches?.length).toBe(3);
});
