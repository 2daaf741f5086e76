import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Daemon } from "../../cli/demo/processes.ts";
import type { Overview } from "../../explorer/api/types.ts";
import { ExplorerIndex } from "../../explorer/index/explorer-index.ts";
import { readFacts } from "../../explorer/index/facts.ts";
import { indexFileOf } from "../../explorer/main.ts";
import { EventFollower } from "../../protocol/chain/follower.ts";
import { fileCase, of } from "../support/cases.ts";
import { contentOf, openExplorerStore } from "../support/explorer.ts";
import { longTest } from "../support/long-test.ts";
import { eventWithBlock, takeBack } from "../support/reorg.ts";
import { createRng } from "../support/rng.ts";
import { ROLES, type System, startSystem } from "../support/system.ts";

const ANSWER_SECONDS = 120;
const KILLS = 4;

let system: System;

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS });
  const never = "1000000000000000000000";
  await system
    .daemon("prover", ROLES.prover, ["prover", "--port", "0", "--withdraw-above", never])
    .logged("prover is up");
});

afterAll(() => system.stop());

/** The explorer as a process; all that are started here share one data folder. */
async function startExplorer(): Promise<{ readonly daemon: Daemon; readonly url: string }> {
  // A deployer's key is in its environment: it must not need one, and takes none.
  const daemon = system.daemon("explorer", ROLES.deployer, ["explorer", "--port", "0"]);
  const { url } = await daemon.logged("explorer is up");
  return { daemon, url: String(url) };
}

async function kill({ pid, ended }: Daemon): Promise<void> {
  process.kill(pid as number, "SIGKILL");
  await ended;
}

async function headOf(url: string): Promise<number> {
  const overview = (await (await fetch(`${url}/v1/overview`)).json()) as Overview;
  return overview.head?.number ?? -1;
}

/** Resolves once the index holds this block. */
const indexed = (url: string, block: bigint) =>
  expect.poll(() => headOf(url), { timeout: 600_000, interval: 50 }).toBeGreaterThanOrEqual(Number(block));

/** What an index holds that followed the chain, as it is now, in one go, up to this block. */
async function freshContent(last: bigint): Promise<Record<string, unknown[]>> {
  const store = openExplorerStore(join(system.folder, `fresh-${last}.sqlite`));
  const index = new ExplorerIndex(store);
  const follower = new EventFollower(system.chain, { last });
  for (;;) {
    const batch = await follower.next();
    if (batch === undefined) break;
    await index.take(batch, await readFacts(system.chain, batch.kind === "blocks" ? batch.events : []));
    follower.advance(batch);
  }
  const content = await contentOf(store);
  await store.close();
  return content;
}

/** Everything but blocks, which are also kept where a batch ends. */
function expectSame(content: Record<string, unknown[]>, expected: Record<string, unknown[]>): void {
  const { blocks: _, ...tables } = expected;
  for (const [table, rows] of Object.entries(tables)) expect(content[table], table).toEqual(rows);
}

describe("assay explorer", () => {
  it("behavior: killed again and again, and through re-orgs, it holds what a fresh index holds", async () => {
    const random = createRng(5);
    let explorer = await startExplorer();
    let killed = 0;
    for (let round = 0; round < KILLS; round++) {
      const filed = await fileCase(system, ROLES.prover);
      // Somewhere between a request and its claim, or long after.
      if (random.chance(0.5)) await filed.claimed();
      await kill(explorer.daemon);
      killed += 1;
      const claimed = await filed.claimed();
      if (round % 2 === 0) await takeBack(system, await eventWithBlock(system, "Claimed", of(claimed)));
      explorer = await startExplorer();
      const again = await eventWithBlock(system, "Claimed", ({ requestId }) => requestId === filed.requestId);
      await indexed(explorer.url, again.block.number);
      if (round % 2 === 1) {
        await takeBack(system, again);
        const { block } = await eventWithBlock(
          system,
          "Claimed",
          ({ requestId }) => requestId === filed.requestId,
        );
        await indexed(explorer.url, block.number);
      }
    }
    expect(killed).toBe(KILLS);
    await system.passTime(4 * ANSWER_SECONDS + 1);
    const { block } = await system.events.when(
      () => system.events.events.filter(({ name }) => name === "Finalized").at(KILLS - 1),
      () => "Not every claim is final",
    );
    await indexed(explorer.url, block.number);
    await system.withoutBlocks(async () => {
      const last = await system.chain.client.getBlockNumber();
      await indexed(explorer.url, last);
      const overview = (await (await fetch(`${explorer.url}/v1/overview`)).json()) as Overview;
      expect(overview.claims).toEqual({ ACTIVE: 0, FINAL: KILLS, FALLEN: 0 });
      const { client, game } = system.chain;
      expect(overview.holds.total).toBe(`${await client.getBalance({ address: game.assay })}`);
      await kill(explorer.daemon);
      const path = join(system.folder, "explorer", "explorer", indexFileOf(system.chain));
      const store = openExplorerStore(path);
      expectSame(await contentOf(store), await freshContent(last));
      await store.close();
    });
  });

  it("behavior: a prover and a challenger serve it too, each from an index of its own, and end with it", async () => {
    const port = ["--explorer-port", "0"];
    const daemons = [
      system.daemon("other-prover", ROLES.cheat, ["prover", "--port", "0", ...port]),
      system.daemon("challenger", ROLES.challenger, ["challenger", "watch", ...port]),
    ];
    const last = await system.chain.client.getBlockNumber();
    for (const daemon of daemons) {
      const [{ url }] = await Promise.all([
        daemon.logged("explorer is up"),
        daemon.logged(daemon.name === "challenger" ? "challenger is up" : "prover is up"),
      ]);
      await indexed(String(url), last);
      const { claims } = (await (await fetch(`${url}/v1/overview`)).json()) as Overview;
      expect(claims.FINAL).toBe(KILLS);
      const path = join(system.folder, daemon.name, "explorer", indexFileOf(system.chain));
      expect(existsSync(path)).toBe(true);
      await daemon.stop();
      await daemon.logged("explorer stopped");
      await expect(fetch(`${url}/livez`)).rejects.toThrow();
    }
  });

  longTest("error: a daemon whose explorer cannot start does not start either", async () => {
    const { url, daemon } = await startExplorer();
    const port = new URL(url).port;
    const other = system.daemon("watcher", ROLES.challenger, [
      "challenger",
      "watch",
      "--explorer-port",
      port,
    ]);
    await other.ended;
    // What it printed last may be written after its end.
    await expect.poll(() => readFileSync(other.log, "utf8")).toContain("PORT_TAKEN");
    expect(readFileSync(other.log, "utf8")).not.toContain("the rest goes on");
    await daemon.stop();
  });

  it("behavior: it needs no key, and stops when it is told to", async () => {
    const { daemon } = await startExplorer();
    await daemon.stop();
    const keyless = system.daemon("explorer", ROLES.deployer, ["explorer", "--port", "0"], {
      env: { ASSAY_KEY: "" },
    });
    await keyless.logged("explorer is up");
    await keyless.stop();
  });
});
