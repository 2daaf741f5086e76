import { type Address, keccak256, toHex } from "viem";
import { describe, expect, test } from "vitest";
import { everybodysFrom, firstOf, isWhatIdSays } from "../../../challenger/shards/assign.ts";
import type { ClaimEntry, RequestEntry } from "../../../protocol/chain/claim-index.ts";
import { claimIdOf, requestIdOf } from "../../../protocol/rules/ids.ts";
import { type ClaimId, NO_CLAIM, type Request, ZERO_ADDRESS } from "../../../protocol/rules/types.ts";

const account = (n: number) => `0x${n.toString(16).padStart(40, "0")}` as Address;
const ids = Array.from({ length: 3_000 }, (_, n) => keccak256(toHex(n)) as ClaimId);

describe("firstOf", () => {
  test("default: whoever asks, and in whatever order, it is the same one; each has about its part", () => {
    const accounts = [1, 2, 3].map(account);
    const parts = new Map(accounts.map((one) => [one, 0]));
    for (const id of ids) {
      const first = firstOf(accounts, id);
      expect(firstOf([...accounts].reverse(), id)).toBe(first);
      parts.set(first, (parts.get(first) ?? 0) + 1);
    }
    for (const count of parts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });

  test("behavior: when one goes, only its claims change hands", () => {
    const all = [1, 2, 3, 4].map(account);
    for (const id of ids) {
      const before = firstOf(all, id);
      if (before !== account(4)) expect(firstOf(all.slice(0, 3), id)).toBe(before);
    }
  });

  test("error: nobody", () => {
    expect(() => firstOf([], ids[0] as ClaimId)).toThrow("somebody has to check the claim");
  });
});

const game = { chainId: 1, assay: account(9) };
const [input, output] = ["0x01", "0x02"] as const;
const request: Request = {
  ...{ requester: account(1), modelId: keccak256("0x03") as Request["modelId"], inputHash: keccak256(input) },
  ...{
    lanes: 1,
    fee: 1n,
    deliveryFee: 0n,
    minBond: 0n,
    window: 400,
    expiry: 10,
    exclusiveProver: ZERO_ADDRESS,
  },
  ...{ exclusiveUntil: 0, callback: ZERO_ADDRESS, callbackGas: 0, salt: 5n },
};
const requestId = requestIdOf(game, request);
const claim = { ...NO_CLAIM, requestId, modelId: request.modelId, outputHash: keccak256(output) };
const claimed = { id: claimIdOf(game, claim), claim, output, windowEnd: 1_400 } as unknown as ClaimEntry;
const asked = { id: requestId, request, input } as unknown as RequestEntry;

test("everybodysFrom: a quarter of the window", () => {
  expect(everybodysFrom(claimed, asked)).toBe(1_100);
});

describe("isWhatIdSays", () => {
  test("default: input, output and terms are those of the id", () => {
    expect(isWhatIdSays(game, claimed, asked)).toBe(true);
  });

  test.each([
    ["output", { ...claimed, output: "0x04" }, asked],
    [
      "output with its hash",
      { ...claimed, output: "0x04", claim: { ...claim, outputHash: keccak256("0x04") } },
      asked,
    ],
    ["input", claimed, { ...asked, input: "0x04" }],
    [
      "input with its hash",
      claimed,
      { ...asked, input: "0x04", request: { ...request, inputHash: keccak256("0x04") } },
    ],
    ["id", { ...claimed, id: keccak256("0x05") }, asked],
  ] as [string, ClaimEntry, RequestEntry][])("behavior: another %s is not", (_, shown, order) => {
    expect(isWhatIdSays(game, shown, order)).toBe(false);
  });
});
