import { afterAll, describe, expect, test } from "vitest";
import { fromHex, toHex } from "../../base/bytes.ts";
import { SILENT } from "../../base/log.ts";
import { AttentionTests, takeTest } from "../../challenger/attention.ts";
import type { CoveredModel, FastPath } from "../../challenger/reexecute.ts";
import { summarize } from "../../cli/challenger/attention.ts";
import { commitWeights } from "../../inference/commit/commitments.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { CanonicalPool } from "../../inference/runtime/canonical-pool.ts";
import type { ClaimEntry, RequestEntry } from "../../protocol/chain/claim-index.ts";
import type { ClaimId, ModelId } from "../../protocol/rules/types.ts";
import { TINY_MODEL, TINY_SELECTOR, tinyInput } from "../support/deploy.ts";

const prepared = prepare(TINY_MODEL, TINY_SELECTOR);
const model: CoveredModel = {
  id: "0x" as ModelId,
  name: "tiny",
  prepared,
  weights: commitWeights(TINY_MODEL),
};
const canonical = new CanonicalPool(new Map([[model.id, { model: TINY_MODEL, selector: TINY_SELECTOR }]]));
afterAll(() => canonical.close());
const input = tinyInput([1, 2, 3, 4]);
const request = { input } as RequestEntry;
const claim = { output: toHex(execute(prepared, fromHex(input))) } as ClaimEntry;

function tests(everyMs: number, bit: (bound: number) => number = () => 0) {
  let nowMs = 0;
  const attention = new AttentionTests({ everyMs, nowMs: () => nowMs, randomBelow: bit });
  return { attention, at: (ms: number) => (nowMs = ms) };
}

describe("AttentionTests", () => {
  test("default: one bit is turned, whichever it is", () => {
    const honest = fromHex(claim.output);
    for (let bit = 0; bit < 8 * honest.length; bit += 1) {
      const { attention } = tests(0, (bound) => {
        expect(bound).toBe(8 * honest.length);
        return bit;
      });
      const turned = fromHex(attention.plan(claim, request)?.claim.output ?? "0x");
      const different = turned.reduce((sum, byte, i) => sum + (byte ^ (honest[i] as number)), 0);
      expect(different).toBe(1 << (bit & 7));
    }
  });

  test("behavior: not before the time is over, and not without an output", () => {
    const { attention, at } = tests(100);
    const due = () => attention.plan(claim, request) !== undefined;
    expect([due(), due()]).toEqual([true, false]);
    at(99);
    expect(due()).toBe(false);
    at(100);
    expect(attention.plan({ ...claim, output: "0x" as ClaimId }, request)).toBeUndefined();
    expect(due()).toBe(true);
  });
});

describe("takeTest", () => {
  const planned = () => {
    const made = tests(0).attention.plan(claim, request);
    if (made === undefined) throw new Error("nothing is planned");
    return made;
  };
  const taken = (fast: FastPath, changes: Partial<ReturnType<typeof planned>> = {}) =>
    takeTest({ ...planned(), ...changes }, model, { fast, canonical, log: SILENT });

  test("default: found by the canonical executor", async () => {
    expect(await taken({ run: async () => ({ output: fromHex(claim.output) }) })).toBe("detected");
    expect(await taken({ run: async () => ({ failure: "it is ill" }) })).toBe("detected");
  });

  test("behavior: a fast path that agrees with everything is caught by it", async () => {
    const blind = planned();
    expect(await taken({ run: async () => ({ output: fromHex(blind.claim.output) }) })).toBe("missed");
  });

  test("behavior: an executor that finds another output than the known one", async () => {
    const other = toHex(Uint8Array.of(9));
    expect(await taken({ run: async () => ({ failure: "" }) }, { honest: other })).toBe("missed");
  });
});

describe("summarize", () => {
  const claimId = "0x" as ClaimId;

  test("default: rate, median and worst", () => {
    const claims = [{ claimId }, { claimId, seconds: 9 }, { claimId, seconds: 1 }, { claimId, seconds: 4 }];
    expect(summarize(claims)).toEqual({
      planned: 4,
      detected: 3,
      rate: 0.75,
      medianSeconds: 4,
      worstSeconds: 9,
    });
    expect(summarize([{ claimId }])).toEqual({ planned: 1, detected: 0, rate: 0 });
    expect(summarize([])).toEqual({ planned: 0, detected: 0 });
  });
});
