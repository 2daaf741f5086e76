import { describe, expect, test, vi } from "vitest";
import { fromHex } from "../../base/bytes.ts";
import { SILENT } from "../../base/log.ts";
import { OwnRuns } from "../../challenger/own-runs.ts";
import type { CoveredModel } from "../../challenger/reexecute.ts";
import { type Commitment, commitTrace, commitWeights } from "../../inference/commit/commitments.ts";
import { trace } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import type { Canonical } from "../../inference/runtime/canonical-pool.ts";
import type { ClaimEntry, RequestEntry } from "../../protocol/chain/claim-index.ts";
import type { ClaimId, ModelId } from "../../protocol/rules/types.ts";
import { hashOf } from "../support/batches.ts";
import { TINY_MODEL, TINY_SELECTOR, tinyInput } from "../support/deploy.ts";

const MODEL = hashOf(7) as ModelId;
const prepared = prepare(TINY_MODEL, TINY_SELECTOR);
const covered: CoveredModel = { id: MODEL, name: "tiny", prepared, weights: commitWeights(TINY_MODEL) };
const request = { input: tinyInput([1, 2, 3, 4]) } as RequestEntry;
const OUTPUT = "0x1234";
const claimOf = (i: number) =>
  ({ id: hashOf(i), claim: { modelId: MODEL }, output: OUTPUT }) as unknown as ClaimEntry;

/** Runs that end when the test says so. */
function open() {
  const begun: {
    readonly finish: () => void;
    readonly fail: () => void;
    readonly signal: AbortSignal;
    readonly claimed: Uint8Array | undefined;
  }[] = [];
  const canonical: Canonical = {
    output: () => Promise.reject(new Error("not asked for")),
    check: () => Promise.reject(new Error("not asked for")),
    trace: (_model, calldata, { signal = new AbortController().signal, claimed } = {}) =>
      new Promise<Commitment>((resolve, reject) => {
        const finish = () => resolve(commitTrace(TINY_MODEL.program, trace(prepared, calldata)));
        begun.push({ finish, fail: () => reject(new Error("the thread was lost")), signal, claimed });
        signal.addEventListener("abort", () => reject(signal.reason));
      }),
  };
  const made: ClaimId[] = [];
  const models = new Map([[MODEL, covered]]);
  const runs = new OwnRuns({ canonical, models, log: SILENT, onMade: (id) => made.push(id) });
  return { runs, begun, made };
}

describe("OwnRuns", () => {
  test("default: it is begun once, nobody waits for it, and its end is told", async () => {
    const { runs, begun, made } = open();
    expect([runs.get(claimOf(1), request), runs.get(claimOf(1), request)]).toEqual([undefined, undefined]);
    expect([begun.length, runs.isIdle, runs.size]).toEqual([1, false, 0]);
    expect(begun[0]?.claimed).toEqual(fromHex(OUTPUT));
    begun[0]?.finish();
    await vi.waitUntil(() => made.length > 0);
    expect(made).toEqual([hashOf(1)]);
    const right = commitTrace(TINY_MODEL.program, trace(prepared, fromHex(request.input)));
    expect(runs.get(claimOf(1), request)?.trace.root).toEqual(right.root);
    expect([begun.length, runs.isIdle, runs.size]).toEqual([1, true, 1]);
  });

  test("behavior: what failed is begun again by whoever asks next", async () => {
    const { runs, begun, made } = open();
    runs.get(claimOf(1), request);
    begun[0]?.fail();
    await vi.waitUntil(() => runs.isIdle);
    expect(made).toEqual([]);
    runs.get(claimOf(1), request);
    expect(begun).toHaveLength(2);
  });

  test("behavior: it is called off when its claim is over, taken back, or the challenger stops", async () => {
    const { runs, begun, made } = open();
    for (const i of [1, 2, 3]) runs.get(claimOf(i), request);
    runs.forget(hashOf(1) as ClaimId);
    runs.keepOnly((id) => id !== hashOf(2));
    expect(begun.map(({ signal }) => signal.aborted)).toEqual([true, true, false]);
    await runs.stop();
    expect(begun.map(({ signal }) => signal.aborted)).toEqual([true, true, true]);
    expect([made, runs.size, runs.isIdle]).toEqual([[], 0, true]);
  });
});
