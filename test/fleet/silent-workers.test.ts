/** Workers that live and answer late or never, with a real PostgreSQL: they cost a part of the time that is left, a few
 *  times, and then none. */
import { describe, expect, test, vi } from "vitest";
import { toHex } from "../../base/bytes.ts";
import { type Logger, SILENT } from "../../base/log.ts";
import type { Notice } from "../../challenger/notices.ts";
import type { CoveredModel } from "../../challenger/reexecute.ts";
import { VERDICTS_SCHEMA, VerdictStore } from "../../challenger/verdicts.ts";
import { Challenger } from "../../challenger/watch.ts";
import { commitWeights } from "../../inference/commit/commitments.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { type ClaimId, type ModelId, NO_CLAIM } from "../../protocol/rules/types.ts";
import { openDatabase } from "../../protocol/service/journal/database.ts";
import { ChainClock } from "../../protocol/service/metrics/chain-clock.ts";
import { EventStore } from "../../protocol/service/store/event-store.ts";
import { EVENTS_SCHEMA } from "../../protocol/service/store/events-schema.ts";
import { confirmedByTwo } from "../../protocol/service/workers/confirm.ts";
import { QUEUE_SCHEMA } from "../../protocol/service/workers/orders.ts";
import { REST_MS } from "../../protocol/service/workers/patience.ts";
import { blocks, eventIn, hashOf } from "../support/batches.ts";
import { temporaryFolder } from "../support/deploy.ts";
import { machine, workerHere } from "../support/workers.ts";
import { model, rightOf, sentiment, workersSuite, wrongOf } from "../support/workers-suite.ts";

const suite = workersSuite();
const { openRuns, alive, closers, nextInput, contents } = suite;

function workers(count: number, answers: (calldata: Uint8Array) => Promise<Uint8Array>) {
  for (let i = 0; i < count; i++) {
    const worker = workerHere(`worker-${i}`, suite.postgres.url, {
      output: (_, calldata) => answers(calldata),
    });
    closers.push(() => worker.stop());
  }
}
const never = () => new Promise<Uint8Array>(() => undefined);

const question = (more: { count?: number; leftMs?: number; of?: string } = {}) => ({
  ...{ task: "output" as const, model: more.of ?? model, input: nextInput() },
  ...{ count: more.count ?? 2, leftMs: more.leftMs },
});

describe("WorkerRuns.ask", () => {
  test("args: leftMs: an order takes a quarter of it at most, and is not sent where that is too short", async () => {
    const { runs, outcomes } = await openRuns(60_000);
    workers(2, never);
    await alive(runs, 2);
    const leftMs = 12_000;
    const since = performance.now();
    expect(await runs.ask(question({ leftMs }))).toEqual([]);
    const ms = performance.now() - since;
    expect(ms).toBeGreaterThan(leftMs / 4 - 100);
    expect(ms).toBeLessThan(leftMs);
    for (const shortMs of [500, 0, -10]) await runs.ask(question({ leftMs: shortMs }));
    expect(outcomes).toEqual(["late", "no-time", "no-time", "no-time"]);
  });

  test("behavior: after three late answers none is asked for a while, which is logged once; then one order probes", async () => {
    let now = 0;
    const logged: string[] = [];
    const log: Logger = {
      ...SILENT,
      info: (_fields: object, message: string) => void logged.push(message),
      warn: (_fields: object, message: string) => void logged.push(message),
    };
    const { runs, outcomes } = await openRuns(20_000, { nowMs: () => now, log });
    const leftMs = 2_400;
    const silent: (() => void)[] = [];
    let areSilent = true;
    workers(2, async (calldata) => {
      if (areSilent) await new Promise<void>((resolve) => silent.push(resolve));
      return rightOf(calldata);
    });
    await alive(runs, 2);
    await Promise.all(Array.from({ length: 8 }, () => runs.ask(question({ leftMs }))));
    expect([runs.resting, outcomes]).toEqual([1, Array(8).fill("late")]);
    outcomes.length = 0;
    await Promise.all(Array.from({ length: 20 }, () => runs.ask(question({ leftMs }))));
    expect(outcomes).toEqual(Array(20).fill("resting"));
    // What one model cannot be asked about says nothing about another.
    outcomes.length = 0;
    expect(await runs.ask(question({ of: `0x${"55".repeat(32)}`, count: 1, leftMs }))).toEqual([]);
    expect([outcomes, runs.resting]).toEqual([["late"], 1]);
    outcomes.length = 0;
    now += REST_MS.first;
    await Promise.all(Array.from({ length: 5 }, () => runs.ask(question({ leftMs }))));
    expect([...outcomes].sort()).toEqual(["late", ...Array(4).fill("resting")]);
    outcomes.length = 0;
    now += REST_MS.first;
    await runs.ask(question({ leftMs }));
    expect(outcomes).toEqual(["resting"]);
    // They come to themselves, and whoever probes finds it.
    areSilent = false;
    for (const end of silent) end();
    const { postgres } = suite;
    const isFree = async () => (await postgres.query(`SELECT FROM ${QUEUE_SCHEMA}.job`)).length;
    await expect.poll(isFree, suite.SOON).toBe(0);
    now += REST_MS.first;
    const probe = question();
    expect(contents(await runs.ask(probe))).toEqual(Array(2).fill(toHex(rightOf(probe.input))));
    expect(runs.resting).toBe(0);
    const next = await Promise.all(Array.from({ length: 8 }, () => runs.ask(question())));
    expect(next.every((answers) => answers.length === 2)).toBe(true);
    const about = logged.filter((message) => message.startsWith("workers answer"));
    expect(about).toEqual([
      "workers answer too late: none is asked about this model for a while",
      "workers answer in time again",
    ]);
  });

  test("behavior: a copy that is given back while its order is taken away does not stay in the queue", async () => {
    const { runs } = await openRuns(60_000);
    workers(2, never);
    await alive(runs, 2);
    const { postgres } = suite;
    const asking = runs.ask(question({ leftMs: 4_000 }));
    const jobs = async () => (await postgres.query(`SELECT FROM ${QUEUE_SCHEMA}.job`)).length;
    await expect.poll(jobs, suite.SOON).toBe(2);
    // As the queue gives back: one statement deletes the row and puts it in again.
    await postgres.query(
      `BEGIN; WITH taken AS (DELETE FROM ${QUEUE_SCHEMA}.job RETURNING *)
       INSERT INTO ${QUEUE_SCHEMA}.job SELECT * FROM taken; SELECT pg_sleep(4); COMMIT`,
    );
    await asking;
    await expect.poll(jobs, suite.SOON).toBe(0);
  });

  test("behavior: slow but honest ones are heard while there is time, and this machine decides where there is not", async () => {
    const { runs, outcomes } = await openRuns(5_000);
    workers(2, async (calldata) => {
      await new Promise((resolve) => setTimeout(resolve, 600));
      return rightOf(calldata);
    });
    await alive(runs, 2);
    const own = machine(sentiment, rightOf);
    closers.push(own.close);
    const { fast } = confirmedByTwo({ ...own, workers: runs, asksFor: () => true }, 1_000_000, () => 0.5);
    for (let i = 0; i < 3; i++) {
      const input = nextInput();
      expect(await fast.run(model, input, undefined, 60_000)).toMatchObject({ output: rightOf(input) });
    }
    expect([own.counts().fastRuns, runs.resting]).toEqual([0, 0]);
    const input = nextInput();
    expect(await fast.run(model, input, undefined, 1_200)).toEqual({ output: rightOf(input) });
    expect(own.counts().fastRuns).toBe(1);
    expect(outcomes).toEqual([...Array(3).fill("answered"), "late"]);
  });

  test("behavior: an order whose workers die ends as soon as they count as gone, and no rest follows", async () => {
    const { runs } = await openRuns(600_000);
    const two = ["a", "b"].map((name) => workerHere(name, suite.postgres.url, { output: never }));
    await alive(runs, 2);
    const asking = Promise.all(Array.from({ length: 5 }, () => runs.ask(question())));
    for (const worker of two) await worker.stop();
    expect(await asking).toEqual(Array(5).fill([]));
    expect(runs.resting).toBe(0);
  });

  test("behavior: that PostgreSQL is gone is no word about workers", async () => {
    const { runs } = await openRuns(20_000);
    workers(2, never);
    await alive(runs, 2);
    const asking = Promise.all(Array.from({ length: 5 }, () => runs.ask(question())));
    await suite.postgres.crash();
    await asking;
    expect(runs.resting).toBe(0);
    await suite.postgres.start();
    await alive(runs, 2);
  });
});

describe("Challenger", () => {
  const WINDOW_SECONDS = 16;
  const CLAIMS = 8;

  test("behavior: two silent workers, and windows shorter than --worker-seconds: no wrong claim is missed", async () => {
    const { runs, outcomes } = await openRuns(600_000);
    workers(2, never);
    await alive(runs, 2);
    const own = machine(sentiment, rightOf);
    closers.push(own.close);
    // Its thread is there.
    await own.canonical.output(model, nextInput());
    const asked = { ...own, workers: runs, asksFor: () => true };
    const folder = temporaryFolder();
    closers.push(async () => folder.remove());
    const db = openDatabase(`${folder.path}/assay.sqlite`, [EVENTS_SCHEMA, VERDICTS_SCHEMA]);
    const clock = new ChainClock(Date.now);
    const verdictAt: number[] = [];
    const id = model as ModelId;
    const covered: CoveredModel = {
      ...{ id, name: "sentiment", prepared: prepare(sentiment.model, sentiment.selector) },
      weights: commitWeights(sentiment.model),
    };
    const challenger = new Challenger({
      chain: { game: {}, constants: { answerSeconds: 3 } } as unknown as Chain,
      ...{ store: new EventStore(db), verdicts: new VerdictStore(db), models: new Map([[id, covered]]) },
      ...confirmedByTwo(asked, 1_000_000, () => 0.5),
      // One after another: each has to leave time for those behind it.
      ...{ width: 1, clock, nowMs: Date.now, log: SILENT },
      observe: (notice: Notice) => {
        if (notice.kind === "verdict") verdictAt.push(clock.now as number);
      },
    });
    closers.push(() => challenger.stop());
    const filed = Array.from({ length: CLAIMS }, (_, i) => {
      const input = nextInput();
      const requestId = hashOf(100 + i);
      const claim = { ...NO_CLAIM, requestId, modelId: id, bond: 5n };
      const terms = { claimId: hashOf(200 + i), requestId, claim, windowEnd: 1 + WINDOW_SECONDS };
      const wrong = toHex(i % 2 === 0 ? wrongOf(input) : rightOf(input));
      return [
        eventIn(1, 2 * i, "Requested", { requestId, request: {}, input: toHex(input) }),
        eventIn(1, 2 * i + 1, "Claimed", { ...terms, output: wrong }),
      ];
    });
    challenger.take(blocks(1, filed.flat()));
    await vi.waitUntil(() => challenger.unchecked === 0, { timeout: 120_000, interval: 20 });
    const verdicts = new VerdictStore(db);
    const kinds = Array.from({ length: CLAIMS }, (_, i) => verdicts.get(hashOf(200 + i) as ClaimId)?.kind);
    expect(kinds).toEqual(Array.from({ length: CLAIMS }, (_, i) => (i % 2 === 0 ? "wrong" : "right")));
    expect(verdictAt).toHaveLength(CLAIMS);
    for (const at of verdictAt) expect(at).toBeLessThan(1 + WINDOW_SECONDS);
    expect([outcomes.filter((one) => one === "late").length, runs.resting]).toEqual([3, 1]);
  });
});
