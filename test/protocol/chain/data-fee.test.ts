/** Data fees of rollups, read over RPC from contracts with their interfaces. */
import { hexToBytes, keccak256, serializeTransaction, toHex } from "viem";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadArtifact } from "../../../cli/artifacts.ts";
import { DataFeeReader, dataFeeOf, GAS_PRICE_ORACLE, NO_DATA_FEE } from "../../../protocol/chain/data-fee.ts";
import { type LocalChain, startLocalChain } from "../../support/anvil.ts";
import { OP_PRICES, placeDataFee } from "../../support/data-fee.ts";

let chain: LocalChain;
beforeEach(async () => {
  chain = await startLocalChain();
});
afterEach(() => chain.stop());

const GWEI = 10n ** 9n;
const refusal = { code: "DATA_FEE_UNREADABLE", retryable: true };

/** What the oracle asks for a whole transaction with hashes as calldata. */
async function askedFor(bytes: number): Promise<bigint> {
  const data = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at += 32)
    data.set(hexToBytes(keccak256(toHex(at + 7))).subarray(0, Math.min(32, bytes - at)), at);
  const raw = serializeTransaction({
    type: "eip1559",
    chainId: 10,
    to: GAS_PRICE_ORACLE,
    value: 10n ** 18n,
    gas: 300_000n,
    nonce: 70_000,
    maxFeePerGas: 100n * GWEI,
    maxPriorityFeePerGas: GWEI,
    data: toHex(data),
  });
  const { abi } = loadArtifact("OpGasPriceOracle");
  const fee = await chain.client.readContract({
    address: GAS_PRICE_ORACLE,
    abi,
    functionName: "getL1Fee",
    args: [raw],
  });
  return fee as bigint;
}

describe("DataFeeReader", () => {
  test("default: a chain without such contracts asks nothing", async () => {
    expect(await new DataFeeReader(chain.client).read()).toEqual(NO_DATA_FEE);
    expect(dataFeeOf(NO_DATA_FEE, 0, 5_000, 100_000)).toBe(0n);
  });

  test.each([
    ["Fjord", true],
    ["Ecotone", false],
  ])(
    "args: the OP stack since %s: no less than a real move is charged, and little more",
    async (_name, fjord) => {
      const set = await placeDataFee(chain, "OpGasPriceOracle");
      await set("setUpgrade", fjord);
      await set("setPrices", ...OP_PRICES);
      const fee = await new DataFeeReader(chain.client).read();
      expect(fee.kind).toBe("op-stack");
      for (const bytes of [0, 4, 100, 704, 1_024, 2_624, 3_712, 20_000]) {
        const [bound, asked] = [dataFeeOf(fee, bytes), await askedFor(bytes)];
        expect(bound).toBeGreaterThanOrEqual(asked);
        expect(Number(bound - asked)).toBeLessThan(Number(asked) * (bytes < 700 ? 1 : 0.12));
      }
      expect(dataFeeOf(fee, 704, 1_024)).toBe(dataFeeOf(fee, 704) + dataFeeOf(fee, 1_024));
      // It is read anew each time.
      await set("setPrices", 10n * OP_PRICES[0], 10n * OP_PRICES[1], OP_PRICES[2], OP_PRICES[3]);
      const dear = await new DataFeeReader(chain.client).read();
      expect(Number(dataFeeOf(dear, 704)) / Number(dataFeeOf(fee, 704))).toBeCloseTo(10, 3);
    },
  );

  test("args: Arbitrum: by the byte, and a transaction's own bytes", async () => {
    const set = await placeDataFee(chain, "ArbGasInfo");
    await set("setPricePerUnit", 30n * GWEI);
    const fee = await new DataFeeReader(chain.client).read();
    expect(fee).toEqual({ kind: "arbitrum", least: 0n, base: 140n * 480n * GWEI, perByte: 480n * GWEI });
    expect(dataFeeOf(fee, 0, 1_000)).toBe((280n + 1_000n) * 480n * GWEI);
  });

  test("error: a read that fails is no fee of zero, and goes by when it succeeds", async () => {
    const set = await placeDataFee(chain, "OpGasPriceOracle");
    const reader = new DataFeeReader(chain.client);
    await set("setUpgrade", true);
    await set("setPrices", ...OP_PRICES);
    await set("setFails", true);
    await expect(reader.read()).rejects.toMatchObject(refusal);
    await set("setFails", false);
    expect((await reader.read()).perByte).toBeGreaterThan(0n);
    const arbitrum = await placeDataFee(chain, "ArbGasInfo");
    await expect(new DataFeeReader(chain.client).read()).rejects.toMatchObject({
      ...refusal,
      shortMessage: expect.stringContaining("the contracts of both"),
    });
    await arbitrum("setFails", true);
    await expect(new DataFeeReader(chain.client, "arbitrum").read()).rejects.toMatchObject(refusal);
  });

  test("error: fees that none can be: beyond 96 bits, 2^256 - 1", async () => {
    const set = await placeDataFee(chain, "OpGasPriceOracle");
    for (const fee of [2n ** 96n, 2n ** 256n - 1n]) {
      await set("setConstantFee", fee);
      await expect(new DataFeeReader(chain.client).read()).rejects.toMatchObject({
        ...refusal,
        shortMessage: expect.stringContaining("beyond 96 bits"),
      });
    }
    await set("setConstantFee", 2n ** 96n - 1n);
    expect(dataFeeOf(await new DataFeeReader(chain.client).read(), 100_000)).toBe(2n ** 96n - 1n);
  });

  test("error: a kind that was set and is not there, code that answers nothing, a node that is gone", async () => {
    for (const kind of ["op-stack", "arbitrum"] as const)
      await expect(new DataFeeReader(chain.client, kind).read()).rejects.toMatchObject(refusal);
    await chain.control.setCode({ address: GAS_PRICE_ORACLE, bytecode: "0x00" });
    await expect(new DataFeeReader(chain.client).read()).rejects.toMatchObject(refusal);
    // Who knows better says so.
    expect(await new DataFeeReader(chain.client, "none").read()).toEqual(NO_DATA_FEE);
    await chain.stop();
    await expect(new DataFeeReader(chain.client).read()).rejects.toMatchObject(refusal);
  });
});
