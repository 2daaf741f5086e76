/** Where most nodes lie alike about a block's state, one that proves what it says is believed: on a real chain. */
import { createPublicClient, type Hex, http, keccak256, numberToHex, toHex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decodeRevert } from "../../../../protocol/chain/errors.ts";
import type { RpcCall, RpcNode } from "../../../../protocol/chain/quorum/nodes.ts";
import { Quorum } from "../../../../protocol/chain/quorum/transport.ts";
import { StateReader } from "../../../../protocol/chain/reads.ts";
import { type LocalChain, startLocalChain } from "../../../support/anvil.ts";
import { openLocalSystem } from "../../../support/deploy.ts";
import { createRng } from "../../../support/rng.ts";

const OPTIONS = { timeoutMs: 60_000, graceMs: 30_000 };
/** Gives the word of its storage that it is asked for. */
const READER: Hex = "0x00000000000000000000000000000000000000ad";
const READER_CODE: Hex = "0x5f355460005260205ff3";
/** Reverts with what it is given. */
const REFUSER: Hex = "0x00000000000000000000000000000000000000ae";
const REFUSER_CODE: Hex = "0x365f5f37365ffd";
/** Never ends. */
const LOOP: Hex = "0x00000000000000000000000000000000000000af";
const LOOP_CODE: Hex = "0x5b5f56";
/** Reads 100 words. */
const GREEDY: Hex = "0x00000000000000000000000000000000000000b0";
const GREEDY_CODE: Hex = `0x${Array.from({ length: 100 }, (_, i) => `60${(i + 1).toString(16).padStart(2, "0")}5450`).join("")}60205ff3`;
/** Gives the hash of the block before. */
const ANCESTOR: Hex = "0x00000000000000000000000000000000000000b1";
const ANCESTOR_CODE: Hex = "0x60014303405f5260205ff3";
/** Takes 12,000,000 gas. */
const LONG: Hex = "0x00000000000000000000000000000000000000b2";
const LONG_CODE: Hex = "0x62070a005b600190038060045700";
/** Gives whether LONG succeeds. */
const CALLER: Hex = "0x00000000000000000000000000000000000000b3";
const CALLER_CODE: Hex = "0x5f5f5f5f5f60b25af15f5260205ff3";
const NOBODY: Hex = "0x00000000000000000000000000000000deadbeef";
/** Error(string) is what contracts revert with that name no error. */
const REASON: Hex = "0x08c379a0";

/** keccak256 of the RLP of nothing. */
const EMPTY_ROOT = keccak256("0x80");

type Request = (call: RpcCall) => Promise<unknown>;

let chain: LocalChain;
let hash: Hex;
const slots: Hex[] = [];

beforeAll(async () => {
  chain = await startLocalChain();
  const { control } = chain;
  for (const [address, bytecode] of [
    [READER, READER_CODE],
    [REFUSER, REFUSER_CODE],
    [LOOP, LOOP_CODE],
    [GREEDY, GREEDY_CODE],
    [ANCESTOR, ANCESTOR_CODE],
    [LONG, LONG_CODE],
    [CALLER, CALLER_CODE],
  ] as const)
    await control.setCode({ address, bytecode });
  await control.setBalance({ address: READER, value: 12_345n });
  const rng = createRng(7);
  for (let i = 0; i < 40; i++) {
    const index = keccak256(numberToHex(i));
    slots.push(index);
    if (i % 4 === 3) continue;
    const value = numberToHex(rng.chance(0.5) ? rng.int(1, 300) : 2n ** BigInt(rng.int(8, 255)), {
      size: 32,
    });
    await control.setStorageAt({ address: READER, index, value });
  }
  await control.mine({ blocks: 1 });
  hash = (await chain.client.getBlock()).hash;
});
afterAll(() => chain?.stop());

const honest: Request = (call) => http(chain.rpcUrl)({ retryCount: 0 }).request(call as never);
const node = (name: string, request: Request): RpcNode => ({ name, request });
/** Answers alike to one method, and as the chain otherwise. */
const liar =
  (method: string, lie: (right: Request, call: RpcCall) => unknown): Request =>
  async (call) =>
    call.method === method ? lie(honest, call) : honest(call);

/** Two that lie alike, and one that does not. */
const outvoted = (lying: Request, last: Request = honest): Quorum =>
  new Quorum([node("liar 1", lying), node("liar 2", lying), node("honest", last)], OPTIONS);

const faultsOf = ({ nodes }: Quorum) => nodes.status().map(({ fault }) => fault);
const LIARS_FOUND = ["contradicts", "contradicts", undefined];
const at = (address: Hex, data: Hex = "0x"): RpcCall => ({
  method: "eth_call",
  params: [{ to: address, data }, { blockHash: hash }],
});

describe("one honest node among two that lie alike", () => {
  test("default: each word of a contract is what the chain has, also where it has none", async () => {
    for (const slot of slots) {
      const right = await honest(at(READER, slot));
      const quorum = outvoted(liar("eth_call", () => numberToHex(77, { size: 32 })));
      expect(await quorum.request(at(READER, slot))).toBe(right);
      expect(faultsOf(quorum)).toEqual(LIARS_FOUND);
    }
  });

  test.each<[string, readonly unknown[], unknown]>([
    ["eth_getBalance", [READER], "0x1"],
    ["eth_getBalance", [NOBODY], "0x1"],
    ["eth_getTransactionCount", [NOBODY], "0x7"],
    ["eth_getCode", [READER], "0x00"],
    ["eth_getCode", [NOBODY], "0x5b"],
    ["eth_getStorageAt", [READER, keccak256("0x01")], numberToHex(1, { size: 32 })],
    ["eth_getStorageAt", [READER, "0x0"], numberToHex(1, { size: 32 })],
  ])("default: %s of %s", async (method, params, lie) => {
    const call = { method, params: [...params, { blockHash: hash }] };
    const quorum = outvoted(liar(method, () => lie));
    expect(await quorum.request(call)).toBe(await honest(call));
    expect(faultsOf(quorum)).toEqual(LIARS_FOUND);
  });

  test("default: at the newest block, the words of the system", async () => {
    const system = await openLocalSystem(chain);
    try {
      const word = await new StateReader(system.chain).model(system.modelId);
      expect(word).toBeDefined();
      const quorum = outvoted(liar("eth_call", () => toHex(0, { size: 32 })));
      const client = createPublicClient({ transport: quorum.transport });
      const reader = new StateReader({ ...system.chain, client } as never);
      expect(await reader.model(system.modelId)).toEqual(word);
      expect(faultsOf(quorum)).toEqual(LIARS_FOUND);
    } finally {
      await system.close();
    }
  });

  test("behavior: a revert that they deny, and one that they make up", async () => {
    const denied = outvoted(liar("eth_call", () => "0x"));
    await expect(denied.request(at(REFUSER, REASON))).rejects.toSatisfy(
      (error) => decodeRevert(error) !== undefined,
    );
    expect(faultsOf(denied)).toEqual(LIARS_FOUND);
    const madeUp = outvoted(liar("eth_call", (right) => right(at(REFUSER, REASON))));
    const slot = slots[0] as Hex;
    expect(await madeUp.request(at(READER, slot))).toBe(await honest(at(READER, slot)));
  });

  test.each<[string, (answer: Record<string, unknown>) => unknown, string]>([
    [
      "nodes of a trie",
      ({ accountProof, storageProof }) => ({
        accountProof: (accountProof as Hex[]).map((one) => `${one.slice(0, -2)}aa`),
        storageProof,
      }),
      "eth_getProof",
    ],
    ["no proof", () => ({ accountProof: [], storageProof: [] }), "eth_getProof"],
    ["a state root", (block) => ({ ...block, stateRoot: keccak256("0x") }), "eth_getBlockByHash"],
    ["a code", () => "0x5b5b", "eth_getCode"],
  ])("behavior: %s of their own proves nothing", async (_what, forge, method) => {
    const lying: Request = async (call) => {
      if (call.method === "eth_call") return numberToHex(77, { size: 32 });
      const right = await honest(call);
      return call.method === method ? forge(right as Record<string, unknown>) : right;
    };
    const quorum = outvoted(lying);
    const slot = slots[1] as Hex;
    expect(await quorum.request(at(READER, slot))).toBe(await honest(at(READER, slot)));
    expect(faultsOf(quorum)).toEqual(LIARS_FOUND);
  });

  test("behavior: a block without any state, under the right hash, proves nothing", async () => {
    const lying: Request = async (call) => {
      if (call.method === "eth_call") return "0x";
      const right = await honest(call);
      return call.method === "eth_getBlockByHash" ? { ...(right as object), stateRoot: EMPTY_ROOT } : right;
    };
    const quorum = outvoted(lying);
    const slot = slots[1] as Hex;
    expect(await quorum.request(at(READER, slot))).toBe(await honest(at(READER, slot)));
    expect(faultsOf(quorum)).toEqual(LIARS_FOUND);
  });

  test("behavior: liars that never give a proof keep nobody from giving his", async () => {
    const lying: Request = async (call) => {
      if (call.method === "eth_call") return numberToHex(77, { size: 32 });
      if (call.method === "eth_getProof") return new Promise(() => undefined);
      return honest(call);
    };
    const quorum = outvoted(lying);
    const slot = slots[1] as Hex;
    expect(await quorum.request(at(READER, slot))).toBe(await honest(at(READER, slot)));
    expect(faultsOf(quorum)).toEqual(LIARS_FOUND);
  });

  test("behavior: one that never gives a proof is waited for once, where the others have none", async () => {
    const lie = numberToHex(77, { size: 32 });
    const hanging: Request = async (call) => {
      if (call.method === "eth_call") return lie;
      return call.method === "eth_getProof" ? new Promise(() => undefined) : honest(call);
    };
    let isServing = false;
    const without: Request = async (call) => {
      if (call.method === "eth_getProof" && !isServing) throw new Error("this node serves no proofs");
      return honest(call);
    };
    const nodes = [node("liar", hanging), node("honest 1", without), node("honest 2", without)];
    const reads = async (quorum: Quorum, slot: Hex) =>
      expect(await quorum.request(at(READER, slot))).toBe(await honest(at(READER, slot)));
    const hasty = new Quorum(nodes, { ...OPTIONS, timeoutMs: 1_000 });
    await reads(hasty, slots[0] as Hex);
    expect([0, 1, 2].map((index) => hasty.nodes.isProving(index))).toEqual([false, true, true]);
    // Nobody waits ten minutes for it, each time.
    const quorum = new Quorum(nodes, { ...OPTIONS, timeoutMs: 600_000 });
    quorum.nodes.noteUnproven(0);
    for (const slot of slots.slice(0, 8)) await reads(quorum, slot);
    // Whoever proves is heard meanwhile.
    isServing = true;
    await reads(quorum, slots[1] as Hex);
    expect(faultsOf(quorum)).toEqual(["contradicts", undefined, undefined]);
  });

  test("behavior: where nobody gives proofs, or a call reads too much or does not end, what most say counts", async () => {
    const lie = numberToHex(77, { size: 32 });
    const silent: Request = async (call) => {
      if (call.method === "eth_getProof") throw new Error("this node serves no proofs");
      return honest(call);
    };
    const slot = slots[2] as Hex;
    const lying = async (call: RpcCall) => (call.method === "eth_call" ? lie : silent(call));
    expect(await outvoted(lying, silent).request(at(READER, slot))).toBe(lie);
    for (const address of [LOOP, GREEDY]) {
      const quorum = outvoted(liar("eth_call", () => lie));
      expect(await quorum.request(at(address))).toBe(lie);
    }
  });

  test("behavior: what is executed here otherwise than on a node decides nothing, whoever says it", async () => {
    for (const address of [ANCESTOR, CALLER]) {
      const quorum = new Quorum(
        [
          node(
            "liar",
            liar("eth_call", () => numberToHex(0, { size: 32 })),
          ),
          node("honest 1", honest),
          node("honest 2", honest),
        ],
        OPTIONS,
      );
      expect(await quorum.request(at(address))).toBe(await honest(at(address)));
      expect(faultsOf(quorum)).toEqual(["contradicts", undefined, undefined]);
    }
  });

  test("behavior: nodes that agree are not asked for proofs", async () => {
    let proofs = 0;
    const counting: Request = (call) => {
      if (call.method === "eth_getProof") proofs += 1;
      return honest(call);
    };
    const slot = slots[0] as Hex;
    await outvoted(counting, counting).request(at(READER, slot));
    expect(proofs).toBe(0);
  });
});
