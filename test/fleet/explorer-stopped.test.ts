/** `assay explorer --database` as a process that is told to stop while its PostgreSQL hangs. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ANVIL_KEYS } from "../../cli/anvil.ts";
import { startDaemon } from "../../cli/demo/processes.ts";
import { writeDeployment } from "../../protocol/chain/deployment-file.ts";
import { pause } from "../../protocol/chain/follower.ts";
import { startLocalChain } from "../support/anvil.ts";
import { deployLocal, temporaryFolder } from "../support/deploy.ts";
import { signal } from "../support/fleet.ts";
import { caughtUp } from "../support/local-explorer.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";
import { sampled } from "../support/scale.ts";

/** What systemd and Kubernetes wait, ms, by deploy/. */
const PATIENCE_MS = 60_000;
const folder = temporaryFolder();
let postgres: Postgres;
let local: Awaited<ReturnType<typeof startLocalChain>>;

beforeAll(async () => {
  [postgres, local] = await Promise.all([startPostgres(), startLocalChain()]);
});
afterAll(async () => {
  await postgres?.stop();
  await local?.stop();
  folder.remove();
});

const BUSY = [
  ["a batch is under way", 1],
  ["nothing is under way", 0],
] as const;

test.each(sampled(BUSY, 2))(
  "error: PostgreSQL hangs while %s: an explorer that is told to stop ends",
  async (_, blocks) => {
    const path = join(folder.path, "deployment.json");
    writeDeployment(path, await deployLocal(local));
    const explorer = startDaemon({
      ...{
        name: `explorer-${blocks}`,
        args: ["explorer", "--port", "0"],
        key: ANVIL_KEYS[9] as `0x${string}`,
      },
      ...{ folder: folder.path, rpcUrl: local.rpcUrl, deployment: path },
      env: { ASSAY_DATABASE: postgres.url },
    });
    const { signal: never } = new AbortController();
    await caughtUp(String((await explorer.logged("explorer is up")).url), local);
    postgres.freeze();
    try {
      await local.control.mine({ blocks });
      await pause(1_500, never);
      signal(explorer, "SIGTERM");
      const late = pause(PATIENCE_MS, never).then(() => "late");
      expect(await Promise.race([explorer.ended.then(() => "ended"), late])).toBe("ended");
    } finally {
      postgres.thaw();
      await explorer.stop();
    }
  },
);
