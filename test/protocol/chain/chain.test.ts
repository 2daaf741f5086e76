import { createPublicClient, http, keccak256 } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encodeProgram } from "../../../inference/program/encode.ts";
import { Actions } from "../../../protocol/chain/actions.ts";
import { type Chain, connect } from "../../../protocol/chain/connect.ts";
import { decodeRevertData } from "../../../protocol/chain/errors.ts";
import type { ChainEvent } from "../../../protocol/chain/events.ts";
import { type Batch, EventFollower } from "../../../protocol/chain/follower.ts";
import { historyOf } from "../../../protocol/chain/history.ts";
import { BlockRanges } from "../../../protocol/chain/ranges.ts";
import { StateReader } from "../../../protocol/chain/reads.ts";
import { iAssayAbi } from "../../../protocol/rules/generated/abis.ts";
import { claimIdOf, requestIdOf } from "../../../protocol/rules/ids.ts";
import { bondsOf, gasPriceRange } from "../../../protocol/rules/money.ts";
import { type Claim, type Request, ZERO_ADDRESS } from "../../../protocol/rules/types.ts";
import { accountAt, type LocalChain, startLocalChain } from "../../support/anvil.ts";
import { openLocalSystem, TINY_MODEL, tinyInput, tinyRequest } from "../../support/deploy.ts";
import { startRpcProxy } from "../../support/rpc-proxy.ts";

let local: LocalChain;
let system: Awaited<ReturnType<typeof openLocalSystem>>;
let salt = 1_000;
const input = tinyInput([9, 8, 7, 6]);
/** How long a poll may take on any machine. */
const SLOW = { timeout: 120_000 };

beforeAll(async () => {
  local = await startLocalChain();
  system = await openLocalSystem(local);
});
afterAll(async () => {
  await system?.close();
  await local?.stop();
});

async function newRequest(changes: Partial<Request> = {}): Promise<Request> {
  salt += 1;
  const own = BigInt(salt);
  return tinyRequest(accountAt(1), system.modelId, input, await local.now(), { salt: own, ...changes });
}

/** A request and a claim on it by the same account. */
async function claimed(): Promise<{ request: Request; claim: Claim }> {
  const actions = new Actions(system.chain.game);
  const request = await newRequest();
  await system.sender.send(actions.request(request, input));
  const { baseFeePerGas } = await local.client.getBlock();
  const gasPrice = (gasPriceRange(system.chain.constants, baseFeePerGas ?? 0n).least * 3n) / 2n;
  const depth = 1;
  const bonds = bondsOf(system.chain.constants, { ...request, gasPrice, depth, attempt: 0 });
  const output = `0x${input.slice(10)}` as const;
  const result = await system.sender.send(
    actions.claim(request, 0, ZERO_ADDRESS, gasPrice, output, bonds.bond),
  );
  expect(result).toMatchObject({ status: "sent" });
  const claim: Claim = {
    requestId: requestIdOf(system.chain.game, request),
    modelId: system.modelId,
    attempt: 0,
    prover: accountAt(1).address,
    operator: ZERO_ADDRESS,
    outputHash: keccak256(output),
    ...bonds,
    gasPrice,
  };
  return { request, claim };
}

describe("ids, words and money against the contract", () => {
  test("default: the same ids, bonds and words", async () => {
    const { request, claim } = await claimed();
    const { client, game } = system.chain;
    const read = { address: game.assay, abi: iAssayAbi } as const;
    expect(await client.readContract({ ...read, functionName: "requestIdOf", args: [request] })).toBe(
      requestIdOf(game, request),
    );
    expect(await client.readContract({ ...read, functionName: "claimIdOf", args: [claim] })).toBe(
      claimIdOf(game, claim),
    );
    const reader = new StateReader(system.chain);
    const { bond, ticketBond } = claim;
    expect(await reader.bonds(request, claim.gasPrice)).toEqual({ bond, ticketBond });
    const requestWord = await reader.requestWord(requestIdOf(game, request));
    expect(requestWord).toMatchObject({ state: "BUSY", attempt: 0, delivered: "PENDING", lane: 0 });
    const claimId = claimIdOf(game, claim);
    const state = await reader.claim(claimId, claim, [accountAt(1).address], [7n]);
    const [event] = await historyOf(system.chain, claimId);
    expect(event).toMatchObject({ name: "Claimed", args: { claim } });
    expect(state).toMatchObject({
      word: { state: "ACTIVE", tickets: 0, pending: 0, depth: 1, fall: "NONE", truthShare: false },
    });
    expect(state?.tickets.size).toBe(0);
    expect(state?.word.windowEnd).toBe((await local.now()) + request.window);
    expect(state?.traceRoot).toBeUndefined();
  });

  test("default: the registered program reads back", async () => {
    const reader = new StateReader(system.chain);
    expect(Buffer.from(await reader.program(system.modelId))).toEqual(
      Buffer.from(encodeProgram(TINY_MODEL.program)),
    );
    expect(await reader.model(system.modelId)).toMatchObject({
      lanes: 4,
      depth: 1,
      steps: 1,
      selector: 0xaabbccdd,
      inputCodec: "raw",
      outputCodec: "raw",
      inputSize: 4,
      outputLength: 96,
    });
  });

  test("behavior: state at a block hash stays what it was", async () => {
    const before = await local.client.getBlock();
    const { request } = await claimed();
    const id = requestIdOf(system.chain.game, request);
    expect((await new StateReader(system.chain, before.hash).requestWord(id)).state).toBe("NONE");
    expect((await new StateReader(system.chain).requestWord(id)).state).toBe("BUSY");
  });
});

describe("connect", () => {
  const attempt = (changes: object, rpcUrl = local.rpcUrl): Promise<Chain> =>
    connect({ rpcUrl, deployment: { ...system.deployment, ...changes } });

  test("error: another chain, another block, no code, other constants, another judge", async () => {
    const { contracts, constants, block } = system.deployment;
    await expect(attempt({ chainId: 1 })).rejects.toMatchObject({ code: "CHAIN_MISMATCH" });
    await expect(attempt({ block: { ...block, number: 0n } })).rejects.toMatchObject({
      code: "CHAIN_REPLACED",
    });
    await expect(attempt({ block: { ...block, number: 10n ** 9n } })).rejects.toMatchObject({
      code: "CHAIN_REPLACED",
    });
    await expect(attempt({ contracts: { ...contracts, judge: accountAt(5).address } })).rejects.toMatchObject(
      { code: "CONTRACT_MISSING", details: { name: "judge" } },
    );
    await expect(attempt({ constants: { ...constants, answerSeconds: 6 } })).rejects.toMatchObject({
      code: "CONSTANTS_MISMATCH",
    });
    await expect(attempt({ judgeVersion: 3 })).rejects.toMatchObject({ code: "JUDGE_VERSION_MISMATCH" });
  });

  test("error: no node is retryable", async () => {
    const proxy = await startRpcProxy(local.rpcUrl);
    await proxy.stop();
    await expect(attempt({}, `${proxy.url}/v3/secret?key=secret`)).rejects.toMatchObject({
      code: "RPC_UNREACHABLE",
      retryable: true,
      shortMessage: `Could not ask the node for its chain id at ${proxy.url}: HTTP request failed.`,
    });
  });
});

describe("decodeRevertData", () => {
  test("default: unknown data and Solidity's own errors keep a name", () => {
    expect(decodeRevertData("0x").name).toBe("UnknownRevert");
    expect(decodeRevertData("0x12345678").name).toBe("UnknownRevert");
    const panic = `0x4e487b71${"11".padStart(64, "0")}` as const;
    expect(decodeRevertData(panic)).toMatchObject({ name: "Panic" });
  });
});

describe("ranges of blocks", () => {
  const LIMIT = 7n;
  /** A connection to a node that answers about so many blocks at once and no more. */
  async function limited(error: { code: number; message: string }) {
    const proxy = await startRpcProxy(local.rpcUrl);
    const asked = { tooMuch: 0, taken: 0 };
    proxy.decide = ({ method, params }) => {
      if (method !== "eth_getLogs") return "pass";
      const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string };
      const isTooMuch = BigInt(toBlock) - BigInt(fromBlock) + 1n > LIMIT;
      asked[isTooMuch ? "tooMuch" : "taken"] += 1;
      return isTooMuch ? { error } : "pass";
    };
    const chain = await connect({ rpcUrl: proxy.url, deployment: system.deployment });
    return { chain, asked, stop: () => proxy.stop() };
  }

  test.each([
    [-32_005, "query exceeds max block range 7"],
    [-32_602, "Log response size exceeded. You can make eth_getLogs requests with up to a 7 block range."],
    [-32_614, "eth_getLogs is limited to a 7 range"],
    [-32_000, "query returned more than 10000 results"],
  ])("behavior: %i %s: asks for less until the node answers, and remembers it", async (code, message) => {
    const { claim } = await claimed();
    await local.control.mine({ blocks: 40 });
    const id = claimIdOf(system.chain.game, claim);
    const { chain, asked, stop } = await limited({ code, message });
    const all = await historyOf(system.chain, id);
    expect(all.map(({ name }) => name)).toEqual(["Claimed"]);
    expect(await historyOf(chain, id)).toEqual(all);
    expect(asked.tooMuch).toBeGreaterThan(0);
    const before = asked.tooMuch;
    expect(await historyOf(chain, id)).toEqual(all);
    const batch = await new EventFollower(chain).next();
    expect(batch).toEqual(await new EventFollower(system.chain).next());
    expect(asked.tooMuch).toBe(before);
    await stop();
  });

  test("behavior: an answer larger than what is read: asks for fewer blocks", async () => {
    for (let i = 0; i < 4; i++) await claimed();
    const transport = http(local.rpcUrl, { maxResponseBodySize: 5_000, retryCount: 0 });
    const small = { ...system.chain, client: createPublicClient({ transport, cacheTime: 0 }) };
    const whole = await new EventFollower(system.chain).next();
    const all = { fromBlock: 0n, toBlock: "latest", address: system.deployment.contracts.assay } as const;
    await expect(small.client.getLogs(all)).rejects.toThrow("exceeded the size limit");
    expect(await new EventFollower({ ...small, ranges: new BlockRanges() }).next()).toEqual(whole);
  });

  test("behavior: from a later block on", async () => {
    const { request, claim } = await claimed();
    const id = requestIdOf(system.chain.game, request);
    const head = await local.client.getBlockNumber();
    const names = (await historyOf(system.chain, id, head)).map(({ name }) => name);
    expect(names).toEqual(["Claimed"]);
    expect(claim.requestId).toBe(id);
  });

  test("error: another fault is not taken for a limit", async () => {
    const { claim } = await claimed();
    const { chain, asked, stop } = await limited({ code: -32_000, message: "header not found" });
    await local.control.mine({ blocks: 10 });
    await expect(historyOf(chain, claimIdOf(system.chain.game, claim))).rejects.toMatchObject({
      code: "RPC_FAULT",
      retryable: true,
    });
    expect(asked.taken).toBe(0);
    await stop();
  });
});

describe("EventFollower", () => {
  /** Follows until nothing is new. */
  async function drain(follower: EventFollower): Promise<Batch[]> {
    const batches: Batch[] = [];
    for (;;) {
      const batch = await follower.next();
      if (batch === undefined) return batches;
      batches.push(batch);
      follower.advance(batch);
    }
  }
  const eventsOf = (batches: readonly Batch[]): ChainEvent[] =>
    batches.flatMap((batch) => (batch.kind === "blocks" ? batch.events : []));

  test("default: all events in order, in batches of any size, and on from a stored cursor", async () => {
    await claimed();
    const whole = new EventFollower(system.chain);
    const all = eventsOf(await drain(whole));
    expect(all.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["ModelRegistered", "Requested", "Claimed"]),
    );
    const order = all.map(({ block, logIndex }) => Number(block.number) * 1_000 + logIndex);
    expect(order).toEqual([...order].sort((a, b) => a - b));
    const small = new EventFollower(system.chain, { maxBlocks: 2 });
    expect(eventsOf(await drain(small))).toEqual(all);
    const later = new EventFollower(system.chain, { cursor: small.cursor });
    expect(await later.next()).toBeUndefined();
    await claimed();
    expect(eventsOf(await drain(later)).map(({ name }) => name)).toEqual(["Requested", "Claimed"]);
  });

  test("behavior: a batch comes again until it is advanced", async () => {
    const follower = new EventFollower(system.chain);
    const first = await follower.next();
    expect(await follower.next()).toEqual(first);
  });

  test("behavior: a re-org rolls back to the common ancestor and follows the other branch", async () => {
    const follower = new EventFollower(system.chain);
    await drain(follower);
    const ancestor = await local.client.getBlockNumber();
    const { claim } = await claimed();
    const [old] = await drain(follower);
    expect(eventsOf(old === undefined ? [] : [old]).map(({ name }) => name)).toEqual([
      "Requested",
      "Claimed",
    ]);
    // Two blocks go; others without these transactions come, one of them longer.
    await local.control.request({ method: "anvil_reorg", params: [2, []] } as never);
    await local.control.mine({ blocks: 2 });
    const [rollback, ...rest] = await drain(follower);
    expect(rollback).toMatchObject({ kind: "rollback", ancestor });
    if (rollback?.kind !== "rollback") throw new Error("no rollback");
    expect(rollback.gone.map(({ number }) => number)).toEqual([ancestor + 1n, ancestor + 2n]);
    const replayed = eventsOf(rest);
    expect(replayed.every(({ block }) => block.number > ancestor)).toBe(true);
    // The journal sends both again: the same claim, hence the same id.
    const claimId = claimIdOf(system.chain.game, claim);
    const state = async () => (await new StateReader(system.chain).claimWord(claimId)).state;
    await expect.poll(state, SLOW).toBe("ACTIVE");
    const events = [...replayed, ...eventsOf(await drain(follower))];
    const ids = events.flatMap((event) => (event.name === "Claimed" ? [event.args.claimId] : []));
    expect(ids).toEqual([claimId]);
  });

  test("behavior: confirmations hold events back", async () => {
    await claimed();
    const follower = new EventFollower(system.chain, { confirmations: 1 });
    const names = () => drain(follower).then((batches) => eventsOf(batches).map(({ name }) => name));
    expect((await names()).at(-1)).toBe("Requested");
    await local.control.mine({ blocks: 1 });
    expect(await names()).toEqual(["Claimed"]);
  });

  test("behavior: run survives a throwing consumer and a silent node, and ends with the signal", async () => {
    const proxy = await startRpcProxy(local.rpcUrl);
    const chain = await connect({ rpcUrl: proxy.url, deployment: system.deployment, timeoutMs: 1_000 });
    const follower = new EventFollower(chain, { pollIntervalMs: 10 });
    const stop = new AbortController();
    const seen: bigint[] = [];
    let failures = 2;
    const running = follower.run((batch) => {
      if (failures > 0) {
        failures -= 1;
        throw new Error("the consumer failed");
      }
      if (batch.kind === "blocks") seen.push(batch.to.number);
    }, stop.signal);
    const head = await local.client.getBlockNumber();
    await expect.poll(() => seen, SLOW).toEqual([head]);
    const silence = new Promise((resolve) => {
      proxy.onSilence = resolve;
    });
    proxy.decide = () => "hold";
    await local.control.mine({ blocks: 1 });
    await silence;
    proxy.decide = () => "pass";
    await expect.poll(() => seen.at(-1), SLOW).toBe(head + 1n);
    stop.abort();
    await running;
    await proxy.stop();
  });
});
