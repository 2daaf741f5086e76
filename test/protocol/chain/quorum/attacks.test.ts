/** What one lying node of three may try, and one of five beside a silent one: each attack was seen to succeed before. */
import { createPublicClient, type Hex, keccak256, numberToHex, RpcRequestError } from "viem";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { decodeRevert } from "../../../../protocol/chain/errors.ts";
import { EventFollower } from "../../../../protocol/chain/follower.ts";
import type { RpcCall, RpcNode } from "../../../../protocol/chain/quorum/nodes.ts";
import { Quorum } from "../../../../protocol/chain/quorum/transport.ts";
import { BlockRanges } from "../../../../protocol/chain/ranges.ts";
import {
  CONTRACT,
  extend,
  inCapitals,
  logsOf,
  type NodeView,
  type WorldBlock,
  type WorldChain,
  worldNode,
} from "../../../support/quorum-world.ts";
import { createRng } from "../../../support/rng.ts";

const OPTIONS = { timeoutMs: 100, graceMs: 5 };
/** Of a test that would wait for ever. */
const PATIENT = { timeoutMs: 3_600_000, graceMs: 1 };
const HEAD = { method: "eth_getBlockByNumber", params: ["latest", false] };
const LOGS = { method: "eth_getLogs", params: [{ fromBlock: "0x0", toBlock: "0x1", address: CONTRACT }] };
let world: WorldChain;

beforeAll(async () => {
  world = await extend(await extend([], [{ id: 1, output: 3 }]), [{ id: 2, output: 4 }]);
});
afterEach(() => void vi.useRealTimers());

const honest = (view: Partial<NodeView> = {}): RpcNode =>
  worldNode("honest", { chain: world, servesReceipts: true, ...view }, createRng(1));

/** Answers otherwise than an honest node where it is told so. */
function lying(lie: (call: RpcCall, right: () => Promise<unknown>) => unknown, node = honest()): RpcNode {
  return { name: "liar", request: async (call) => lie(call, () => node.request(call)) };
}

/** Answers behind whoever does not wait. */
const later = ({ name, request }: RpcNode): RpcNode => ({
  name,
  request: async (call) => {
    for (let turn = 0; turn < 100; turn += 1) await null;
    return request(call);
  },
});

const never = () => new Promise<never>(() => undefined);
/** The liar is the fastest. */
const besides = (liar: RpcNode, options = OPTIONS): Quorum =>
  new Quorum([liar, later(honest()), later(honest())], options);

describe("a lying node that answers first", () => {
  const receipt = {
    ...{
      transactionHash: keccak256("0x01"),
      blockHash: keccak256("0x02"),
      blockNumber: "0x1",
      status: "0x1",
    },
    ...{ gasUsed: "0x5208", from: CONTRACT, to: null, logs: [], contractAddress: CONTRACT },
    ...{ effectiveGasPrice: "0x7", cumulativeGasUsed: "0x5208", transactionIndex: "0x0", type: "0x2" },
  };
  const receiptCall = { method: "eth_getTransactionReceipt", params: [receipt.transactionHash] };
  const withReceipt = (node: RpcNode): RpcNode => ({
    ...node,
    request: (call) => (call.method === receiptCall.method ? Promise.resolve(receipt) : node.request(call)),
  });
  const eachLog = (change: object) => (logs: unknown) =>
    (logs as object[]).map((log) => ({ ...log, ...change }));

  test.each<[string, RpcCall, (right: unknown) => unknown]>([
    ["a block's hash in capitals: a re-org, it seems, at every look", HEAD, inCapitals],
    ["logs' hashes in capitals", LOGS, inCapitals],
    ["logs at the number of another block", LOGS, eachLog({ blockNumber: "0xffff" })],
    ["logs of a pending block", LOGS, eachLog({ blockNumber: null })],
    ["logs that were removed", LOGS, eachLog({ removed: true })],
    [
      "a receipt's contract: the feed that was just deployed",
      receiptCall,
      (right) => ({ ...(right as object), contractAddress: `0x${"ee".repeat(20)}` }),
    ],
    [
      "a receipt's price",
      receiptCall,
      (right) => ({ ...(right as object), effectiveGasPrice: "0xffffffff" }),
    ],
    [
      "a header's miner: no receipt is proven by it",
      HEAD,
      (right) => ({ ...(right as object), miner: CONTRACT }),
    ],
  ])("error: %s", async (_name, call, lie) => {
    const nodes = [
      lying(
        async (asked, right) => (asked.method === call.method ? lie(await right()) : right()),
        withReceipt(honest()),
      ),
      later(withReceipt(honest())),
      later(withReceipt(honest())),
    ];
    const right = await new Quorum(nodes.slice(1), OPTIONS).request(call);
    expect(await new Quorum(nodes, OPTIONS).request(call)).toEqual(right);
  });

  test("error: an answer that is nested a hundred thousand deep, which ended the process", async () => {
    const nested = honest({ fault: "nested" });
    for (const call of [HEAD, LOGS, { method: "eth_call", params: [{ data: numberToHex(1) }, "latest"] }]) {
      const quorum = besides(nested);
      expect(await quorum.request(call)).toEqual(
        await new Quorum([honest(), honest()], OPTIONS).request(call),
      );
    }
  });

  test("error: another hash for a transaction that is sent: its receipt never comes", async () => {
    const raw: Hex = "0x02c0";
    const call = { method: "eth_sendRawTransaction", params: [raw] };
    const takes = (hash: Hex) => lying(() => hash);
    const nodes = [takes(keccak256("0xee")), takes(keccak256(raw)), takes(keccak256(raw))];
    expect(await new Quorum(nodes, OPTIONS).request(call)).toBe(keccak256(raw));
  });

  test("error: a million receipts for a block of one transaction are not hashed", async () => {
    let hashed = 0;
    const flood = Array.from({ length: 10_000 }, () => ({
      get status() {
        hashed += 1;
        return "0x1";
      },
      ...{ cumulativeGasUsed: "0x1", logsBloom: "0x", logs: [] },
    }));
    const liar = lying(({ method }, right) =>
      method === "eth_getLogs" ? [] : method === "eth_getBlockReceipts" ? flood : right(),
    );
    // An honest node whose newest block has not come yet gives no logs of it.
    const behind = lying(async ({ method }, right) =>
      method === "eth_getLogs" ? logsOf(world[0] as WorldBlock) : right(),
    );
    const quorum = new Quorum([liar, behind, honest()], OPTIONS);
    expect(await quorum.request(LOGS)).toHaveLength(2);
    expect(hashed).toBe(0);
  });
});

describe("a node that makes the others wait", () => {
  test("error: receipts that never come, while the others agree without them", async () => {
    const liar = lying(({ method }, right) =>
      method === "eth_getLogs" ? [] : method === "eth_getBlockReceipts" ? never() : right(),
    );
    const without = { servesReceipts: false };
    const quorum = new Quorum([liar, honest(without), honest(without)], OPTIONS);
    expect(await quorum.request(LOGS)).toHaveLength(2);
  });

  test("error: a head far away, beside a silent node of five: every question took the whole patience", async () => {
    const far = honest({ fault: "far-head" });
    const nodes = [far, honest({ fault: "slow" }), honest(), honest(), honest()];
    expect(await new Quorum(nodes, PATIENT).request(HEAD)).toMatchObject({ hash: world.at(-1)?.hash });
  });

  test("error: one that gives its head and nothing else is waited for once", async () => {
    vi.useFakeTimers();
    const liar = lying(({ method }, right) => (method === "eth_call" ? never() : right()));
    const quorum = besides(liar, { timeoutMs: 1_000, graceMs: 500 });
    const call = { method: "eth_call", params: [{ data: numberToHex(1) }, { blockHash: world[1]?.hash }] };
    const ask = async (): Promise<number> => {
      const before = Date.now();
      const answered = quorum.request(call);
      await vi.advanceTimersByTimeAsync(500);
      await answered;
      return Date.now() - before;
    };
    await ask();
    await vi.advanceTimersByTimeAsync(500);
    await quorum.request(HEAD);
    let isAnswered = false;
    const again = quorum.request(call).then(() => {
      isAnswered = true;
    });
    await vi.advanceTimersByTimeAsync(0);
    expect(isAnswered).toBe(true);
    await again;
  });
});

describe("a re-org that one node has not seen yet", () => {
  test("error: a liar that takes sides, block by block, and hides a claim for ever", async () => {
    const below = await extend(world, []);
    const canonical = await extend(await extend(below, [{ id: 7, output: 1 }]), []);
    const fork = await extend(below, []);
    let isReading = true;
    const [ours, theirs] = [honest({ chain: canonical }), honest({ chain: fork })];
    // Of the newest block it says what is true, of the logs what the node says that is behind.
    const liar = lying(
      (call, right) => (call.method === "eth_getLogs" && isReading ? theirs.request(call) : right()),
      ours,
    );
    // Where the range ends above its head, a node gives what it has.
    const short = lying(async (call, right) => {
      const [filter] = call.params as [{ fromBlock?: Hex; toBlock?: Hex }];
      if (call.method !== "eth_getLogs" || filter.toBlock === undefined) return right();
      const last = BigInt(filter.toBlock) < 3n ? filter.toBlock : "0x3";
      return theirs.request({ ...call, params: [{ ...filter, toBlock: last }] });
    }, theirs);
    const sides = lying(
      (call, right) => (call.method === "eth_getLogs" && isReading ? short.request(call) : right()),
      liar,
    );
    const view = { behind: short };
    const slow = lying(async ({ method }, right) => {
      if (method === "eth_getLogs" && isReading) await new Promise((resolve) => setTimeout(resolve, 50));
      return right();
    }, ours);
    const behind: RpcNode = { name: "behind", request: (call) => view.behind.request(call) };
    // The node that is right is the slowest: two others are enough.
    const quorum = new Quorum([sides, behind, slow], { timeoutMs: 100, graceMs: 0 });
    const client = createPublicClient({ transport: quorum.transport, cacheTime: 0 });
    const chain = {
      ...{ client, quorum, ranges: new BlockRanges() },
      deployment: { block: { number: 0n }, contracts: { assay: CONTRACT, registry: CONTRACT } },
    };
    const seen: Hex[] = [];
    const source = {
      addresses: [CONTRACT],
      decode: (logs: readonly { topics: Hex[]; blockNumber: bigint; blockHash: Hex }[]) =>
        logs.map((log) => {
          seen.push(log.topics[1] as Hex);
          return { block: { number: log.blockNumber, hash: log.blockHash } };
        }),
    };
    const follower = new EventFollower(chain as never, {}, source as never);
    const follow = async () => {
      for (let batch = await follower.next(); batch !== undefined; batch = await follower.next())
        follower.advance(batch);
    };
    await follow().catch((error: unknown) => expect(error).toMatchObject({ retryable: true }));
    view.behind = ours;
    isReading = false;
    await follow();
    expect(seen.map(Number)).toContain(7);
  });
});

describe("nodes of different makers", () => {
  const data = "0x08c379a00000000000000000000000000000000000000000000000000000000000000020";
  const error = (code: number, message: string, of?: unknown) =>
    new RpcRequestError({ body: {}, url: "http://node", error: { code, message, data: of } });

  test.each([
    ["geth, erigon, reth", error(3, "execution reverted", data)],
    ["besu", error(-32_000, "Execution reverted", data)],
    ["older nethermind", error(-32_015, "VM execution error.", `Reverted ${data}`)],
    ["hardhat", error(-32_603, "reverted with an unrecognized custom error", { data })],
  ])("behavior: %s and geth agree that a call reverts", async (_maker, reverted) => {
    const reverts = lying(({ method }, right) =>
      method === "eth_call" ? Promise.reject(reverted) : right(),
    );
    const geth = lying(({ method }, right) =>
      method === "eth_call" ? Promise.reject(error(3, "execution reverted", data)) : right(),
    );
    const call = { method: "eth_call", params: [{ data: numberToHex(1) }, "latest"] };
    const asked = new Quorum([reverts, geth], OPTIONS).request(call);
    expect(decodeRevert(await asked.catch((refusal: unknown) => refusal))).toBeDefined();
  });
});
