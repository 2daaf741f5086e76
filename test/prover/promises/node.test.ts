/** A node that signs, on a chain with the real contracts: its key, its stake, its batches, and what attackers and crashes
 *  do to them. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { parseEther } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { fromHex } from "../../../base/bytes.ts";
import { SILENT } from "../../../base/log.ts";
import { ANVIL_KEYS } from "../../../cli/anvil.ts";
import { connect } from "../../../protocol/chain/connect.ts";
import { PromiseActions } from "../../../protocol/chain/promises/actions.ts";
import { promiseHistory } from "../../../protocol/chain/promises/events.ts";
import { PromiseStateReader } from "../../../protocol/chain/promises/reads.ts";
import { requireAccount, type Sender, type SigningChain } from "../../../protocol/chain/sender.ts";
import type { Presented } from "../../../protocol/rules/promises/presented.ts";
import { ZERO_ADDRESS } from "../../../protocol/rules/types.ts";
import { openDataFolder } from "../../../protocol/service/data-folder.ts";
import { EVENTS_SCHEMA, EventStore } from "../../../protocol/service/store/event-store.ts";
import { PROMISE_EVENTS_SCHEMA } from "../../../protocol/service/store/promise-store.ts";
import { journalPath, SignedJournal } from "../../../prover/promises/journal/journal.ts";
import { SIGNED_FILE } from "../../../prover/promises/journal/schema.ts";
import type { PromiseNode } from "../../../prover/promises/node.ts";
import { openSigning, type SigningOptions } from "../../../prover/promises/open.ts";
import { accountAt, type LocalChain, startLocalChain } from "../../support/anvil.ts";
import { openLocalSystem, QUICK, temporaryFolder, tinyInput } from "../../support/deploy.ts";
import { tinyOutput } from "../../support/promises/local-promises.ts";

/** W0: four of T = 5 seconds. */
const W0 = 20;
const STAKE = parseEther("1");
const KEY = ANVIL_KEYS[9] as `0x${string}`;
const OPTIONS: SigningOptions = {
  ...{ key: KEY, signBond: 0n, minFreeStake: parseEther("0.5"), leafBond: 0n },
  ...{ batchSeconds: 0, batchSize: 4, batchWindow: W0 },
};

let local: LocalChain;
let system: Awaited<ReturnType<typeof openLocalSystem>>;
let actions: PromiseActions;
let reader: PromiseStateReader;
let next = 2;

beforeAll(async () => {
  local = await startLocalChain();
  system = await openLocalSystem(local, accountAt(1));
  reader = new PromiseStateReader(system.chain);
  actions = new PromiseActions(reader.at, system.chain.game);
});
afterAll(async () => {
  await system?.close();
  await local?.stop();
});
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Running {
  readonly node: PromiseNode;
  readonly chain: SigningChain;
  readonly sender: Sender;
  stop(): Promise<void>;
}

/** Starts a node of an account with a stake. @param data its folder */
async function start(index: number, data: string, changes: Partial<SigningOptions> = {}): Promise<Running> {
  const account = accountAt(index);
  const { deployment } = system;
  const chain = requireAccount(await connect({ rpcUrl: local.rpcUrl, deployment, account }));
  const folder = openDataFolder(data, chain, [EVENTS_SCHEMA, PROMISE_EVENTS_SCHEMA], QUICK);
  const { db, sender } = folder;
  const ending = new AbortController();
  const opened = await openSigning(
    { ...OPTIONS, ...changes },
    {
      ...{ chain, sender, store: new EventStore(db), db, data, log: SILENT, signal: ending.signal },
      ...{ models: new Map([[system.modelId, {} as never]]), pollIntervalMs: 20, confirmations: 0 },
    },
  );
  const running = opened.run(ending.signal);
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    ending.abort();
    await running;
    await opened.close();
    await folder.close();
  };
  closers.push(stop);
  return { node: opened.node, chain, sender, stop };
}

/** A prover with a stake that nobody else uses. */
async function newProver(stake = STAKE): Promise<{ readonly index: number; readonly data: string }> {
  const index = next++;
  if (stake > 0n)
    expect(
      await system.sender.send(actions.deposit(accountAt(index).address, stake, `${index}`)),
    ).toMatchObject({
      status: "sent",
    });
  const folder = temporaryFolder();
  closers.push(folder.remove);
  return { index, data: folder.path };
}

async function until<T>(read: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (;;) {
    const found = await read();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
const refusalOf = (node: PromiseNode): string | undefined => {
  try {
    node.requireReady(system.modelId);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
};
const untilReady = (node: PromiseNode) => until(() => (refusalOf(node) === undefined ? true : undefined));
const sign = (node: PromiseNode, byte: number, isBatched = false) => {
  const input = tinyInput([byte, 1, 1, 1]);
  return node.sign(system.modelId, fromHex(input), fromHex(tinyOutput(input)), {
    requester: ZERO_ADDRESS,
    isBatched,
  });
};
const postedBy = async (index: number) =>
  (
    await promiseHistory(
      system.chain,
      `0x${accountAt(index).address.slice(2).toLowerCase().padStart(64, "0")}`,
    )
  ).filter(({ name }) => name === "Posted");
const open = async (presented: Presented) => {
  const { deposit } = await reader.check(presented);
  return system.sender.send(actions.open(presented, deposit));
};

describe("PromiseNode.sign", () => {
  it("default: it binds its key, then signs what the contract takes", async () => {
    const { index, data } = await newProver();
    const { node } = await start(index, data);
    await untilReady(node);
    const signed = await sign(node, 1);
    expect(await reader.check(signed)).toMatchObject({ digest: signed.digest });
    expect(node.find(signed.digest)).toMatchObject({ status: "signed", claim: signed.claim });
  });

  it("behavior: nothing is signed without enough free stake, nor while a promise waits for it", async () => {
    const { index, data } = await newProver(parseEther("0.6"));
    const { node, sender } = await start(index, data);
    await untilReady(node);
    expect(await sender.send(actions.announceExit(parseEther("0.2"), "a"))).toMatchObject({ status: "sent" });
    expect(await until(() => refusalOf(node))).toMatch(
      "its free stake is 0.4 ether, at least 0.5 ether is needed",
    );
    await expect(sign(node, 1)).rejects.toMatchObject({ code: "SIGNING_PAUSED", retryable: true });
    await system.sender.send(actions.deposit(accountAt(index).address, parseEther("0.2"), `more${index}`));
    await untilReady(node);
  });

  it("behavior: a right answer that waits for stake is brought forward, and signing goes on", async () => {
    const { index, data } = await newProver();
    const { node, sender } = await start(index, data, { minFreeStake: 0n });
    await untilReady(node);
    const [one, two] = [await sign(node, 1), await sign(node, 2)];
    // All stake but a little leaves: it backs promises on, but one bond of all of it takes the other's.
    const dear = { ...one.claim };
    expect(dear.minBond).toBe(0n);
    expect(await open(one)).toMatchObject({ status: "sent" });
    expect(await open(two)).toMatchObject({ status: "sent" });
    await until(async () => ((await reader.signed(two.digest)).status === "OPEN" ? true : undefined));
    await untilReady(node);
    expect(sender.unmined()).toEqual([]);
  });

  it("behavior: a key that its prover has unbound is not bound again", async () => {
    const { index, data } = await newProver();
    const { node, sender } = await start(index, data);
    await untilReady(node);
    const { boundUntil } = node.state as NonNullable<PromiseNode["state"]>;
    const soon = (await local.now()) + 60;
    const key = accountAt(9).address;
    expect(await sender.send(actions.setSigner(key, soon))).toMatchObject({ status: "sent" });
    await until(() => (node.state?.boundUntil === soon ? true : undefined));
    await local.passTime(100);
    expect(await until(() => refusalOf(node))).toMatch("its key is bound until");
    await local.control.mine({ blocks: 3 });
    const newest = await local.client.getBlockNumber();
    await until(() => ((node.state?.head.number ?? 0n) >= newest ? true : undefined));
    expect(sender.unmined()).toEqual([]);
    expect(await reader.boundUntil(accountAt(index).address, key)).toBe(soon);
    expect(boundUntil).toBeGreaterThan(soon);
  });
});

describe("batches", () => {
  it("default: each answer is in one batch, the slots come back, and it is final", async () => {
    const { index, data } = await newProver();
    const { node } = await start(index, data);
    await untilReady(node);
    const signed = await Promise.all([1, 2, 3, 4, 5, 6].map((byte) => sign(node, byte, true)));
    await local.control.mine({ blocks: 1 });
    const leaves = await Promise.all(
      signed.map(({ digest }) =>
        until(async () => {
          const leaf = node.find(digest)?.leaf;
          if (leaf?.windowEnd !== undefined) return leaf;
          await local.control.mine({ blocks: 1 });
          return undefined;
        }),
      ),
    );
    expect(new Set(leaves.map(({ batchId, index: at }) => `${batchId}/${at}`)).size).toBe(6);
    await local.passTime(W0);
    const prover = accountAt(index).address;
    await until(async () => ((await reader.account(prover)).slots === 0n ? true : undefined));
    expect(await reader.account(prover)).toMatchObject({ free: STAKE });
    await until(() => (node.find(signed[0]?.digest as never)?.status === "final" ? true : undefined));
  });

  it("behavior: one whose slots would end the signing for others waits for the stake of the one before", async () => {
    const { index, data } = await newProver();
    const { node } = await start(index, data, { batchSize: 1, leafBond: parseEther("0.2") });
    await untilReady(node);
    const [one, two] = [await sign(node, 1, true), await sign(node, 2, true)];
    const posted = ({ digest }: typeof one) =>
      until(async () => {
        await local.control.mine({ blocks: 1 });
        return node.find(digest)?.leaf?.windowEnd;
      });
    await posted(one);
    for (let blocks = 0; blocks < 3; blocks++) {
      await local.control.mine({ blocks: 1 });
      const newest = await local.client.getBlockNumber();
      await until(() => ((node.state?.head.number ?? 0n) >= newest ? true : undefined));
      expect(refusalOf(node)).toBeUndefined();
    }
    expect(node.find(two.digest)?.leaf?.windowEnd).toBeUndefined();
    await local.passTime(W0);
    await posted(two);
    expect(await postedBy(index)).toHaveLength(2);
  });

  it("behavior: one that was journalled and not sent is posted after a restart, once", async () => {
    const { index, data } = await newProver();
    const first = await start(index, data, { batchSeconds: 86_400, batchSize: 1_000 });
    await untilReady(first.node);
    const signed = await sign(first.node, 7, true);
    await first.stop();
    for (let starts = 0; starts < 3; starts++) {
      const again = await start(index, data, { batchSeconds: 0 });
      await untilReady(again.node);
      await local.control.mine({ blocks: 1 });
      await until(() => again.node.find(signed.digest)?.leaf?.windowEnd);
      await again.stop();
    }
    expect(await postedBy(index)).toHaveLength(1);
  });

  it("behavior: a journal restored from before a batch finds on the chain what was posted, and posts nothing twice", async () => {
    const { index, data } = await newProver();
    const first = await start(index, data, { batchSeconds: 86_400, batchSize: 3 });
    await untilReady(first.node);
    const early = [await sign(first.node, 1, true), await sign(first.node, 2, true)];
    await first.stop();
    const backups = ["running", "released"].map((state) => {
      const { path, remove } = temporaryFolder();
      closers.push(remove);
      cpSync(join(data, SIGNED_FILE), join(path, SIGNED_FILE));
      return { path, state };
    });
    const second = await start(index, data, { batchSeconds: 86_400, batchSize: 3 });
    await untilReady(second.node);
    await sign(second.node, 3, true);
    await local.control.mine({ blocks: 1 });
    await until(() => second.node.find(early[0]?.digest as never)?.leaf?.windowEnd);
    await second.stop();
    // The journal of transactions is lost too.
    for (const { path, state } of backups) {
      const again = await start(index, path, { batchSeconds: 0 });
      await untilReady(again.node);
      const expected = state === "running" ? "batched" : "final";
      for (const { digest } of early) expect(again.node.find(digest)?.status).toBe(expected);
      await local.control.mine({ blocks: 2 });
      const newest = await local.client.getBlockNumber();
      await until(() => ((again.node.state?.head.number ?? 0n) >= newest ? true : undefined));
      if (state === "running") await local.passTime(W0);
      const { address } = accountAt(index);
      await until(async () => ((await reader.account(address)).slots === 0n ? true : undefined));
      await again.stop();
      const journal = new SignedJournal(path, address);
      expect(journal.countWaiting()).toBe(0);
      journal.close();
      expect(journalPath(data)).not.toBe(journalPath(path));
    }
    expect(await postedBy(index)).toHaveLength(1);
  });
});
