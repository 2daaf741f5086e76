/** One connection over several nodes: what counts as agreed, and what proofs decide. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createPublicClient, createTestClient, createWalletClient, type Hex, http, numberToHex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BaseError } from "../../../../base/errors.ts";
import { chainError } from "../../../../protocol/chain/errors.ts";
import { quorumOf } from "../../../../protocol/chain/quorum/connect.ts";
import { httpNode, type RpcCall, type RpcNode } from "../../../../protocol/chain/quorum/nodes.ts";
import {
  type RpcLog,
  type RpcReceipt,
  receiptsRoot,
} from "../../../../protocol/chain/quorum/receipts-root.ts";
import { Quorum } from "../../../../protocol/chain/quorum/transport.ts";
import { accountAt, type LocalChain, startLocalChain } from "../../../support/anvil.ts";
import {
  CLAIMED,
  CONTRACT,
  extend,
  logsOf,
  type NodeView,
  type WorldBlock,
  type WorldChain,
  word,
  worldNode,
} from "../../../support/quorum-world.ts";
import { createRng } from "../../../support/rng.ts";

const OPTIONS = { timeoutMs: 100, graceMs: 5 };
const LOGS = {
  method: "eth_getLogs",
  params: [{ fromBlock: "0x0", toBlock: "0x1", address: CONTRACT, topics: [] }],
};
let world: WorldChain;

beforeAll(async () => {
  world = await extend(await extend([], [{ id: 1, output: 3 }]), [
    { id: 2, output: 4 },
    { id: 3, output: 5 },
  ]);
});

function over(views: readonly Partial<NodeView>[], quorum?: number): Quorum {
  const nodes = views.map((view, index) =>
    worldNode(`node ${index + 1}`, { chain: world, servesReceipts: true, ...view }, createRng(index)),
  );
  return new Quorum(nodes, { ...OPTIONS, quorum });
}

const idsOf = (logs: unknown) => (logs as { topics: Hex[] }[]).map(({ topics }) => Number(topics[1]));
const faultsOf = ({ nodes }: Quorum) => nodes.status().map(({ fault }) => fault);

/** Answers what it is given for a method, and everything else as the world's nodes do. */
function answering(method: string, answer: (call: RpcCall) => unknown, index = 0): RpcNode {
  const honest = worldNode("", { chain: world, servesReceipts: true }, createRng(1));
  return {
    name: `node ${index + 1}`,
    request: async (call) => (call.method === method ? answer(call) : honest.request(call)),
  };
}

const isReceipts = ({ method }: RpcCall): boolean => method === "eth_getBlockReceipts";

const refuses = (method: string, { name, request }: RpcNode): RpcNode => ({
  name,
  request: (call) =>
    call.method === method ? Promise.reject(new Error(`no ${method} here`)) : request(call),
});

describe("logs", () => {
  test("behavior: one node that gives the receipts outvotes two that leave the same logs out", async () => {
    const liars = [0, 1].map((index) =>
      answering("eth_getLogs", () => logsOf(world[0] as WorldBlock), index),
    );
    const refusing = liars.map((node) => refuses("eth_getBlockReceipts", node));
    const quorum = new Quorum([...refusing, answering("", () => null, 2)], OPTIONS);
    expect(idsOf(await quorum.request(LOGS))).toEqual([1, 2, 3]);
    expect(faultsOf(quorum)).toEqual(["contradicts", "contradicts", undefined]);
  });

  test("behavior: by a block's hash, too", async () => {
    const liars = [0, 1].map((index) => answering("eth_getLogs", () => [], index));
    const refusing = liars.map((node) => refuses("eth_getBlockReceipts", node));
    const quorum = new Quorum([...refusing, answering("", () => null, 2)], OPTIONS);
    const filter = { blockHash: world[1]?.hash, address: CONTRACT };
    expect(idsOf(await quorum.request({ method: "eth_getLogs", params: [filter] }))).toEqual([2, 3]);
    const unknown = { method: "eth_getLogs", params: [{ blockHash: word(5) }] };
    await expect(over([{}, {}, {}]).request(unknown)).rejects.toMatchObject({ code: "NO_QUORUM" });
  });

  test("behavior: where nobody gives receipts, the quorum decides and names who differs", async () => {
    const less = [{ ...world[0] }, { ...world[1], claims: [] }] as WorldChain;
    const quorum = over([
      { servesReceipts: false },
      { servesReceipts: false },
      { chain: less, servesReceipts: false },
    ]);
    expect(idsOf(await quorum.request(LOGS))).toEqual([1, 2, 3]);
    const two = over([{ servesReceipts: false }, { chain: less, servesReceipts: false }]);
    await expect(two.request(LOGS)).rejects.toMatchObject({ code: "NO_QUORUM", retryable: true });
  });

  test("behavior: receipts that are not the header's prove nothing", async () => {
    const liars = [0, 1].map((index) => {
      const node = answering("eth_getLogs", () => [], index);
      return { ...node, request: async (call: RpcCall) => (isReceipts(call) ? [] : node.request(call)) };
    });
    const honest = worldNode("node 3", { chain: world, servesReceipts: true }, createRng(3));
    const quorum = new Quorum([...liars, honest], OPTIONS);
    expect(idsOf(await quorum.request(LOGS))).toEqual([1, 2, 3]);
  });

  test("behavior: a node's limit on ranges comes through where there is no quorum without it", async () => {
    const limited = (index: number) =>
      answering(
        "eth_getLogs",
        () => Promise.reject(Object.assign(new Error("block range too large"), { code: -32_005 })),
        index,
      );
    const { request } = createPublicClient({
      transport: new Quorum([limited(0), limited(1)], OPTIONS).transport,
    });
    await expect(request(LOGS as never)).rejects.toThrow(/block range too large|limit/i);
  });
});

describe("logs, proven", () => {
  const differing = (count: number, made: (logs: RpcLog[]) => unknown[]) =>
    Array.from({ length: count }, (_, index) =>
      index === 0
        ? answering("eth_getLogs", () => made(world.flatMap(logsOf)), index)
        : answering("", () => null, index),
    );

  test("behavior: logs outside of the range, of another filter or at another place are no answer", async () => {
    const quorum = new Quorum(
      differing(3, (logs) => logs),
      OPTIONS,
    );
    const [first] = LOGS.params;
    const narrow = { ...LOGS, params: [{ ...first, toBlock: "0x0" }] };
    expect(idsOf(await quorum.request(narrow))).toEqual([1]);
    const filtered = new Quorum(
      [0, 1].map((index) =>
        answering("eth_getLogs", () => (index === 0 ? [] : logsOf(world[1] as WorldBlock).slice(1)), index),
      ),
      OPTIONS,
    );
    const topics = [CLAIMED, [word(3), word(9)]];
    expect(idsOf(await filtered.request({ ...LOGS, params: [{ ...first, topics }] }))).toEqual([3]);
    const moved = new Quorum(
      differing(3, (logs) => logs.map((log) => ({ ...log, logIndex: "0x9" }))),
      OPTIONS,
    );
    expect((await moved.request(LOGS)) as object[]).toMatchObject([
      { logIndex: "0x0" },
      { logIndex: "0x0" },
      { logIndex: "0x1" },
    ]);
    expect(faultsOf(moved)).toEqual(["contradicts", undefined, undefined]);
  });

  test("error: proofs do not stand in for nodes that say nothing", async () => {
    const nodes = differing(2, () => []);
    const silent = [2, 3, 4].map((index) =>
      refuses(
        "eth_getLogs",
        answering("", () => null, index),
      ),
    );
    await expect(new Quorum([...nodes, ...silent], OPTIONS).request(LOGS)).rejects.toMatchObject({
      code: "NO_QUORUM",
    });
  });
});

describe("numbers and heads", () => {
  const HEAD = { method: "eth_getBlockByNumber", params: ["latest", false] };
  const later = ({ name, request }: RpcNode): RpcNode => ({
    name,
    request: async (call) => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      return request(call);
    },
  });
  const hashOf = async (quorum: Quorum) => ((await quorum.request(HEAD)) as { hash: Hex }).hash;

  test("behavior: slow nodes are waited for where the fast ones are too few, or far behind", async () => {
    let long = world;
    while (long.length < 12) long = await extend(long, []);
    const nodes = [world, long, long].map((chain, index) =>
      worldNode(`node ${index + 1}`, { chain, servesReceipts: true }, createRng(1)),
    ) as [RpcNode, RpcNode, RpcNode];
    const [stale, fresh, slow] = [nodes[0], nodes[1], later(nodes[2])];
    const behind = new Quorum([stale, fresh, slow], { timeoutMs: 5_000, graceMs: 1 });
    expect(await hashOf(behind)).toBe(long.at(-1)?.hash);
    expect(faultsOf(behind)).toEqual(["behind", undefined, undefined]);
    const few = new Quorum([fresh, slow, later(nodes[2])], { timeoutMs: 5_000, graceMs: 1 });
    expect(await hashOf(few)).toBe(long.at(-1)?.hash);
  });

  test("behavior: nodes with three different tips agree on the block below", async () => {
    const views = await Promise.all(
      [1, 2, 3].map(async () => ({ chain: await extend(await extend(world, []), []) })),
    );
    expect(await hashOf(over(views))).toBe(world.at(-1)?.hash);
  });

  test("behavior: a node that never answers is named", async () => {
    const quorum = over([{ fault: "slow" }, {}, {}]);
    await quorum.request(HEAD);
    await expect.poll(() => faultsOf(quorum)).toEqual(["silent", undefined, undefined]);
  });

  test("behavior: fewer liars than the quorum move no estimate beyond what honest nodes say", async () => {
    for (const lie of ["0x0", "0xffffffffffff", "no number", null, {}]) {
      const nodes = [lie, "0x10", "0x12"].map((answer, index) =>
        answering("eth_gasPrice", () => answer, index),
      );
      const found = await new Quorum(nodes, OPTIONS).request({ method: "eth_gasPrice" });
      expect(["0x10", "0x12"], String(lie)).toContain(found);
    }
  });

  test("behavior: a head that only one node has is passed over, and its maker is no obstacle", async () => {
    const quorum = over([{ fault: "far-head" }, {}, {}]);
    const head = (await quorum.request({ method: "eth_getBlockByNumber", params: ["latest", false] })) as {
      hash: Hex;
    };
    expect(head.hash).toBe(world.at(-1)?.hash);
  });

  test("behavior: a call at the newest block is asked of all at its hash", async () => {
    const asked: unknown[] = [];
    const nodes = [0, 1].map((index) =>
      answering(
        "eth_call",
        ({ params }) => {
          asked.push((params as unknown[])[1]);
          return "0x01";
        },
        index,
      ),
    );
    await new Quorum(nodes, OPTIONS).request({ method: "eth_call", params: [{ to: CONTRACT }, "latest"] });
    expect(asked).toEqual([{ blockHash: world[1]?.hash }, { blockHash: world[1]?.hash }]);
  });

  test("error: without a quorum each node's view is named, without its secrets", async () => {
    const quorum = new Quorum(
      ["0x01", "0x02"].map((answer, index) => answering("eth_call", () => answer, index)),
      OPTIONS,
    );
    const asking = quorum.request({ method: "eth_call", params: [{}, { blockHash: world[1]?.hash }] });
    await expect(asking).rejects.toThrow(
      /No 2 of 2 nodes agree on eth_call: node 1 says "0x01"; node 2 says "0x02"/,
    );
    expect(httpNode("https://user:pass@rpc.example/v3/key?token=1", 0, {}).name).toBe(
      "https://rpc.example (1)",
    );
  });

  test("behavior: a node whose connection breaks is asked once more, and one that refuses or breaks again is not", async () => {
    let asked = 0;
    let answer: (response: ServerResponse, request: IncomingMessage) => void = () => undefined;
    const server = createServer(async (request, response) => {
      asked += 1;
      for await (const _ of request);
      answer(response, request);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const node = httpNode(`http://127.0.0.1:${port}`, 0, {});
    const call = { method: "eth_chainId" };
    // A server closes what it kept open when the next question is on its way.
    answer = (response, request) => {
      if (asked === 1) request.socket.destroy();
      else response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result: "0x1" }));
    };
    expect(await node.request(call)).toBe("0x1");
    expect(asked).toBe(2);
    answer = (response) => response.writeHead(503).end();
    await expect(node.request(call)).rejects.toThrow();
    expect(asked).toBe(3);
    answer = (_, request) => request.socket.destroy();
    await expect(node.request(call)).rejects.toThrow();
    expect(asked).toBe(5);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  test("error: a quorum that two could contradict, or that cannot come about", () => {
    for (const [nodes, quorum] of [
      [3, 1],
      [4, 2],
      [2, 3],
      [3, 0],
      [3, 1.5],
    ] as const) {
      expect(() => over(Array(nodes).fill({}), quorum)).toThrow(
        expect.objectContaining({ code: "QUORUM_INVALID" }),
      );
    }
    expect([2, 3, 4, 5].map((nodes) => over(Array(nodes).fill({})).quorum)).toEqual([2, 2, 3, 3]);
    expect(quorumOf({ rpcUrl: "http://127.0.0.1:1" })).toBeUndefined();
    expect(() => quorumOf({ rpcUrl: "http://127.0.0.1:1", quorum: 2 })).toThrow(BaseError);
  });
});

describe("on a chain", () => {
  let local: LocalChain;
  beforeAll(async () => {
    local = await startLocalChain();
  });
  afterAll(() => local?.stop());

  test("default: the receipts' root is the header's, for every type of transaction and many logs", async () => {
    const account = accountAt(1);
    const wallet = createWalletClient({ account, transport: http(local.rpcUrl) });
    const control = createTestClient({ mode: "anvil", transport: http(local.rpcUrl) });
    await control.setAutomine(false);
    // Emits one log with its calldata.
    const code: Hex = "0x6008600c60003960086000f3365f5f37365fa000";
    for (let index = 0; index < 140; index += 1) {
      const isDeploy = index === 0;
      await wallet.sendTransaction({
        chain: null,
        nonce: index,
        gas: 200_000n,
        data: isDeploy ? code : numberToHex(index),
        ...(isDeploy ? {} : { to: "0x8464135c8F25Da09e49BC8782676a84730C318bC" as Hex }),
        ...(index % 3 === 0
          ? { gasPrice: 10n ** 11n, type: "legacy" }
          : index % 3 === 1
            ? { gasPrice: 10n ** 11n, type: "eip2930", accessList: [] }
            : {}),
      } as never);
    }
    await control.mine({ blocks: 1 });
    const block = await local.client.getBlock();
    const receipts = (await local.client.request({
      method: "eth_getBlockReceipts",
      params: [numberToHex(block.number)],
    } as never)) as RpcReceipt[];
    expect(receipts.flatMap(({ logs }) => logs).length).toBeGreaterThan(100);
    expect(await receiptsRoot(receipts)).toBe(block.receiptsRoot);
    const [first, ...rest] = receipts as [RpcReceipt, ...RpcReceipt[]];
    expect(await receiptsRoot([{ ...first, status: "0x0" }, ...rest])).not.toBe(block.receiptsRoot);
  });

  test("behavior: a transaction goes to all nodes, and one that takes it is enough", async () => {
    const [node, dead] = [
      httpNode(local.rpcUrl, 0, {}),
      httpNode("http://127.0.0.1:9", 1, { retryCount: 0 }),
    ];
    const client = createPublicClient({ transport: new Quorum([node, dead, node], OPTIONS).transport });
    const wallet = createWalletClient({ account: accountAt(2), transport: http(local.rpcUrl) });
    const request = await wallet.prepareTransactionRequest({
      chain: null,
      to: accountAt(3).address,
      value: 1n,
    });
    const raw = await wallet.signTransaction(request as never);
    expect(await client.sendRawTransaction({ serializedTransaction: raw })).toMatch(/^0x[0-9a-f]{64}$/);
    const nowhere = createPublicClient({ transport: new Quorum([dead, dead], OPTIONS).transport });
    const refused = nowhere
      .sendRawTransaction({ serializedTransaction: raw })
      .catch((error) => chainError(error, "send"));
    expect(await refused).toMatchObject({ retryable: true });
  });
});
