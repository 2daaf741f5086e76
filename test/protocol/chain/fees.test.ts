import fc from "fast-check";
import type { PublicClient } from "viem";
import { describe, expect, test } from "vitest";
import { bumpedFees, currentFees, type Fees } from "../../../protocol/chain/fees.ts";

const LIMIT = 1_000n;
const clientAt = (baseFeePerGas: bigint, tip: bigint) =>
  ({
    getBlock: async () => ({ baseFeePerGas }),
    estimateMaxPriorityFeePerGas: async () => tip,
  }) as unknown as PublicClient;

describe("currentFees", () => {
  test("default: twice the base fee and the tip, never above the limit", async () => {
    expect(await currentFees(clientAt(100n, 7n), LIMIT)).toEqual({
      maxFeePerGas: 207n,
      maxPriorityFeePerGas: 7n,
    });
    expect(await currentFees(clientAt(900n, 2_000n), LIMIT)).toEqual({
      maxFeePerGas: 1_000n,
      maxPriorityFeePerGas: 1_000n,
    });
  });

  test("error: a base fee above the limit is waited for", async () => {
    await expect(currentFees(clientAt(1_001n, 1n), LIMIT)).rejects.toMatchObject({
      code: "FEE_ABOVE_LIMIT",
      retryable: true,
    });
  });
});

describe("bumpedFees", () => {
  const fees = fc
    .tuple(fc.bigInt(0n, 2n * LIMIT), fc.bigInt(0n, 2n * LIMIT))
    .map(([a, b]): Fees => ({ maxFeePerGas: a + b, maxPriorityFeePerGas: b }));

  test("behavior: both prices rise by a tenth or more and stay below the limit, or there is no replacement", () => {
    fc.assert(
      fc.property(fees, fees, (old, current) => {
        const bumped = bumpedFees(old, current, LIMIT);
        if (bumped === undefined) {
          expect((old.maxFeePerGas * 9n) / 8n + 1n).toBeGreaterThan(LIMIT);
          return;
        }
        expect(bumped.maxFeePerGas).toBeLessThanOrEqual(LIMIT);
        expect(bumped.maxPriorityFeePerGas).toBeLessThanOrEqual(bumped.maxFeePerGas);
        expect(10n * bumped.maxFeePerGas).toBeGreaterThanOrEqual(11n * old.maxFeePerGas);
        expect(10n * bumped.maxPriorityFeePerGas).toBeGreaterThanOrEqual(11n * old.maxPriorityFeePerGas);
      }),
      { numRuns: 1_000 },
    );
  });
});
