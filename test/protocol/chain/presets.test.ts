import { describe, expect, test } from "vitest";
import {
  addressLink,
  chainName,
  defaultConfirmations,
  isLocalChain,
  PRESETS,
  presetNamed,
  presetOf,
  transactionGasOn,
  transactionLink,
} from "../../../protocol/chain/presets.ts";

describe("PRESETS", () => {
  test("behavior: no id, name or alias names two chains", () => {
    const names = PRESETS.flatMap(({ id, name, aliases }) => [String(id), name.toLowerCase(), ...aliases]);
    const own = PRESETS.map(
      ({ id, name, aliases }) => new Set([String(id), name.toLowerCase(), ...aliases]).size,
    );
    expect(new Set(names).size).toBe(own.reduce((sum, count) => sum + count, 0));
  });

  test("behavior: an answer time covers many blocks, and a deployment takes it", () => {
    for (const { answerSeconds, blockSeconds } of PRESETS) {
      expect(answerSeconds).toBeGreaterThanOrEqual(4 * blockSeconds);
      expect(answerSeconds).toBeLessThanOrEqual(626_400);
    }
  });

  test("behavior: a test network is set as the network that it stands for", () => {
    const pairs = [
      ["sepolia", "ethereum"],
      ["hoodi", "ethereum"],
      ["base-sepolia", "base"],
      ["op-sepolia", "op"],
      ["arbitrum-sepolia", "arbitrum"],
    ] as const;
    for (const [testnet, mainnet] of pairs) {
      const { answerSeconds, confirmations, dataFee, transactionGas, blockSeconds } = presetNamed(mainnet);
      expect(presetNamed(testnet)).toMatchObject({
        ...{ kind: "testnet", answerSeconds, confirmations, dataFee, transactionGas, blockSeconds },
      });
    }
  });
});

describe("presetNamed", () => {
  test.each(["base", "Base", "BASE", "8453"])("default: %s", (text) => {
    expect(presetNamed(text)).toBe(presetOf(8_453));
  });

  test.each(["", "bas", "8454", "0x2105", "toString"])("error: %j is no chain", (text) => {
    expect(() => presetNamed(text)).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        nextStep: expect.stringContaining("ethereum, base,"),
      }),
    );
  });
});

describe("defaultConfirmations", () => {
  test.each([31_337, 1_337])("default: none on the local chain %s", (chainId) => {
    expect([defaultConfirmations(chainId), isLocalChain(chainId)]).toEqual([0, true]);
  });

  test.each([1, 10, 8_453, 42_161, 11_155_111, 137, 4_242])("behavior: some on chain %s", (chainId) => {
    expect(defaultConfirmations(chainId)).toBeGreaterThan(0);
    expect(isLocalChain(chainId)).toBe(false);
  });

  test("behavior: an unknown chain has more than any known one", () => {
    const known = PRESETS.map(({ confirmations }) => confirmations);
    expect(defaultConfirmations(4_242)).toBeGreaterThan(Math.max(...known));
  });
});

describe("links", () => {
  test("default: by the chain's explorer", () => {
    expect(addressLink(8_453, "0xab")).toBe("https://basescan.org/address/0xab");
    expect(transactionLink(11_155_420, "0xcd")).toBe("https://optimism-sepolia.blockscout.com/tx/0xcd");
  });

  test.each([31_337, 4_242])("behavior: none on chain %s", (chainId) => {
    expect(addressLink(chainId, "0xab")).toBeUndefined();
  });
});

describe("an unknown chain", () => {
  test("default: has Ethereum's limit of gas, and is named by its id", () => {
    expect([transactionGasOn(4_242), transactionGasOn(42_161)]).toEqual([16_777_216, 32_000_000]);
    expect([chainName(4_242), chainName(10)]).toEqual(["chain 4242", "OP Mainnet (chain 10)"]);
  });
});
