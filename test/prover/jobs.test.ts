import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Logger, SILENT } from "../../base/log.ts";
import type { ClaimId, RequestId } from "../../protocol/rules/types.ts";
import { openDatabase, type SqliteDatabase } from "../../protocol/service/journal/database.ts";
import { type HeldJob, JOBS_SCHEMA, type Job, JobStore, jobKey } from "../../prover/jobs.ts";
import { again, DONE, type Outcome, Workers } from "../../prover/workers.ts";
import { temporaryFolder } from "../support/deploy.ts";

const id = (n: number) => `0x${n.toString(16).padStart(64, "0")}`;
const claim = (n: number, due = 100): Job => ({ kind: "claim", subject: id(n) as RequestId, due });
const trace = (n: number, due = 100): Job => ({ kind: "commitTrace", subject: id(n) as ClaimId, due });
const reveal = (n: number, position: bigint, due = 100): Job => ({
  kind: "reveal",
  subject: id(n) as ClaimId,
  position,
  due,
});

let folder: ReturnType<typeof temporaryFolder>;
let db: SqliteDatabase;
beforeEach(() => {
  folder = temporaryFolder();
  db = openDatabase(`${folder.path}/jobs.sqlite`, [JOBS_SCHEMA]);
});
afterEach(() => {
  db.close();
  folder.remove();
});

const takeAll = (store: JobStore, nowMs = 0): HeldJob[] => {
  const held = store.take(nowMs);
  return held === undefined ? [] : [held, ...takeAll(store, nowMs)];
};

describe("JobStore", () => {
  test("default: answers that are owed come first, by deadline, then the rest", () => {
    const store = new JobStore(db, "a");
    store.sync([claim(1, 1), trace(2, 50), reveal(3, 2n ** 60n + 1n, 20), claim(4, 0)]);
    const jobs = takeAll(store).map(({ job }) => job);
    expect(jobs.map(jobKey)).toEqual([
      jobKey(reveal(3, 2n ** 60n + 1n)),
      jobKey(trace(2)),
      jobKey(claim(4)),
      jobKey(claim(1)),
    ]);
    expect(jobs[0]).toEqual(reveal(3, 2n ** 60n + 1n, 20));
  });

  test("behavior: a job is held once, and asked for again changes nothing", () => {
    const store = new JobStore(db, "a");
    store.sync([claim(1)]);
    const held = store.take(0) as HeldJob;
    store.sync([claim(1)]);
    expect(store.take(0)).toBeUndefined();
    expect(store.finish(held)).toBe(true);
    expect(store.finish(held)).toBe(false);
    expect(store.counts()).toEqual({});
  });

  test("behavior: what nobody wants any more leaves, unless it runs", () => {
    const store = new JobStore(db, "a");
    store.sync([claim(1), claim(2)]);
    const held = store.take(0) as HeldJob;
    store.sync([]);
    expect(store.counts()).toEqual({ claim: 1 });
    expect(store.finish(held)).toBe(true);
  });

  test("behavior: a postponed job waits for its time", () => {
    const store = new JobStore(db, "a");
    store.sync([claim(1)]);
    store.postpone(store.take(0) as HeldJob, 500, "not yet");
    expect(store.take(499)).toBeUndefined();
    expect(store.take(500)).toMatchObject({ attempt: 2, reason: "not yet" });
  });

  test("behavior: a new process takes over what a dead one held, whose result is dropped", () => {
    const dead = new JobStore(db, "dead");
    dead.sync([claim(1)]);
    const held = dead.take(0) as HeldJob;
    const next = new JobStore(db, "next");
    expect(next.take(0)).toMatchObject({ job: claim(1), attempt: 2 });
    expect(dead.finish(held)).toBe(false);
    expect(dead.postpone(held, 0, "dead")).toBe(false);
    expect(next.counts()).toEqual({ claim: 1 });
  });
});

describe("Workers", () => {
  /** Jobs that end when told. */
  function setUp(width: number, log: Logger = SILENT) {
    const jobs = new JobStore(db, "a");
    const running = new Map<string, (outcome: Outcome) => void>();
    let nowMs = 0;
    const ended: string[] = [];
    const workers = new Workers({
      mayBegin: () => true,
      jobs,
      width,
      nowMs: () => nowMs,
      onEnd: (kind, outcome) => ended.push(`${kind} ${outcome}`),
      log,
      work: ({ job }) => new Promise((resolve) => running.set(jobKey(job), resolve)),
    });
    const end = async (job: Job, outcome: Outcome) => {
      running.get(jobKey(job))?.(outcome);
      running.delete(jobKey(job));
      await new Promise(setImmediate);
    };
    return { jobs, workers, running, end, ended, at: (ms: number) => (nowMs = ms) };
  }

  test("default: runs as many as it is wide, and the next when one ends", async () => {
    const { jobs, workers, running, end, ended } = setUp(2);
    jobs.sync([claim(1, 1), claim(2, 2), claim(3, 3)]);
    workers.wake();
    expect([...running.keys()]).toEqual([jobKey(claim(1)), jobKey(claim(2))]);
    await end(claim(1), DONE);
    expect(ended).toEqual(["claim done"]);
    expect([...running.keys()]).toEqual([jobKey(claim(2)), jobKey(claim(3))]);
    expect(jobs.counts()).toEqual({ claim: 2 });
  });

  test("behavior: answers that are owed never wait for a free place", () => {
    const { jobs, workers, running } = setUp(1);
    jobs.sync([claim(1), claim(2)]);
    workers.wake();
    jobs.sync([claim(1), claim(2), trace(3), reveal(4, 1n), reveal(4, 2n)]);
    workers.wake();
    expect(running.size).toBe(4);
    expect(running.has(jobKey(claim(2)))).toBe(false);
  });

  test("behavior: what is not done yet comes again in its time", async () => {
    const { jobs, workers, running, end, at } = setUp(1);
    jobs.sync([claim(1)]);
    workers.wake();
    await end(claim(1), again("not yet", 1_000));
    at(999);
    workers.wake();
    expect(running.size).toBe(0);
    at(1_000);
    workers.wake();
    expect(running.size).toBe(1);
  });

  test("behavior: pauses grow from try to try, and stay short where an answer is owed", async () => {
    const { jobs, workers, running, end, at } = setUp(2);
    let nowMs = 0;
    jobs.sync([claim(1), trace(2)]);
    /** Milliseconds until the job is taken again. */
    const pauseOf = async (job: Job): Promise<number> => {
      const endedAt = nowMs;
      await end(job, again("not yet"));
      while (!running.has(jobKey(job))) {
        nowMs += 100;
        at(nowMs);
        workers.wake();
      }
      return nowMs - endedAt;
    };
    workers.wake();
    const pauses = async (job: Job) => {
      const found: number[] = [];
      for (let tries = 0; tries < 9; tries++) found.push(await pauseOf(job));
      return found;
    };
    expect(await pauses(claim(1))).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 12_800, 15_000, 15_000]);
    expect(await pauses(trace(2))).toEqual([200, 400, 800, ...Array(6).fill(1_000)]);
  });

  test("behavior: says what hinders a job when that changes, and when it is over", async () => {
    const logged: string[] = [];
    const log = (fields: object, message: string) =>
      void logged.push(`${message}: ${(fields as { reason?: string }).reason}`);
    const { jobs, workers, end, at } = setUp(1, { debug: log, info: log, warn: log, error: log });
    jobs.sync([claim(1)]);
    for (const [index, reason] of ["a", "a", "a", "b", "b", "a"].entries()) {
      at(1e6 * index);
      workers.wake();
      await end(claim(1), again(reason));
    }
    at(1e7);
    workers.wake();
    await end(claim(1), DONE);
    expect(logged).toEqual([
      "a job is not done yet: a",
      "a job is not done yet: b",
      "a job is not done yet: a",
      "a job that was not done is over: undefined",
    ]);
  });

  test("behavior: stops after what runs, and starts nothing more", async () => {
    const { jobs, workers, running, end } = setUp(1);
    jobs.sync([claim(1), claim(2)]);
    workers.wake();
    let isStopped = false;
    const stopped = workers.stop().then(() => {
      isStopped = true;
    });
    await new Promise(setImmediate);
    expect(isStopped).toBe(false);
    await end(claim(1), DONE);
    await stopped;
    expect(running.size).toBe(0);
    expect(jobs.counts()).toEqual({ claim: 1 });
  });
});
