import fc from "fast-check";
import { formatEther, formatGwei } from "viem";
import { describe, expect, test } from "vitest";
import { parseAmount } from "../../base/amounts.ts";

describe("parseAmount", () => {
  test("default: wei, and numbers with a unit", () => {
    expect(parseAmount("1000")).toBe(1_000n);
    expect(parseAmount("20gwei")).toBe(20n * 10n ** 9n);
    expect(parseAmount(" 0.05 ether ")).toBe(5n * 10n ** 16n);
    expect(parseAmount("1 ETH")).toBe(10n ** 18n);
    expect(parseAmount("7 wei")).toBe(7n);
    expect(parseAmount("1.50gwei")).toBe(1_500_000_000n);
  });

  test("behavior: reads back what viem writes, to the wei", () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 28n), (wei) => {
        expect(parseAmount(`${formatEther(wei)} ether`)).toBe(wei);
        expect(parseAmount(`${formatGwei(wei)}gwei`)).toBe(wei);
        expect(parseAmount(String(wei))).toBe(wei);
      }),
    );
  });

  test.each(["", "ether", "-1", "+1", "1e18", "0x10", "1,000", "1_000", ".5 ether", "1. ether", "1 finney"])(
    "error: %j has no such form",
    (text) => {
      expect(parseAmount(text)).toBeUndefined();
    },
  );

  test("error: a fraction of a wei", () => {
    expect(parseAmount("0.5")).toBeUndefined();
    expect(parseAmount("0.0000000001 gwei")).toBeUndefined();
    expect(parseAmount("0.0000000000 gwei")).toBe(0n);
  });
});
