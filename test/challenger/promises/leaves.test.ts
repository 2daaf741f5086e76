import { afterAll, describe, expect, test } from "vitest";
import { equalBytes, fromHex } from "../../../base/bytes.ts";
import { SILENT } from "../../../base/log.ts";
import { checkLeaves, leafModelOf } from "../../../challenger/promises/leaves.ts";
import type { CoveredModel, EngineOutcome, FastPath } from "../../../challenger/reexecute.ts";
import { commitWeights } from "../../../inference/commit/commitments.ts";
import { execute } from "../../../inference/executor/execute.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import { CanonicalPool } from "../../../inference/runtime/canonical-pool.ts";
import {
  type BatchId,
  batchTree,
  isInBatch,
  joinLeaves,
  MAX_LEAVES,
} from "../../../protocol/rules/promises/batch.ts";
import { compactLeaf } from "../../../protocol/rules/promises/leaf.ts";
import type { ModelId } from "../../../protocol/rules/types.ts";
import { hashOf } from "../../support/batches.ts";
import { TINY_MODEL, TINY_SELECTOR, tinyInput } from "../../support/deploy.ts";
import { createRng } from "../../support/rng.ts";

const prepared = prepare(TINY_MODEL, TINY_SELECTOR);
const MODEL = hashOf(7) as ModelId;
const covered: CoveredModel = { id: MODEL, name: "tiny", prepared, weights: commitWeights(TINY_MODEL) };
const canonical = new CanonicalPool(new Map([[MODEL, { model: TINY_MODEL, selector: TINY_SELECTOR }]]));
afterAll(() => canonical.close());
const exact: FastPath = { run: async (_model, input) => ({ output: execute(prepared, input) }) };
const ID = hashOf(9) as BatchId;

function leafOf(i: number, isWrong = false): Uint8Array {
  const input = fromHex(tinyInput([i & 255, i >> 8, 3, 4]));
  const output = execute(prepared, input);
  if (isWrong) output[64] = (output[64] as number) ^ 1;
  return compactLeaf(leafModelOf(covered), { input, output });
}

async function check(payloads: readonly Uint8Array[], fast = exact, count = payloads.length) {
  const outcomes: EngineOutcome[] = [];
  const verdicts = await checkLeaves(
    covered,
    { id: ID, batch: { count }, data: joinLeaves(payloads) },
    { fast, canonical, log: SILENT },
    (outcome) => outcomes.push(outcome),
  );
  return { ...verdicts, outcomes };
}

describe("checkLeaves", () => {
  test("default: planted wrong leaves are found, all of them and no other, with paths to the root", async () => {
    const random = createRng(22);
    let planted = 0;
    for (const count of [1, 2, 3, 64, 65, 200, MAX_LEAVES]) {
      const wrong = new Set(Array.from({ length: count }, (_, i) => i).filter(() => random.chance(0.05)));
      wrong.add(count - 1);
      planted += wrong.size;
      const payloads = Array.from({ length: count }, (_, i) => leafOf(i, wrong.has(i)));
      const found = await check(payloads);
      expect(found.wrong.map(({ index }) => index)).toEqual([...wrong].sort((a, b) => a - b));
      expect([found.right, found.unchecked.count]).toEqual([count - wrong.size, 0]);
      const { root } = batchTree(payloads);
      for (const { index, payload, path } of found.wrong) {
        expect(
          isInBatch({ count, root: `0x${Buffer.from(root).toString("hex")}` }, index, payload, path),
        ).toBe(true);
      }
    }
    expect(planted).toBeGreaterThan(60);
  });

  test("behavior: a fast path that is at fault makes no leaf wrong", async () => {
    const fast: FastPath = {
      run: async (model, input, signal) => {
        const last = input.at(-29) as number;
        if (last % 3 === 0) return { failure: "it crashed" };
        const ran = await exact.run(model, input, signal);
        if (last % 3 === 1 && "output" in ran) ran.output[70] = 1;
        return ran;
      },
    };
    const found = await check(
      Array.from({ length: 90 }, (_, i) => leafOf(i)),
      fast,
    );
    expect([found.right, found.wrong.length, found.unchecked.count]).toEqual([90, 0, 0]);
    expect(found.outcomes.length).toBeGreaterThan(0);
  });

  test("behavior: what cannot be run is no fraud, and the other leaves are checked", async () => {
    const lost = new CanonicalPool(new Map());
    const broken: FastPath = {
      run: async (model, input, signal) =>
        input[68] === 7 ? { failure: "it crashed" } : exact.run(model, input, signal),
    };
    const verdicts = await checkLeaves(
      covered,
      {
        id: ID,
        batch: { count: 20 },
        data: joinLeaves(Array.from({ length: 20 }, (_, i) => leafOf(i))),
      },
      { fast: broken, canonical: lost, log: SILENT },
    );
    expect(verdicts).toMatchObject({ right: 19, wrong: [], unchecked: { count: 1 } });
    expect(verdicts.unchecked.reason).toContain("is not loaded");
  });

  test.each([
    ["data that end within a leaf", [leafOf(1), leafOf(2).subarray(1)], 2, "LEAF_LENGTH_WRONG"],
    ["another number of leaves than the batch says", [leafOf(1), leafOf(2)], 3, "the data hold 2 leaves"],
    ["no data", [], 1, "the data hold 0 leaves"],
  ])("error: %s could not be checked", async (_name, payloads, count, reason) => {
    const found = await check(payloads, exact, count);
    expect(found).toMatchObject({ right: 0, wrong: [], unchecked: { count } });
    expect(found.unchecked.reason).toContain(reason.startsWith("LEAF") ? "bytes" : reason);
  });

  test("behavior: an abort ends it without a verdict", async () => {
    const over = new AbortController();
    const slow: FastPath = {
      run: async (model, input, signal) => {
        over.abort(new Error("stopping"));
        return exact.run(model, input, signal);
      },
    };
    const checking = checkLeaves(
      covered,
      { id: ID, batch: { count: 500 }, data: joinLeaves(Array.from({ length: 500 }, (_, i) => leafOf(i))) },
      { fast: slow, canonical, log: SILENT, signal: over.signal },
    );
    await expect(checking).rejects.toThrow("stopping");
  });

  test("behavior: every output of the right length is compared, whatever its bytes", async () => {
    const leaf = leafOf(1);
    const random = createRng(5);
    const outputs = Array.from({ length: 64 }, () => {
      const other = leaf.slice();
      for (let i = 4; i < other.length; i++) other[i] = random.int(0, 255);
      return other;
    });
    const wrong = outputs.filter((other) => !equalBytes(other, leaf));
    expect((await check(outputs)).wrong).toHaveLength(wrong.length);
  });
});
