import { createWalletClient, custom, encodeFunctionData, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../../base/bytes.ts";
import { type WalletParts, WalletSender } from "../../../explorer/app/wallet/sender.ts";
import { SentHashes } from "../../../explorer/app/wallet/sent.ts";
import { encodeProgram } from "../../../inference/program/encode.ts";
import type { Action } from "../../../protocol/chain/actions.ts";
import { chainOver, clientOver } from "../../../protocol/chain/connect.ts";
import { registerModel } from "../../../protocol/chain/register.ts";
import { iModelRegistryAbi, iWeightStoreAbi } from "../../../protocol/rules/generated/abis.ts";
import { accountAt, type LocalChain, startLocalChain } from "../../support/anvil.ts";
import { openLocalSystem, TINY_IDENTITY, TINY_MODEL } from "../../support/deploy.ts";
import { type InjectedWallet, openWallet } from "../../support/injected-wallet.ts";

type Wrap = (error: { code: number; message: string; data?: unknown }) => unknown;

let local: LocalChain;
let system: Awaited<ReturnType<typeof openLocalSystem>>;

beforeAll(async () => {
  local = await startLocalChain();
  system = await openLocalSystem(local);
});
afterAll(async () => {
  await system?.close();
  await local?.stop();
});

/** A sender over a wallet with account 4. @param wrap makes a node's error what a wallet throws */
async function opened(
  wrap: Wrap = (error) => Object.assign(new Error(error.message), error),
  patienceMs = 60_000,
) {
  const account = accountAt(4);
  const { chainId } = system.deployment;
  const { wallet, answer } = openWallet({ rpcUrl: local.rpcUrl, account, chainId });
  const provider = {
    request: async (request: { method: string; params?: readonly unknown[] }) => {
      const { result, error } = await answer(request);
      if (error === undefined) return result;
      throw wrap(error);
    },
  };
  const transport = custom(provider, { retryCount: 0 });
  const chain = await chainOver(clientOver(transport), system.deployment);
  const client = createWalletClient({ transport });
  const texts = new Map<string, string>();
  const keeper = {
    getItem: (key: string) => texts.get(key) ?? null,
    setItem: (key: string, text: string) => void texts.set(key, text),
    removeItem: (key: string) => void texts.delete(key),
  };
  const sent = new SentHashes(() => keeper, "test");
  const parts: WalletParts = { chain, wallet: client, account: account.address, sent, patienceMs };
  return { wallet: wallet as InjectedWallet, sender: new WalletSender(parts, () => undefined), chain, parts };
}

const chunk = (byte: number): Action => ({
  key: `storeChunk:${byte}`,
  to: system.deployment.contracts.registry,
  data: encodeFunctionData({
    abi: iModelRegistryAbi,
    functionName: "storeChunk",
    args: [toHex(Uint8Array.of(byte))],
  }),
  value: 0n,
  doneBy: [],
});

/** Of weights of a model that nobody registered. */
const refused = (): Action => ({
  ...{ key: "publish", to: system.deployment.contracts.weightStore as Hex, value: 0n, doneBy: [] },
  data: encodeFunctionData({
    abi: iWeightStoreAbi,
    functionName: "publish",
    args: [`0x${"77".repeat(32)}`, [], 1n],
  }),
});

describe("WalletSender", () => {
  it("default: sends, waits, and adds up what it cost", async () => {
    const { sender, chain } = await opened();
    const result = await sender.send(chunk(1));
    if (result.status !== "sent") throw new Error(result.status);
    const { gasUsed } = await chain.client.getTransactionReceipt({ hash: result.inclusion.hash });
    expect([sender.transactions, sender.gasUsed]).toEqual([1, gasUsed]);
  });

  it.each<[string, Wrap]>([
    ["as a node has it", (error) => Object.assign(new Error(error.message), error)],
    ["as an object that is no Error", (error) => error],
    [
      "wrapped, as wallets do",
      (error) => ({ code: -32_603, message: "Internal JSON-RPC error.", data: { originalError: error } }),
    ],
  ])("behavior: a refusal of the contract is known by its name, %s", async (_how, wrap) => {
    const { sender, wallet } = await opened(wrap);
    const result = await sender.send(refused());
    expect(result).toMatchObject({ status: "refused", revert: { name: "UnknownModel" } });
    expect(wallet.asked).toBe(0);
    expect(await sender.send({ ...refused(), doneBy: ["UnknownModel"] })).toEqual({ status: "already-done" });
  });

  it("error: what its owner does not sign is retryable, and nothing is remembered", async () => {
    const { sender, wallet } = await opened();
    wallet.decide = () => "reject";
    expect(await sender.send(chunk(2))).toMatchObject({
      status: "retryable",
      error: { code: "WALLET_REJECTED", retryable: true },
    });
    wallet.decide = () => "sign";
    expect(await sender.send(chunk(2))).toMatchObject({ status: "sent" });
  });

  it("error: one that is not mined in time is waited for again, not sent again", async () => {
    await local.control.setAutomine(false);
    try {
      const { sender, wallet } = await opened(undefined, 1_500);
      expect(await sender.send(chunk(3))).toMatchObject({
        status: "retryable",
        error: { code: "NOT_MINED_YET" },
      });
      await local.control.mine({ blocks: 1 });
      expect(await sender.send(chunk(3))).toMatchObject({ status: "sent" });
      expect(wallet.asked).toBe(1);
    } finally {
      await local.control.setAutomine(true);
    }
  });

  it("error: one that its node has lost is sent again", async () => {
    const { sender, wallet } = await opened(undefined, 1_500);
    wallet.decide = (index) => (index === 0 ? "lose" : "sign");
    expect(await sender.send(chunk(4))).toMatchObject({
      status: "retryable",
      error: { code: "NOT_MINED_YET" },
    });
    expect(await sender.send(chunk(4))).toMatchObject({ status: "sent" });
    expect(wallet.asked).toBe(2);
  });

  it.each([
    ["null", 6],
    ["0x", 7],
    ["0x12", 8],
  ])("error: a wallet's %s for a hash is not waited for again", async (nonsense, byte) => {
    const { sender, wallet, parts } = await opened();
    const action = chunk(byte);
    parts.sent.set(action.key, nonsense as Hex);
    expect(await sender.send(action)).toMatchObject({ status: "sent" });
    expect(wallet.asked).toBe(1);
  });

  it("error: a wallet on another chain is asked for nothing", async () => {
    const { sender, wallet } = await opened();
    wallet.chainId = 1;
    expect(await sender.send(chunk(5))).toMatchObject({
      status: "retryable",
      error: { code: "CHAIN_MISMATCH" },
    });
    expect(wallet.asked).toBe(0);
  });

  it("behavior: brings a registration onto the chain, as a daemon's sender does", async () => {
    const { sender, chain, wallet } = await opened();
    const identity = { ...TINY_IDENTITY, lanes: 1 };
    const program = encodeProgram(TINY_MODEL.program);
    const messages: string[] = [];
    const emit = (message: string, behind: number, all: number) =>
      messages.push(`${behind}/${all} ${message}`);
    const first = await registerModel(chain, sender, program, identity, emit);
    expect(first.isNew).toBe(true);
    expect(messages.at(-1)).toMatch(/^1\/2 register 0x/);
    // Its program was there, from the model with other lanes.
    expect(wallet.asked).toBe(1);
    expect((await registerModel(chain, sender, program, identity)).isNew).toBe(false);
  });
});
