/** What the reference contracts of ERC-8004 do with identities and validations, told by their own tests: asked of the
 *  registries that this repository's tests use, and of the reference contracts themselves where they are at hand. */
import {
  type Address,
  createWalletClient,
  encodeFunctionData,
  getAddress,
  type Hex,
  http,
  keccak256,
  toHex,
  zeroHash,
} from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accountAt, type LocalChain, startLocalChain } from "../support/anvil.ts";
import { deployRegistries, IDENTITY, REFERENCE, type Registries, VALIDATIONS } from "../support/erc8004.ts";

const [OWNER, VALIDATOR, OTHER] = [2, 3, 4] as const;
const addressOf = (index: number) => getAddress(accountAt(index).address);
let local: LocalChain;
beforeAll(async () => {
  local = await startLocalChain();
});
afterAll(() => local?.stop());

let hashes = 0;
const nextHash = (): Hex => keccak256(toHex(`request ${hashes++}`));

const KINDS = [
  { name: "registries of these tests", folder: undefined, isThere: true },
  { name: "reference contracts (ERC8004_CONTRACTS)", folder: REFERENCE, isThere: REFERENCE !== undefined },
];

describe.each(KINDS.filter(({ isThere }) => isThere))("$name", ({ folder }) => {
  let registries: Registries;
  let agentId = -1n;
  beforeAll(async () => {
    registries = await deployRegistries(local, folder);
    agentId = await register();
  });

  const send = async (index: number, to: Address, data: Hex) => {
    const wallet = createWalletClient({ account: accountAt(index), transport: http(local.rpcUrl) });
    // Given, since an estimate in the second of a request does not know that the block's time will change.
    const hash = await wallet.sendTransaction({ to, data, gas: 1_000_000n, chain: null });
    expect(await local.client.waitForTransactionReceipt({ hash })).toMatchObject({ status: "success" });
  };
  const identity = () => ({ address: registries.identity, abi: IDENTITY }) as const;
  const validations = () => ({ address: registries.validations, abi: VALIDATIONS }) as const;
  /** A new agent of the owner; ids count up from 0. */
  async function register(): Promise<bigint> {
    const { result } = await local.client.simulateContract({
      ...identity(),
      functionName: "register",
      account: accountAt(OWNER),
    });
    await send(OWNER, registries.identity, encodeFunctionData({ abi: IDENTITY, functionName: "register" }));
    return result;
  }
  const request = async (from: number, hash: Hex, agent = agentId) => {
    const args = [addressOf(VALIDATOR), agent, "ipfs://request", hash] as const;
    const call = { ...validations(), functionName: "validationRequest", args } as const;
    await local.client.simulateContract({ ...call, account: accountAt(from) });
    await send(from, registries.validations, encodeFunctionData(call));
  };
  const respond = async (from: number, hash: Hex, response: number, tag = "") => {
    const args = [hash, response, "ipfs://response", keccak256(hash), tag] as const;
    const call = { ...validations(), functionName: "validationResponse", args } as const;
    await local.client.simulateContract({ ...call, account: accountAt(from) });
    await send(from, registries.validations, encodeFunctionData(call));
  };
  const statusOf = (hash: Hex) =>
    local.client.readContract({ ...validations(), functionName: "getValidationStatus", args: [hash] });
  const summary = (agent: bigint, validators: readonly number[], tag: string) =>
    local.client.readContract({
      ...validations(),
      functionName: "getSummary",
      args: [agent, validators.map(addressOf), tag],
    });

  it("default: a request is filed, and answered by its validator", async () => {
    const hash = nextHash();
    await request(OWNER, hash);
    const filed = [addressOf(VALIDATOR), agentId, 0, zeroHash, "", expect.any(BigInt)];
    expect(await statusOf(hash)).toEqual(filed);
    await respond(VALIDATOR, hash, 100, "passed");
    const answered = [addressOf(VALIDATOR), agentId, 100, keccak256(hash), "passed", expect.any(BigInt)];
    expect(await statusOf(hash)).toEqual(answered);
  });

  it("behavior: a request is answered again, with 0 and what lies between", async () => {
    const hash = nextHash();
    await request(OWNER, hash);
    for (const response of [0, 50, 75, 100]) {
      await respond(VALIDATOR, hash, response);
      expect((await statusOf(hash))[2]).toBe(response);
    }
  });

  it("error: a hash that is filed, a stranger's answer, more than 100, an unknown hash", async () => {
    const hash = nextHash();
    await request(OWNER, hash);
    await expect(request(OWNER, hash)).rejects.toThrow("exists");
    await expect(respond(OTHER, hash, 100)).rejects.toThrow("not validator");
    await expect(respond(VALIDATOR, hash, 101)).rejects.toThrow("resp>100");
    await expect(statusOf(nextHash())).rejects.toThrow("unknown");
    await expect(respond(VALIDATOR, nextHash(), 100)).rejects.toThrow("unknown");
  });

  it("behavior: the owner of the agent asks, and who may act for him", async () => {
    const agent = await register();
    await expect(request(OTHER, nextHash(), agent)).rejects.toThrow("Not authorized");
    const approve = { ...identity(), functionName: "approve", args: [addressOf(OTHER), agent] } as const;
    await send(OWNER, registries.identity, encodeFunctionData(approve));
    await request(OTHER, nextHash(), agent);
    const every = { ...identity(), functionName: "setApprovalForAll", args: [addressOf(5), true] } as const;
    await send(OWNER, registries.identity, encodeFunctionData(every));
    await request(5, nextHash(), agent);
  });

  it("behavior: answers are counted and averaged, by validator and by tag", async () => {
    const agent = await register();
    const asked = [nextHash(), nextHash(), nextHash()] as const;
    for (const hash of asked) await request(OWNER, hash, agent);
    await respond(VALIDATOR, asked[0], 80, "a");
    await respond(VALIDATOR, asked[1], 91, "b");
    expect(await summary(agent, [], "")).toEqual([2n, 85]);
    expect(await summary(agent, [VALIDATOR], "b")).toEqual([1n, 91]);
    expect(await summary(agent, [OTHER], "")).toEqual([0n, 0]);
  });

  it("behavior: an agent's wallet is its owner, until it is transferred", async () => {
    const agent = await register();
    const walletOf = () =>
      local.client.readContract({ ...identity(), functionName: "getAgentWallet", args: [agent] });
    expect(await walletOf()).toBe(addressOf(OWNER));
    const args = [addressOf(OWNER), addressOf(OTHER), agent] as const;
    const transfer = encodeFunctionData({ abi: IDENTITY, functionName: "transferFrom", args });
    await send(OWNER, registries.identity, transfer);
    expect(BigInt(await walletOf())).toBe(0n);
    const registry = { ...validations(), functionName: "getIdentityRegistry" } as const;
    expect(await local.client.readContract(registry)).toBe(getAddress(registries.identity));
  });
});

describe("reference contracts", () => {
  it.skipIf(REFERENCE === undefined)("behavior: were asked (ERC8004_CONTRACTS names their folder)", () => {
    expect(REFERENCE).toBeTruthy();
  });
});
