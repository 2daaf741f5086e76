import { describe, expect, test } from "vitest";
import { defaultConfirmations } from "../../../protocol/chain/confirmations.ts";

describe("defaultConfirmations", () => {
  test.each([31_337, 1_337])("default: none on the local chain %s", (chainId) => {
    expect(defaultConfirmations(chainId)).toBe(0);
  });

  test.each([1, 10, 8_453, 42_161, 11_155_111, 137, 4_242])("behavior: some on chain %s", (chainId) => {
    expect(defaultConfirmations(chainId)).toBeGreaterThan(0);
  });

  test("behavior: an unknown chain has more than any known one", () => {
    const known = [1, 10, 8_453, 42_161, 11_155_111].map(defaultConfirmations);
    expect(defaultConfirmations(4_242)).toBeGreaterThan(Math.max(...known));
  });
});
