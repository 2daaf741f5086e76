import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { formatEther, formatGwei } from "viem";
import { describe, expect, test } from "vitest";
import { formatAmount, parseAmount, roundUp } from "../../base/amounts.ts";
import { projectRoot } from "../../tools/foundry.ts";

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

describe("formatAmount", () => {
  test.each([
    [0n, "0 ether"],
    [1n, "1 wei"],
    [999_999n, "999999 wei"],
    [10n ** 6n, "0.001 gwei"],
    [1_500_000_000n, "1.5 gwei"],
    [10n ** 12n - 1n, "999.999999999 gwei"],
    [10n ** 12n, "0.000001 ether"],
    [975n * 10n ** 16n, "9.75 ether"],
    [10n ** 18n + 1n, "1.000000000000000001 ether"],
    [-5n * 10n ** 16n, "-0.05 ether"],
  ])("default: %s wei are %s", (wei, text) => {
    expect(formatAmount(wei)).toBe(text);
  });

  test("behavior: exact over all sizes: parseAmount reads it back", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 96 }), fc.bigInt(0n, 2n ** 96n), (bits, wei) => {
        const amount = wei >> BigInt(96 - bits);
        expect(parseAmount(formatAmount(amount))).toBe(amount);
      }),
    );
  });

  test("behavior: no text of this program holds an amount that it did not write", () => {
    const folders = ["base", "protocol", "prover", "challenger", "agent", "cli"];
    const files = folders.flatMap((folder) =>
      readdirSync(join(projectRoot, folder), { recursive: true, encoding: "utf8" })
        .filter((path) => path.endsWith(".ts"))
        .map((path) => join(folder, path)),
    );
    const bare = files.filter((path) =>
      /\} (wei|gwei|ether)\b|\bformat(Ether|Gwei)\((?!(base|quote)Held)/.test(
        readFileSync(join(projectRoot, path), "utf8"),
      ),
    );
    expect(files.length).toBeGreaterThan(400);
    expect(bare).toEqual([]);
  });
});

describe("roundUp", () => {
  test("default: to significant digits, never below the amount", () => {
    expect(roundUp(123_456n, 3)).toBe(124_000n);
    expect(roundUp(123_000n, 3)).toBe(123_000n);
    expect(roundUp(99_999n, 2)).toBe(100_000n);
    expect(roundUp(7n, 4)).toBe(7n);
    expect(roundUp(0n, 4)).toBe(0n);
  });
});
