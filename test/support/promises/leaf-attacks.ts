/** Batches that a challenger has to check whole: what hides a wrong leaf, and what must not make a right one wrong. */
import { expect } from "vitest";
import { fromHex, toHex } from "../../../base/bytes.ts";
import { SILENT } from "../../../base/log.ts";
import { type checkLeaves, leafModelOf } from "../../../challenger/promises/leaves.ts";
import type { CoveredModel, EngineOutcome, FastPath } from "../../../challenger/reexecute.ts";
import { commitWeights } from "../../../inference/commit/commitments.ts";
import { execute } from "../../../inference/executor/execute.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import { CanonicalPool } from "../../../inference/runtime/canonical-pool.ts";
import { type BatchId, batchTree, isInBatch, joinLeaves } from "../../../protocol/rules/promises/batch.ts";
import { compactLeaf } from "../../../protocol/rules/promises/leaf.ts";
import type { ModelId } from "../../../protocol/rules/types.ts";
import { hashOf } from "../batches.ts";
import { TINY_MODEL, TINY_SELECTOR, tinyInput } from "../deploy.ts";

const prepared = prepare(TINY_MODEL, TINY_SELECTOR);
const MODEL = hashOf(7) as ModelId;
export const LEAF_MODEL: CoveredModel = {
  ...{ id: MODEL, name: "tiny", prepared, weights: commitWeights(TINY_MODEL) },
};
export const BATCH_ID = hashOf(9) as BatchId;
export const EXACT: FastPath = { run: async (_model, input) => ({ output: execute(prepared, input) }) };
export const openCanonical = () =>
  new CanonicalPool(new Map([[MODEL, { model: TINY_MODEL, selector: TINY_SELECTOR }]]));

export function leafOf(i: number, isWrong = false): Uint8Array {
  const input = fromHex(tinyInput([i & 255, i >> 8, 3, 4]));
  const output = execute(prepared, input);
  if (isWrong) output[64] = (output[64] as number) ^ 1;
  return compactLeaf(leafModelOf(LEAF_MODEL), { input, output });
}

export interface CheckTerms {
  readonly fast?: FastPath;
  readonly canonical?: CanonicalPool;
  /** that the batch says; absent: as many as there are */
  readonly count?: number;
  readonly model?: CoveredModel;
}

/** Has leaves checked, and waits for the canonical executor's process only where it is given. */
export async function checkWith(
  check: typeof checkLeaves,
  payloads: readonly Uint8Array[],
  { fast = EXACT, canonical, count = payloads.length, model = LEAF_MODEL }: CheckTerms,
) {
  const outcomes: EngineOutcome[] = [];
  const posted = { id: BATCH_ID, batch: { count }, data: joinLeaves(payloads) };
  const engines = { fast, canonical: canonical ?? new CanonicalPool(new Map()), log: SILENT };
  const verdicts = await check(model, posted, engines, (outcome) => outcomes.push(outcome));
  return { ...verdicts, outcomes };
}

export interface LeafAttack {
  readonly name: string;
  /** @throws what the expectation throws where it is not so */
  readonly run: (check: typeof checkLeaves, canonical: CanonicalPool) => Promise<void>;
}

const crashes: FastPath = {
  run: async (model, input, signal) =>
    input[68] === 7 ? { failure: "it crashed" } : EXACT.run(model, input, signal),
};
const lies: FastPath = {
  run: async (model, input, signal) => {
    const ran = await EXACT.run(model, input, signal);
    if ("output" in ran) ran.output[70] = 1;
    return ran;
  },
};

const unchecked = (name: string, payloads: readonly Uint8Array[], count: number, reason: string) => ({
  name: `${name} could not be checked`,
  run: async (check: typeof checkLeaves) => {
    const found = await checkWith(check, payloads, { count });
    expect(found).toMatchObject({ right: 0, wrong: [], unchecked: { count } });
    expect(found.unchecked.reason).toContain(reason);
  },
});

export const LEAF_ATTACKS: readonly LeafAttack[] = [
  unchecked("data that end within a leaf", [leafOf(1), leafOf(2).subarray(1)], 2, "bytes"),
  unchecked("fewer leaves than the batch says", [leafOf(1), leafOf(2)], 3, "the data hold 2 leaves"),
  unchecked("more leaves than the batch says", [leafOf(1), leafOf(2, true)], 1, "the data hold 2 leaves"),
  unchecked("no data", [], 1, "the data hold 0 leaves"),
  {
    name: "a wrong leaf is found at each end and in the middle, with its path to the root",
    run: async (check, canonical) => {
      for (const at of [0, 2, 4]) {
        const payloads = Array.from({ length: 5 }, (_, i) => leafOf(i, i === at));
        const { right, wrong } = await checkWith(check, payloads, { canonical });
        expect([right, wrong.map(({ index }) => index)]).toEqual([4, [at]]);
        const [{ payload, path }] = wrong as [(typeof wrong)[number]];
        const root = toHex(batchTree(payloads).root);
        expect(isInBatch({ count: 5, root }, at, payload, path)).toBe(true);
      }
    },
  },
  {
    name: "leaves that cannot be run are no fraud, and the others are checked",
    run: async (check) => {
      const payloads = Array.from({ length: 20 }, (_, i) => leafOf(i));
      const found = await checkWith(check, payloads, { fast: crashes });
      expect(found).toMatchObject({ right: 19, wrong: [], unchecked: { count: 1 } });
      expect(found.unchecked.reason).toContain("is not loaded");
    },
  },
  {
    name: "a fast path that errs makes no leaf wrong",
    run: async (check, canonical) => {
      const found = await checkWith(check, [leafOf(1), leafOf(2)], { fast: lies, canonical });
      expect([found.right, found.wrong, found.unchecked.count]).toEqual([2, [], 0]);
    },
  },
];
