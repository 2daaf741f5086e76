/** What a local chain keeps of its past: enough for daemons, and not more the longer it runs. */
import { readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { createTestClient, http } from "viem";
import { afterAll, describe, expect, test } from "vitest";
import { type Anvil, startAnvil } from "../../cli/anvil.ts";
import { createClient } from "../../protocol/chain/connect.ts";
import { deployLocal, temporaryFolder } from "../support/deploy.ts";

const folder = temporaryFolder();
const state = join(folder.path, "state.json");
let chain: Anvil;
const start = async () => {
  chain = await startAnvil({ state, blockTimeSeconds: 1 });
  const client = createClient(chain.rpcUrl);
  const control = createTestClient({ mode: "anvil", transport: http(chain.rpcUrl) });
  return { ...chain, client, control };
};
afterAll(async () => {
  await chain?.stop();
  folder.remove();
});
/** Where anvil puts states that it does not keep in memory. */
const onDisk = (): string[] => {
  const cache = join(homedir(), ".foundry/anvil/tmp");
  try {
    return readdirSync(cache, { recursive: true }).map(String);
  } catch {
    return [];
  }
};

describe("startAnvil", () => {
  test("behavior: --state: file and disk do not grow by a copy of everything with each block", async () => {
    const before = onDisk();
    const first = await start();
    const deployment = await deployLocal(first as never);
    await first.control.mine({ blocks: 1_000 });
    const head = await first.client.getBlockNumber();
    const address = deployment.contracts.assay;
    expect(await first.client.getBalance({ address, blockNumber: head - 200n })).toBe(0n);
    await expect(first.client.getBalance({ address, blockNumber: head - 900n })).rejects.toThrow();
    expect(await first.client.getBlock({ blockNumber: 1n })).toMatchObject({ number: 1n });
    await first.stop();
    const own = onDisk().filter((path) => !before.includes(path) && path.endsWith(".json"));
    expect(own).toEqual([]);
    // Contracts, and a thousand empty blocks of some 2 KB.
    expect(statSync(state).size).toBeLessThan(8 * 2 ** 20);

    const again = await start();
    expect(await again.client.getBlockNumber()).toBeGreaterThanOrEqual(head);
    expect((await again.client.getCode({ address }))?.length).toBeGreaterThan(1_000);
    const { number } = deployment.block;
    expect(await again.client.getBlock({ blockNumber: number })).toMatchObject({
      hash: deployment.block.hash,
    });
    const newest = await again.client.getBlockNumber();
    expect(await again.client.getBalance({ address, blockNumber: newest })).toBe(0n);
    await expect.poll(() => again.client.getBlockNumber(), { timeout: 60_000 }).toBeGreaterThan(newest);
  });
});
