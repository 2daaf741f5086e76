/** Leaves of batches that workers compute, with a real PostgreSQL: many in one order, what is wrong is found, and what liars
 *  made right is found once one of them is barred. */
import { setMaxListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { toHex } from "../../base/bytes.ts";
import { SILENT } from "../../base/log.ts";
import { BatchChecker } from "../../challenger/promises/batches.ts";
import { leafModelOf } from "../../challenger/promises/leaves.ts";
import { keyOfLeaf, PROMISES_SCHEMA, WatchedPromises } from "../../challenger/promises/store.ts";
import type { CoveredModel } from "../../challenger/reexecute.ts";
import { commitWeights } from "../../inference/commit/commitments.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { type BatchId, batchTree, joinLeaves } from "../../protocol/rules/promises/batch.ts";
import { compactLeaf } from "../../protocol/rules/promises/leaf.ts";
import { type ModelId, ZERO_ADDRESS } from "../../protocol/rules/types.ts";
import { openDatabase } from "../../protocol/service/journal/database.ts";
import { confirmedByTwo } from "../../protocol/service/workers/confirm.ts";
import type { WorkerRuns } from "../../protocol/service/workers/runs.ts";
import { hashOf } from "../support/batches.ts";
import { temporaryFolder } from "../support/deploy.ts";
import { machine } from "../support/workers.ts";
import { model, rightOf, sentiment, workersSuite, wrongOf } from "../support/workers-suite.ts";

const { openRuns, here, alive, closers, nextInput } = workersSuite();
const id = model as ModelId;
const covered: CoveredModel = {
  ...{ id, name: "sentiment", prepared: prepare(sentiment.model, sentiment.selector) },
  weights: commitWeights(sentiment.model),
};
const BATCH = hashOf(9) as BatchId;
const LEAVES = 100;
const WRONG = [0, 40, 99];

/** A challenger's checks of one batch, whose leaves are right but for some.
 *  @param sampleOneIn of so many answers one is computed here too */
function checker(runs: WorkerRuns, sampleOneIn = 1_000_000) {
  const folder = temporaryFolder();
  closers.push(async () => folder.remove());
  const own = machine(sentiment, rightOf);
  closers.push(own.close);
  const store = new WatchedPromises(openDatabase(`${folder.path}/assay.sqlite`, [PROMISES_SCHEMA]));
  const barred = new Set<string>();
  const { signal } = new AbortController();
  // As PromiseWatch does.
  setMaxListeners(0, signal);
  const confirmed = confirmedByTwo({ ...own, workers: runs, asksFor: () => true }, sampleOneIn, () => 0.5);
  const batches = new BatchChecker({
    ...{ ...confirmed, store, signal, barred, models: new Map([[id, covered]]), log: SILENT },
    ...{ observe: () => undefined, onWrong: () => undefined, nowMs: Date.now, now: () => 1 },
  });
  // As the challenger's own wiring does it.
  runs.onBarred = (worker) => {
    barred.add(worker);
    if (store.words.distrust(worker) > 0) batches.again();
  };
  const leafModel = leafModelOf(covered);
  const inputs = Array.from({ length: LEAVES }, nextInput);
  const payloads = inputs.map((input, i) =>
    compactLeaf(leafModel, { input, output: WRONG.includes(i) ? wrongOf(input) : rightOf(input) }),
  );
  const batch = {
    ...{ prover: ZERO_ADDRESS, modelId: id, window: 600, count: LEAVES },
    root: toHex(batchTree(payloads).root),
  };
  const block = 1n;
  store.advance([{ number: block, hash: hashOf(1) }], () =>
    store.batches.add({ id: BATCH, batch, block, windowEnd: 601, data: joinLeaves(payloads) }),
  );
  const head = { number: block, hash: hashOf(1), timestamp: 1 };
  const check = async () => {
    batches.see(head);
    await batches.idle();
  };
  return { own, store, batches, check, inputs, canonical: confirmed.canonical };
}
const keys = WRONG.map((index) => keyOfLeaf(BATCH, index));

describe("BatchChecker", () => {
  test("default: two workers compute the leaves of a batch in few orders, and this machine what is wrong", async () => {
    const { runs, outcomes } = await openRuns(60_000);
    let computed = 0;
    for (const name of ["a", "b"])
      here(name, (calldata) => {
        computed += 1;
        return rightOf(calldata);
      });
    await alive(runs, 2);
    const { own, store, check } = checker(runs);
    await check();
    expect([...store.keysOf(BATCH)].sort()).toEqual([...keys].sort());
    expect([store.unchecked, own.counts()]).toEqual([0, { canonicalRuns: WRONG.length, fastRuns: 0 }]);
    expect(computed).toBe(2 * LEAVES);
    expect(new Set(outcomes)).toEqual(new Set(["answered"]));
    expect(outcomes.length).toBeLessThan(LEAVES / 4);
    expect(runs.barred).toBe(0);
  });

  test("behavior: two that say what a lying prover says have its leaves left alone until one is found out", async () => {
    const { runs } = await openRuns(60_000);
    const lies = new Set<string>();
    for (const name of ["liar-1", "liar-2"])
      here(name, (calldata) => (lies.has(toHex(calldata)) ? wrongOf(calldata) : rightOf(calldata)));
    await alive(runs, 2);
    const { own, store, check, batches, inputs } = checker(runs);
    for (const index of WRONG) lies.add(toHex(inputs[index] as Uint8Array));
    await check();
    // This is what a collusion of two can reach, as long as no sample of it is taken.
    expect([store.keysOf(BATCH), store.unchecked, own.counts().canonicalRuns]).toEqual([[], 0, 0]);
    runs.bar("assay/liar-2", {});
    await batches.idle();
    expect([...store.keysOf(BATCH)].sort()).toEqual([...keys].sort());
    expect([store.unchecked, own.counts().canonicalRuns]).toEqual([0, LEAVES]);
  });

  test("behavior: a sample of leaves finds both, and all leaves are compared here", async () => {
    const { runs } = await openRuns(60_000);
    here("liar-1", wrongOf);
    here("liar-2", wrongOf);
    await alive(runs, 2);
    const { store, check, batches } = checker(runs, 1);
    await check();
    await batches.idle();
    expect([...store.keysOf(BATCH)].sort()).toEqual([...keys].sort());
    expect([runs.barred, store.unchecked]).toEqual([2, 0]);
  });

  test("behavior: where one lies about some leaves, these are this machine's, and it is barred", async () => {
    const { runs } = await openRuns(60_000);
    here("honest", rightOf);
    let asked = 0;
    here("liar", (calldata) => (++asked === 7 ? wrongOf(calldata) : rightOf(calldata)));
    await alive(runs, 2);
    const { store, check, batches } = checker(runs);
    await check();
    await batches.idle();
    expect([...store.keysOf(BATCH)].sort()).toEqual([...keys].sort());
    expect([runs.barred, store.unchecked]).toEqual([1, 0]);
  });

  test("behavior: an answer of another number of outputs counts for nothing, and its worker no more", async () => {
    const { runs } = await openRuns(60_000);
    await alive(runs, 0);
    // Such workers are no program of ours: what they write stands in the table of answers.
    const bars: string[] = [];
    const own = machine(sentiment, rightOf);
    closers.push(own.close);
    const asked = { bar: (worker: string) => void bars.push(worker) };
    const inputs = [nextInput(), nextInput()];
    for (const content of [
      new Uint8Array(),
      Uint8Array.of(0, 0, 0, 9, 1),
      Uint8Array.of(0, 0, 0, 0),
      new Uint8Array(3),
    ]) {
      bars.length = 0;
      const ask = async () => ["x", "y"].map((worker) => ({ worker, content }));
      const { fast } = confirmedByTwo(
        { ...own, workers: { ...asked, ask }, asksFor: () => true },
        1,
        () => 1,
      );
      expect(await fast.runAll(model, inputs)).toEqual(inputs.map((input) => ({ output: rightOf(input) })));
      expect(bars).toEqual(["x", "y"]);
    }
  });
});
