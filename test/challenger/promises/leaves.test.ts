import { afterAll, describe, expect, test } from "vitest";
import { equalBytes } from "../../../base/bytes.ts";
import { SILENT } from "../../../base/log.ts";
import { checkLeaves } from "../../../challenger/promises/leaves.ts";
import type { FastPath } from "../../../challenger/reexecute.ts";
import { execute } from "../../../inference/executor/execute.ts";
import { batchTree, isInBatch, joinLeaves } from "../../../protocol/rules/promises/batch.ts";
import { PROMISE_LIMITS } from "../../../protocol/rules/promises/limits.ts";
import type { FastResult } from "../../../protocol/service/workers/confirm.ts";
import {
  BATCH_ID,
  type CheckTerms,
  checkWith,
  EXACT,
  LEAF_ATTACKS,
  LEAF_MODEL,
  leafOf,
  openCanonical,
} from "../../support/promises/leaf-attacks.ts";
import { createRng } from "../../support/rng.ts";

const canonical = openCanonical();
afterAll(() => canonical.close());

const check = (payloads: readonly Uint8Array[], terms: CheckTerms = {}) =>
  checkWith(checkLeaves, payloads, { canonical, ...terms });

describe("checkLeaves", () => {
  test("default: planted wrong leaves are found, all of them and no other, with paths to the root", async () => {
    const random = createRng(22);
    let planted = 0;
    for (const count of [1, 2, 3, 64, 65, 200, PROMISE_LIMITS.maxLeaves]) {
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
        const ran = await EXACT.run(model, input, signal);
        if (last % 3 === 1 && "output" in ran) ran.output[70] = 1;
        return ran;
      },
    };
    const payloads = Array.from({ length: 90 }, (_, i) => leafOf(i));
    const found = await check(payloads, { fast });
    expect([found.right, found.wrong.length, found.unchecked.count]).toEqual([90, 0, 0]);
    expect(found.outcomes.length).toBeGreaterThan(0);
  });

  test("behavior: leaves of a quick model are the canonical executor's alone to judge", async () => {
    const never: FastPath = { run: () => Promise.reject(new Error("the fast path was asked")) };
    const wrong = [3, 64, 199];
    const payloads = Array.from({ length: 200 }, (_, i) => leafOf(i, wrong.includes(i)));
    const found = await check(payloads, { fast: never, model: { ...LEAF_MODEL, isQuick: true } });
    expect(found.wrong.map(({ index }) => index)).toEqual(wrong);
    expect([found.right, found.unchecked.count, found.outcomes]).toEqual([197, 0, []]);
  });

  test("behavior: leaves are run together where the fast path takes many, and each is compared as one alone", async () => {
    const sizes: number[] = [];
    const together: FastPath = {
      run: () => Promise.reject(new Error("one alone")),
      runAll: async (_model, inputs) => {
        sizes.push(inputs.length);
        return inputs.map((input, at): FastResult => {
          const output = execute(LEAF_MODEL.prepared, input).slice();
          if (at % 3 === 0) return { failure: "it crashed" };
          return at % 3 === 1 ? { output, workers: ["a", "b"] } : { output };
        });
      },
    };
    const wrong = [0, 31, 32, 99];
    const payloads = Array.from({ length: 100 }, (_, i) => leafOf(i, wrong.includes(i)));
    const found = await check(payloads, { fast: together });
    expect([found.wrong.map(({ index }) => index), found.right]).toEqual([wrong, 96]);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(100);
    expect(Math.max(...sizes)).toBeGreaterThan(1);
    expect([...found.workers]).toEqual(["a", "b"]);
  });

  test.each(LEAF_ATTACKS)("behavior: $name", ({ run }) => run(checkLeaves, canonical));

  test("behavior: an abort ends it without a verdict", async () => {
    const over = new AbortController();
    const slow: FastPath = {
      run: async (model, input, signal) => {
        over.abort(new Error("stopping"));
        return EXACT.run(model, input, signal);
      },
    };
    const checking = checkLeaves(
      LEAF_MODEL,
      {
        id: BATCH_ID,
        batch: { count: 500 },
        data: joinLeaves(Array.from({ length: 500 }, (_, i) => leafOf(i))),
      },
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
