/** A batch on a chain whose re-org drops its transaction, with another one of the account under its nonce. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Hex, parseEther } from "viem";
import { beforeAll, describe, expect, it } from "vitest";
import { SILENT } from "../../../base/log.ts";
import { type RunningNode, until } from "../../support/promises/signing-node.ts";
import { type SigningWorld, signingSuite, W0 } from "../../support/promises/signing-suite.ts";
import { startRpcProxy } from "../../support/rpc-proxy.ts";
import { systemAccount } from "../../support/system.ts";

const NO_STATE = { error: { code: -32_000, message: "header not found" } };
const suite = signingSuite({ batchSeconds: 86_400, batchSize: 1 });
const { start, newProver, untilReady, sign, postedBy, later } = suite;
let { local, reader } = {} as SigningWorld;
beforeAll(() => {
  ({ local, reader } = suite.world());
});

/** Has one answer signed and posted. */
async function postOne({ node }: RunningNode, index: number) {
  await untilReady(node);
  const { digest } = await sign(node, 7, true);
  await local.control.mine({ blocks: 1 });
  const { batchId: id } = await until(() => {
    const found = node.find(digest)?.leaf;
    return found?.windowEnd === undefined ? undefined : found;
  });
  const [posted] = await postedBy(index);
  const { transactionHash: hash, block } = posted as { transactionHash: Hex; block: { number: bigint } };
  return { digest, id, hash, block: block.number, bond: (await reader.batch(id))?.bond };
}

/** Takes the block and all above it away. Another transaction of the account takes the nonce in the other branch. */
async function dropForGood(index: number, hash: Hex, block: bigint): Promise<void> {
  const account = systemAccount(index);
  const { nonce, chainId } = await local.client.getTransaction({ hash });
  const other = {
    type: "eip1559",
    to: account.address,
    ...{ chainId: Number(chainId), nonce, gas: 21_000n, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 1n },
  } as const;
  const depth = Number((await local.client.getBlockNumber()) - block) + 1;
  const params = [depth, [[await account.signTransaction(other), 0]]];
  await local.control.request({ method: "anvil_reorg", params } as never);
}

describe("Keeper", () => {
  it.each([
    ["runs", 0],
    ["is stopped", 0],
    // The journal of transactions takes what has 64 blocks above it for settled.
    ["runs", 70],
    ["is stopped", 70],
  ] as const)(
    "behavior: a batch whose transaction a re-org drops for good while the prover %s, %i blocks later, is posted again, once",
    async (state, above) => {
      const { index, data } = await newProver();
      const window = { batchWindow: W0 + 3_600 };
      const first = await start(index, data, window);
      const { digest, id, hash, block } = await postOne(first, index);
      if (above > 0) await local.control.mine({ blocks: above });
      await until(() => (above === 0 || first.sender.unsettled().length === 0 ? true : undefined));
      if (state === "is stopped") await first.stop();
      await dropForGood(index, hash, block);
      expect(await postedBy(index)).toHaveLength(0);
      const { node } = state === "runs" ? first : await start(index, data, window);
      const again = await until(async () => {
        await local.control.mine({ blocks: 1 });
        const events = await postedBy(index);
        const found = node.find(digest)?.leaf;
        return events.length === 0 || found?.windowEnd === undefined ? undefined : found;
      });
      expect(again.batchId).toBe(id);
      await local.control.mine({ blocks: 12 });
      await until(() => ((node.state?.head.number ?? 0n) >= block + 12n ? true : undefined));
      expect(await postedBy(index)).toHaveLength(1);
      expect((await reader.account(systemAccount(index).address)).slots).toBe(
        2n * ((await reader.batch(id))?.bond ?? 0n),
      );
    },
  );

  it("behavior: a batch of a block that a re-org takes away before the block was looked at whole is posted again", async () => {
    const { index, data } = await newProver();
    const proxy = await startRpcProxy(local.rpcUrl);
    later(proxy.stop);
    const running = await start(index, data, { batchWindow: W0 + 3_600 }, SILENT, proxy.url);
    // The node takes the block's events, and reads no state of it.
    let isOut = false;
    proxy.decide = ({ method }) => {
      isOut ||= method === "eth_call" && running.node.runningBatches > 0;
      return isOut && method === "eth_call" ? NO_STATE : "pass";
    };
    const { digest, id, hash, block } = await postOne(running, index);
    await until(() => (isOut ? true : undefined));
    await dropForGood(index, hash, block);
    // What is asked at the block that is gone fails from now on, too.
    proxy.decide = () => "pass";
    const again = await until(async () => {
      await local.control.mine({ blocks: 1 });
      const found = running.node.find(digest)?.leaf;
      return (await reader.batch(id)) === undefined ? undefined : found;
    });
    expect(again.batchId).toBe(id);
    expect(await postedBy(index)).toHaveLength(1);
  });

  it("behavior: a batch that a restored journal took from the chain is posted again with the bond of each leaf", async () => {
    const { index, data } = await newProver();
    const leafBond = parseEther("0.05");
    const first = await start(index, data, { leafBond });
    const { id, hash, bond, block } = await postOne(first, index);
    await first.stop();
    // A backup of before: the journal knows neither the batch nor its leaves.
    for (const file of readdirSync(data).filter((name) => name.startsWith("signed-claims")))
      rmSync(join(data, file));
    const { node } = await start(index, data);
    await untilReady(node);
    await dropForGood(index, hash, block);
    expect(await reader.batch(id)).toBeUndefined();
    const again = await until(async () => {
      await local.control.mine({ blocks: 1 });
      return reader.batch(id);
    });
    // In whole wei a leaf: less than a wei of each is missing, and no contract asks for it.
    expect([bond, again.bond]).toEqual([leafBond, leafBond]);
  });
});
