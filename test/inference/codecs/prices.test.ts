import { describe, expect, test } from "vitest";
import { pricesTensor } from "../../../inference/codecs/prices.ts";
import { createRng } from "../../support/rng.ts";

/** docs/EXACT.md, section 5, in whole numbers of any size. */
function ratio(a: bigint, b: bigint): number {
  if (b === 0n) return 0;
  const quotient = (10_000n * a) / b;
  return Number(quotient > 32_767n ? 32_767n : quotient < -32_767n ? -32_767n : quotient);
}

describe("pricesTensor", () => {
  test("behavior: exact for prices of every size", () => {
    const rng = createRng(5);
    for (let round = 0; round < 3000; round++) {
      const bits = rng.int(1, 128);
      const price = (): bigint =>
        ((BigInt(rng.u32()) << 96n) |
          (BigInt(rng.u32()) << 64n) |
          (BigInt(rng.u32()) << 32n) |
          BigInt(rng.u32())) >>
        BigInt(128 - bits);
      const closes = [price(), price(), price()];
      // Quotients that are whole numbers, or just below one.
      if (rng.chance(0.5)) closes[1] = (closes[0] as bigint) * BigInt(rng.int(1, 4)) - BigInt(rng.int(0, 1));
      if ((closes[1] as bigint) < 0n) closes[1] = 0n;
      const [highs, lows] = [closes.map(price), closes.map(price)];
      const out = new Int32Array(6);
      pricesTensor({ closes, highs, lows }, out);
      const [c0, c1, c2] = closes as [bigint, bigint, bigint];
      const cap = (x: bigint): bigint => (x >= 2n ** 128n ? 2n ** 128n - 1n : x);
      const c = [cap(c0), cap(c1), cap(c2)] as const;
      expect([...out]).toEqual([
        ratio(c[1] - c[0], c[0]),
        ratio(c[2] - c[1], c[1]),
        ratio((highs[1] as bigint) - (lows[1] as bigint), c[1]),
        ratio((highs[2] as bigint) - (lows[2] as bigint), c[2]),
        ratio(c[2] - c[1], c[1]),
        0,
      ]);
    }
  });
});
