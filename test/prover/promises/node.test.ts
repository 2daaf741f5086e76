/** A node that signs, on a chain with the real contracts: its key, its stake, its batches, and what attackers and crashes
 *  do to them. */

import { cpSync } from "node:fs";
import { join } from "node:path";
import { parseEther } from "viem";
import { beforeAll, describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../../base/bytes.ts";
import { SILENT } from "../../../base/log.ts";
import type { Presented } from "../../../protocol/rules/promises/presented.ts";
import { openDatabase } from "../../../protocol/service/journal/database.ts";
import { Metrics } from "../../../protocol/service/metrics/metrics.ts";
import { Line } from "../../../prover/http/line.ts";
import type { HttpParts } from "../../../prover/http/parts.ts";
import { answerSigned, type SignedCall } from "../../../prover/http/signed.ts";
import { ORDERS_SCHEMA } from "../../../prover/payment/order-store.ts";
import type { PaymentService } from "../../../prover/payment/service.ts";
import { SignedSaleStore } from "../../../prover/payment/signed-sale-store.ts";
import { SignedSales } from "../../../prover/payment/signed-sales.ts";
import { journalPath, SignedJournal } from "../../../prover/promises/journal/journal.ts";
import { SIGNED_FILE } from "../../../prover/promises/journal/schema.ts";
import type { PromiseNode } from "../../../prover/promises/node.ts";
import { temporaryFolder, tinyInput } from "../../support/deploy.ts";
import { payment, refused, taken } from "../../support/orders.ts";
import { tinyOutput } from "../../support/promises/local-promises.ts";
import { refusalOf, until } from "../../support/promises/signing-node.ts";
import { type SigningWorld, STAKE, signingSuite, W0 } from "../../support/promises/signing-suite.ts";
import { systemAccount } from "../../support/system.ts";

const suite = signingSuite();
const { start, newProver, untilReady, sign, postedBy, later } = suite;
let { local, system, actions, reader } = {} as SigningWorld;
beforeAll(() => {
  ({ local, system, actions, reader } = suite.world());
});
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
    expect(await until(() => refusalOf(node, system.modelId))).toMatch(
      "its free stake is 0.4 ether, at least 0.5 ether is needed",
    );
    await expect(sign(node, 1)).rejects.toMatchObject({ code: "SIGNING_PAUSED", retryable: true });
    await system.sender.send(
      actions.deposit(systemAccount(index).address, parseEther("0.2"), `more${index}`),
    );
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
    const key = systemAccount(9).address;
    expect(await sender.send(actions.setSigner(key, soon))).toMatchObject({ status: "sent" });
    await until(() => (node.state?.boundUntil === soon ? true : undefined));
    await local.passTime(100);
    expect(await until(() => refusalOf(node, system.modelId))).toMatch("its key is bound until");
    await local.control.mine({ blocks: 3 });
    const newest = await local.client.getBlockNumber();
    await until(() => ((node.state?.head.number ?? 0n) >= newest ? true : undefined));
    expect(sender.unmined()).toEqual([]);
    expect(await reader.boundUntil(systemAccount(index).address, key)).toBe(soon);
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
    const prover = systemAccount(index).address;
    await until(async () => ((await reader.account(prover)).slots === 0n ? true : undefined));
    expect(await reader.account(prover)).toMatchObject({ free: STAKE });
    await until(() => (node.find(signed[0]?.digest as never)?.status === "final" ? true : undefined));
  });

  it("behavior: leaves that were posted in a batch that is forgotten by now are posted again, as another", async () => {
    const { index, data } = await newProver();
    const { node } = await start(index, data);
    await untilReady(node);
    const place = ({ digest }: Awaited<ReturnType<typeof sign>>) =>
      until(async () => {
        await local.control.mine({ blocks: 1 });
        return node.postedLeaf(digest);
      });
    const before = await place(await sign(node, 1, true));
    await local.passTime(W0);
    // What the node itself has seen: it looks at what is forgotten once an hour of the chain.
    await until(() => (node.runningBatches === 0 ? true : undefined));
    await local.passTime(4 * 86_400);
    // The answer is forgotten before its batch is: one that is signed between is in that batch.
    const journal = new SignedJournal(data, systemAccount(index).address);
    await until(async () => {
      await local.control.mine({ blocks: 1 });
      return journal.batch(before.batchId) === undefined ? true : undefined;
    });
    journal.close();
    const after = await place(await sign(node, 1, true));
    expect(after.payload).toBe(before.payload);
    expect(after.batchId).not.toBe(before.batchId);
    expect(after.windowEnd).toBeGreaterThan(await local.now());
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
      expect(refusalOf(node, system.modelId)).toBeUndefined();
    }
    expect(node.find(two.digest)?.leaf?.windowEnd).toBeUndefined();
    await local.passTime(W0);
    await posted(two);
    expect(await postedBy(index)).toHaveLength(2);
  });

  it("behavior: a stake that covers no batch is reported once, and batches are posted when it does", async () => {
    const { index, data } = await newProver();
    const logged: string[] = [];
    const error = (_fields: object, message: string) => void logged.push(message);
    const log = { ...SILENT, error };
    const { node } = await start(index, data, { batchSize: 1, leafBond: parseEther("0.4") }, log);
    await untilReady(node);
    const signed = await sign(node, 1, true);
    for (let blocks = 0; blocks < 3; blocks++) {
      await local.control.mine({ blocks: 1 });
      const newest = await local.client.getBlockNumber();
      await until(() => ((node.state?.head.number ?? 0n) >= newest ? true : undefined));
    }
    await until(() => (node.missingStake > 0n ? true : undefined));
    // Two slots of 0.4 ether, and half an ether that signing asks for.
    expect(node.missingStake).toBe(parseEther("0.3"));
    expect(logged).toEqual([expect.stringContaining("no batch is posted: its slots take 0.3 ether more")]);
    await system.sender.send(
      actions.deposit(systemAccount(index).address, parseEther("0.3"), `more${index}`),
    );
    await until(async () => {
      await local.control.mine({ blocks: 1 });
      return node.find(signed.digest)?.leaf?.windowEnd;
    });
    await until(() => (node.missingStake === 0n ? true : undefined));
    expect(logged).toHaveLength(1);
  });

  it("behavior: what is final and no longer owed is forgotten, also by the next process, and what is owed is not", async () => {
    const { index, data } = await newProver();
    const first = await start(index, data, { batchSize: 2 });
    await untilReady(first.node);
    const batched = await Promise.all([sign(first.node, 1, true), sign(first.node, 2, true)]);
    const place = await until(async () => {
      await local.control.mine({ blocks: 1 });
      const leaf = first.node.find((batched[0] as Presented & { digest: never }).digest)?.leaf;
      return leaf?.windowEnd === undefined ? undefined : leaf;
    });
    const id = place.batchId;
    await local.passTime(W0);
    const { address } = systemAccount(index);
    await until(async () => ((await reader.account(address)).slots === 0n ? true : undefined));
    await first.stop();
    // It waits for a batch that never comes.
    const idle = { batchSeconds: 86_400, batchSize: 1_000 };
    const second = await start(index, data, idle);
    await untilReady(second.node);
    const waiting = await sign(second.node, 3, true);
    const held = () => {
      const journal = new SignedJournal(data, address);
      const is = [journal.batch(id) !== undefined, journal.countWaiting(), journal.posted().length];
      journal.close();
      return is;
    };
    expect(held()).toEqual([true, 1, 1]);
    await second.stop();
    await local.passTime(3 * 86_400 + 7_200);
    const third = await start(index, data, { ...idle, batchSeconds: undefined });
    await until(() => (held()[0] === false ? true : undefined));
    expect(held()).toEqual([false, 0, 0]);
    expect(third.node.find(waiting.digest)).toBeUndefined();
    await third.stop();
    // Nothing of it is taken for a batch that a backup did not know.
    const fourth = await start(index, data, { batchSize: 1 });
    await untilReady(fourth.node);
    expect(held()).toEqual([false, 0, 0]);
    // The same answer as a leaf of the batch that was forgotten.
    const again = await sign(fourth.node, 1, true);
    const leaf = await until(async () => {
      await local.control.mine({ blocks: 1 });
      const found = fourth.node.find(again.digest)?.leaf;
      return found?.windowEnd === undefined ? undefined : found;
    });
    expect(leaf.batchId).not.toBe(id);
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
      later(remove);
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
      expect(refusalOf(again.node, system.modelId)).toContain("not compared with the chain");
      await untilReady(again.node);
      const expected = state === "running" ? "batched" : "final";
      for (const { digest } of early) expect(again.node.find(digest)?.status).toBe(expected);
      await local.control.mine({ blocks: 2 });
      const newest = await local.client.getBlockNumber();
      await until(() => ((again.node.state?.head.number ?? 0n) >= newest ? true : undefined));
      if (state === "running") await local.passTime(W0);
      const { address } = systemAccount(index);
      await until(async () => ((await reader.account(address)).slots === 0n ? true : undefined));
      await again.stop();
      const journal = new SignedJournal(path, address);
      expect(journal.countWaiting()).toBe(0);
      journal.close();
      expect(journalPath(data)).not.toBe(journalPath(path));
    }
    expect(await postedBy(index)).toHaveLength(1);
  });

  it("behavior: two daemons on one key sign under digests of their own, and a batch that both make is posted once", async () => {
    const { index, data } = await newProver();
    const other = temporaryFolder();
    later(other.remove);
    const options = { batchSeconds: 86_400, batchSize: 2 };
    const nodes = [await start(index, data, options), await start(index, other.path, options)];
    for (const { node } of nodes) await untilReady(node);
    const each = await Promise.all(
      nodes.map(async ({ node }) => [await sign(node, 1, true), await sign(node, 2, true)]),
    );
    const signed = each.flat();
    expect(new Set(signed.map(({ digest }) => digest)).size).toBe(4);
    for (const presented of signed) expect((await reader.check(presented)).digest).toBe(presented.digest);
    await until(async () => {
      await local.control.mine({ blocks: 1 });
      const places = each.flatMap((own, i) => own.map(({ digest }) => nodes[i]?.node.postedLeaf(digest)));
      return places.every((place) => place !== undefined) ? true : undefined;
    });
    expect(await postedBy(index)).toHaveLength(1);
  });

  it("behavior: an answer that costs is in a batch once it is paid, and not before", async () => {
    const { index, data } = await newProver();
    const { node } = await start(index, data, { batchSeconds: 86_400, batchSize: 1_000 });
    await untilReady(node);
    const answers = [refused, taken];
    const service = {
      validSeconds: 600,
      terms: async () => "terms",
      whose: (header: string) => payment("a", Number(header)),
      isSame: () => true,
      read: async (header: string) => payment("a", Number(header), Date.now() / 1_000 + 600),
      verify: async () => {},
      settle: async () => answers.shift() ?? refused,
    } as unknown as PaymentService;
    const store = new SignedSaleStore(openDatabase(`${data}/sales.sqlite`, [ORDERS_SCHEMA]));
    const sales = new SignedSales({ store, service, offer: {}, nowMs: Date.now, log: SILENT });
    const output = async (_: unknown, calldata: Uint8Array) => fromHex(tinyOutput(toHex(calldata)));
    const parts = {
      ...{ nowMs: Date.now, metrics: new Metrics(), limits: { maxRuns: 1, runTimeoutSeconds: 60 } },
      ...{ chain: system.chain, signing: { node, sales, runs: { output } } },
    } as unknown as HttpParts;
    const line = new Line(parts);
    const call = (nonce: number, isBatched: boolean) =>
      answerSigned(parts, line, {
        ...{ model: { kind: "program", id: system.modelId }, isBatched },
        calldata: fromHex(tinyInput([8, 8, 8, 8])),
        request: { query: {}, get: () => `${nonce}` },
        response: { setHeader: () => {}, once: () => {}, on: () => {}, off: () => {} },
      } as unknown as SignedCall);
    await expect(call(1, true)).rejects.toMatchObject({ code: "PAYMENT_REFUSED" });
    expect(node.waitingLeaves).toBe(0);
    const { signed } = await call(2, false);
    expect(node.waitingLeaves).toBe(0);
    // Paid for already: the same claim, and once in a batch.
    for (let calls = 0; calls < 2; calls++) {
      expect((await call(2, true)).signed).toEqual(signed);
      expect(node.waitingLeaves).toBe(1);
    }
  });
});
