import type { Address } from "viem";
import { describe, expect, it } from "vitest";
import type { ClaimEntry } from "../../../protocol/chain/claim-index.ts";
import {
  ENDING_GAS,
  EndingBudget,
  endingDelay,
  endingRefusal,
  overdueAnswer,
  owesAnswer,
} from "../../../protocol/chain/endings.ts";
import { bondsOf, fallPayout, gasPriceRange } from "../../../protocol/rules/money.ts";
import { type ClaimId, NO_CLAIM, ZERO_HASH } from "../../../protocol/rules/types.ts";
import { type ClaimWord, EMPTY_CLAIM_WORD } from "../../../protocol/rules/words.ts";

const ANN: Address = "0x1111111111111111111111111111111111111111";
const CLAIM = ZERO_HASH as ClaimId;
const HOUR_MS = 3_600_000;

function entry(changes: Partial<ClaimEntry> = {}): ClaimEntry {
  return {
    id: CLAIM,
    claim: NO_CLAIM,
    output: "0x",
    windowEnd: 1_040,
    block: { number: 1n, hash: ZERO_HASH },
    status: "active",
    challengers: new Set([ANN]),
    collected: new Set(),
    demands: new Map(),
    ...changes,
  };
}
const trace = { root: ZERO_HASH, tops: [] };
const word: ClaimWord = { ...EMPTY_CLAIM_WORD, state: "ACTIVE", windowEnd: 1_040, traceDeadline: 1_010 };
const demanded = (deadline: number, content?: readonly `0x${string}`[]) =>
  entry({ trace, demands: new Map([[7n, { by: ANN, deadline, ...(content && { content }) }]]) });

describe("owesAnswer", () => {
  it("default: the trace from the first ticket on, then each demand until it is answered", () => {
    expect(owesAnswer(entry({ challengers: new Set() }))).toBe(false);
    expect(owesAnswer(entry())).toBe(true);
    expect(owesAnswer(entry({ trace }))).toBe(false);
    expect(owesAnswer(demanded(1_020))).toBe(true);
    expect(owesAnswer(demanded(1_020, []))).toBe(false);
    expect(owesAnswer(entry({ status: "fallen" }))).toBe(false);
  });
});

describe("overdueAnswer", () => {
  it("default: the first second after the deadline, and never what nobody owes", () => {
    expect(overdueAnswer(entry(), word, 1_010)).toBeUndefined();
    expect(overdueAnswer(entry(), word, 1_011)).toEqual({ kind: "timeoutTrace" });
    expect(overdueAnswer(entry(), { ...word, traceDeadline: 0 }, 1_011)).toBeUndefined();
    expect(overdueAnswer(demanded(1_020), word, 1_020)).toBeUndefined();
    expect(overdueAnswer(demanded(1_020), word, 1_021)).toEqual({ kind: "timeoutDemand", position: 7n });
    expect(overdueAnswer(demanded(1_020, []), word, 1_021)).toBeUndefined();
  });

  it("behavior: a claim that ended owes nothing, whatever the events say", () => {
    for (const state of ["NONE", "FINAL", "FALLEN"] as const)
      expect(overdueAnswer(entry(), { ...word, state }, 9_999)).toBeUndefined();
  });
});

describe("endingDelay", () => {
  it("behavior: is at most half of the answer time and a minute, and differs between accounts and claims", () => {
    const accounts = Array.from(
      { length: 64 },
      (_, i): Address => `0x${(i + 1).toString(16).padStart(40, "0")}`,
    );
    const delays = (seconds: number) => accounts.map((own) => endingDelay(own, CLAIM, seconds));
    for (const seconds of [1, 2, 5, 240, 86_400]) {
      for (const delay of delays(seconds)) {
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThan(Math.max(1, Math.min(seconds / 2, 60)));
      }
    }
    expect(new Set(delays(240)).size).toBeGreaterThan(30);
    const other = `0x${"33".repeat(32)}` as ClaimId;
    expect(accounts.map((own) => endingDelay(own, other, 240))).not.toEqual(delays(240));
  });
});

describe("endingRefusal", () => {
  it("default: covers what is left and what a fall burns, to the unit", () => {
    expect(endingRefusal(10n, 20n, 10n)).toBeUndefined();
    expect(endingRefusal(11n, 20n, 100n)).toMatch("more than the 10 wei that its fall burns");
    expect(endingRefusal(10n, 20n, 9n)).toMatch("the hour's budget has 9 wei left");
  });

  it("behavior: a claim made to be ended costs its maker at least 36 times what it costs who ends it", () => {
    // The least defence, and the price at which a transaction may be included without a tip: twice the base fee.
    const constants = { gasBase: 145_000n, gasPerDemand: 122_000n, gasPriceFloor: 0n };
    for (const baseFee of [1n, 10n ** 6n, 10n ** 9n, 10n ** 12n]) {
      for (const attempt of [0, 1, 5]) {
        const gasPrice = gasPriceRange(constants, baseFee).least;
        const bonds = bondsOf(constants, { gasPrice, depth: 0, minBond: 0n, attempt });
        // With all tickets its own it has back all but what is burned.
        const { burned } = fallPayout(bonds, 1, false);
        const ending = ENDING_GAS * 2n * baseFee;
        expect(burned / ending).toBeGreaterThanOrEqual(36n << BigInt(attempt));
      }
    }
  });
});

describe("EndingBudget", () => {
  it("behavior: holds over any hour, whatever is booked", () => {
    let nowMs = 0;
    const budget = new EndingBudget(100n, () => nowMs);
    const spent: { atMs: number; wei: bigint }[] = [];
    for (let i = 0; i < 2_000; i += 1) {
      nowMs += (i * 7_919) % 400_000;
      const wei = BigInt(1 + ((i * 31) % 60));
      if (endingRefusal(wei, 2n * wei, budget.left(`${i}`)) !== undefined) continue;
      budget.record(`${i}`, wei);
      spent.push({ atMs: nowMs, wei });
      const hour = spent.filter(({ atMs }) => atMs > nowMs - HOUR_MS);
      expect(hour.reduce((sum, one) => sum + one.wei, 0n)).toBeLessThanOrEqual(100n);
    }
    expect(spent.length).toBeGreaterThan(100);
  });

  it("behavior: a move counts once, at what it cost in the end, and nothing if it cost nothing", () => {
    const budget = new EndingBudget(100n, () => 0);
    budget.record("a", 80n);
    expect([budget.left(), budget.left("a"), budget.left("b")]).toEqual([20n, 100n, 20n]);
    budget.record("a", 30n);
    expect(budget.left()).toBe(70n);
    budget.record("b", 90n);
    expect(budget.left()).toBe(0n);
    budget.record("b", 0n);
    expect(budget.left()).toBe(70n);
  });

  it("args: a limit of 0 covers nothing", () => {
    const budget = new EndingBudget(0n, () => 0);
    expect(endingRefusal(1n, 100n, budget.left())).toMatch("0 ether left");
  });
});
