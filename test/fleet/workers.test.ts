/** Workers with a real PostgreSQL: real processes that are killed, that hang and that are short of models; and workers
 *  that lie, whose every lie costs time and changes nothing. */
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toHex } from "../../base/bytes.ts";
import { VERSION } from "../../base/version.ts";
import type { Daemon } from "../../cli/demo/processes.ts";
import { modelFolder } from "../../cli/model-source.ts";
import { confirmedByTwo, confirmedHere } from "../../protocol/service/workers/confirm.ts";
import { ANSWERS_SCHEMA, MAX_INPUT_BYTES, QUEUE_SCHEMA } from "../../protocol/service/workers/orders.ts";
import { temporaryFolder } from "../support/deploy.ts";
import { kill, metricsOf, signal } from "../support/fleet.ts";
import { PASSWORD } from "../support/postgres.ts";
import { machine, startWorker, workerHere } from "../support/workers.ts";
import { model, rightOf, sentiment, workersSuite, wrongOf } from "../support/workers-suite.ts";

const suite = workersSuite();
const { openRuns, here, alive, ask, closers, contents, nextInput, SOON } = suite;
let folder: ReturnType<typeof temporaryFolder>;
let cache: string;

beforeAll(() => {
  folder = temporaryFolder();
  cache = join(folder.path, "cache");
  cpSync(modelFolder("sentiment"), join(cache, model), { recursive: true });
});
afterAll(() => folder?.remove());

function processes(...names: string[]): Daemon[] {
  return names.map((name) => {
    const worker = startWorker(name, { url: suite.postgres.url, folder: folder.path, cache });
    closers.push(() => worker.stop());
    return worker;
  });
}

function ownEngines(fast = rightOf) {
  const own = machine(sentiment, fast);
  closers.push(own.close);
  return own;
}

describe("workers as processes", () => {
  test("default: two of them answer each order, once each, and nothing stays in the tables", async () => {
    const { runs, outcomes } = await openRuns(20_000);
    const [first] = processes("a", "b");
    await alive(runs, 2);
    const inputs = Array.from({ length: 20 }, nextInput);
    const all = await Promise.all(inputs.map((input) => ask(runs, input)));
    for (const [index, answers] of all.entries()) {
      expect(new Set(answers.map(({ worker }) => worker)).size).toBe(2);
      expect(new Set(contents(answers))).toEqual(new Set([toHex(rightOf(inputs[index] as Uint8Array))]));
    }
    expect(new Set(outcomes)).toEqual(new Set(["answered"]));
    const rows = async () => {
      const [row] = await suite.postgres.query<{ rows: string }>(
        `SELECT (SELECT count(*) FROM ${QUEUE_SCHEMA}.job) + (SELECT count(*) FROM ${ANSWERS_SCHEMA}.answers) AS rows`,
      );
      return Number(row?.rows);
    };
    await expect.poll(rows, SOON).toBe(0);
    const metric = await metricsOf(first as Daemon, "worker is up");
    expect(await metric("assay_database_up")).toBe(1);
    const { url } = await (first as Daemon).logged("worker is up");
    const health = await fetch(`${url}/healthz`);
    expect([health.status, await health.json()]).toEqual([
      200,
      { status: "ok", version: VERSION, running: 0 },
    ]);
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    expect(readFileSync((first as Daemon).log, "utf8")).not.toContain(PASSWORD);
  });

  test("behavior: kill -9 and SIGSTOP of one among three cost a retry; with too few the daemon does not wait", async () => {
    const { runs, outcomes } = await openRuns(20_000);
    const [killed, frozen, other] = processes("a", "b", "c") as [Daemon, Daemon, Daemon];
    await alive(runs, 3);
    await kill(killed);
    const input = nextInput();
    expect(contents(await ask(runs, input))).toEqual(Array(2).fill(toHex(rightOf(input))));
    await alive(runs, 2);
    signal(frozen, "SIGSTOP");
    try {
      const answers = await ask(runs, nextInput(), 1);
      expect(answers.map(({ worker }) => worker)).toEqual(["assay/c"]);
      await alive(runs, 1);
      expect(await ask(runs, nextInput())).toEqual([]);
      expect(outcomes.at(-1)).toBe("too-few");
    } finally {
      signal(frozen, "SIGCONT");
    }
    await alive(runs, 2);
    const again = nextInput();
    expect(contents(await ask(runs, again))).toEqual(Array(2).fill(toHex(rightOf(again))));
    // A stop is no crash: it leaves the list at once.
    await other.stop();
    await alive(runs, 1);
  });

  test("behavior: PostgreSQL is gone and returns: whoever waits goes on at once, and workers work again", async () => {
    const limitMs = 60_000;
    const { runs } = await openRuns(limitMs);
    const [worker] = processes("a", "b");
    await alive(runs, 2);
    await suite.postgres.crash();
    const since = Date.now();
    expect(await ask(runs, nextInput())).toEqual([]);
    expect(Date.now() - since).toBeLessThan(limitMs);
    const { url } = await (worker as Daemon).logged("worker is up");
    const health = async () => (await fetch(`${url}/healthz`)).status;
    await expect.poll(health, SOON).toBe(503);
    await suite.postgres.start();
    await alive(runs, 2);
    // This process may be connected before the workers are, and before its queue is.
    const areRight = async (input: Uint8Array) =>
      contents(await ask(runs, input)).filter((content) => content === toHex(rightOf(input))).length;
    await expect.poll(() => areRight(nextInput()), SOON).toBe(2);
    expect(readFileSync((worker as Daemon).log, "utf8")).not.toContain(PASSWORD);
  });

  test("error: a model that no worker can have; calldata that no request can hold; an input that is too long", async () => {
    const { runs, outcomes } = await openRuns(2_000);
    const [worker] = processes("a") as [Daemon];
    await alive(runs, 1);
    const unknown = `0x${"77".repeat(32)}`;
    expect(await runs.ask({ task: "output", model: unknown, input: nextInput(), count: 1 })).toEqual([]);
    const { reason } = await worker.logged("an order failed");
    expect(reason).toContain(`The model ${unknown} is not in`);
    expect(await ask(runs, new Uint8Array(7), 1)).toEqual([]);
    expect(new Set(outcomes)).toEqual(new Set(["failed", "refused"]));
    expect(await ask(runs, new Uint8Array(MAX_INPUT_BYTES + 1), 1)).toEqual([]);
    expect(outcomes.at(-1)).toBe("too-large");
  });
});

describe("workers that lie", () => {
  test("behavior: one that answers wrongly is outvoted by this machine, and barred", async () => {
    const { runs, outcomes } = await openRuns();
    here("honest", rightOf);
    here("liar", wrongOf);
    await alive(runs, 2);
    const own = ownEngines();
    const { fast } = confirmedByTwo({ ...own, workers: runs, asksFor: () => true }, 1_000_000, () => 0.5);
    const input = nextInput();
    expect(await fast.run(model, input)).toEqual({ output: rightOf(input) });
    expect(own.counts()).toEqual({ canonicalRuns: 1, fastRuns: 0 });
    expect(outcomes).toContain("wrong");
    expect([runs.alive, runs.barred]).toEqual([1, 1]);
    const next = nextInput();
    expect(await fast.run(model, next)).toEqual({ output: rightOf(next) });
    expect(own.counts()).toEqual({ canonicalRuns: 1, fastRuns: 1 });
  });

  test("behavior: the word of one, where the other is silent, finds nothing right", async () => {
    const { runs } = await openRuns();
    here("liar", wrongOf);
    const silent = workerHere("silent", suite.postgres.url, { output: () => new Promise(() => {}) });
    closers.push(() => silent.stop());
    await alive(runs, 2);
    const own = ownEngines();
    const { fast } = confirmedByTwo({ ...own, workers: runs, asksFor: () => true }, 1_000_000, () => 0.5);
    const input = nextInput();
    expect(await fast.run(model, input)).toEqual({ output: rightOf(input) });
    expect(own.counts()).toEqual({ canonicalRuns: 0, fastRuns: 1 });
  });

  test("behavior: two that lie together make no claim wrong, and are barred when this machine looks", async () => {
    const { runs } = await openRuns();
    here("liar-1", wrongOf);
    here("liar-2", wrongOf);
    await alive(runs, 2);
    const own = ownEngines();
    const parts = { ...own, workers: runs, asksFor: () => true };
    const { fast, canonical } = confirmedByTwo(parts, 1_000_000, () => 0.5);
    const input = nextInput();
    // With whose word it is, by which the claim is checked again once they are barred.
    const result = await fast.run(model, input);
    expect(result).toMatchObject({ output: wrongOf(input) });
    expect("workers" in result && [...(result.workers ?? [])].sort()).toEqual([
      "assay/liar-1",
      "assay/liar-2",
    ]);
    // Whoever compares that with a right claim asks the canonical executor, as reexecute does.
    expect(await canonical.output(model, input)).toEqual(rightOf(input));
    expect([runs.alive, runs.barred]).toEqual([0, 2]);
  });

  test("behavior: two that lie together about a wrong claim are found by a sample", async () => {
    const { runs } = await openRuns();
    here("liar-1", wrongOf);
    here("liar-2", wrongOf);
    await alive(runs, 2);
    const own = ownEngines();
    const { fast } = confirmedByTwo({ ...own, workers: runs, asksFor: () => true }, 20, () => 0.01);
    const input = nextInput();
    expect(await fast.run(model, input)).toEqual({ output: rightOf(input) });
    expect(runs.barred).toBe(2);
  });

  test("behavior: money never follows a worker: a wrong answer is decided by this machine, also where all lie", async () => {
    const { runs } = await openRuns();
    here("liar", wrongOf);
    await alive(runs, 1);
    const own = ownEngines();
    const confirmed = confirmedHere({ workers: runs, fast: own.fast, asksFor: () => true });
    const input = nextInput();
    expect(await confirmed.output(model, input, new AbortController().signal)).toBeUndefined();
    confirmed.judge(model, input, rightOf(input));
    expect(runs.barred).toBe(1);
  });

  test("behavior: this machine's fast path alone, wrong as the worker is right, is not claimed either", async () => {
    const { runs } = await openRuns();
    here("honest", rightOf);
    await alive(runs, 1);
    const own = ownEngines(wrongOf);
    const confirmed = confirmedHere({ workers: runs, fast: own.fast, asksFor: () => true });
    const input = nextInput();
    expect(await confirmed.output(model, input, new AbortController().signal)).toBeUndefined();
    confirmed.judge(model, input, rightOf(input));
    expect(runs.barred).toBe(0);
  });

  test("behavior: one that changes the order on its way gets honest workers to answer another question: no answer", async () => {
    const { runs, outcomes } = await openRuns();
    const other = toHex(nextInput());
    // As a worker that is sooner at the table than the honest ones.
    await suite.postgres.query(`
      CREATE FUNCTION changed() RETURNS trigger AS $$ BEGIN
        NEW.data := jsonb_set(NEW.data, '{input}', to_jsonb('${other}'::text)); RETURN NEW;
      END $$ LANGUAGE plpgsql`);
    const partitions = await suite.postgres.query<{ name: string }>(
      `SELECT partition_name AS name FROM ${QUEUE_SCHEMA}.queue WHERE name LIKE 'orders-%'`,
    );
    expect(partitions).toHaveLength(2);
    for (const { name } of partitions)
      await suite.postgres.query(
        `CREATE TRIGGER changed BEFORE INSERT ON ${QUEUE_SCHEMA}.${name} FOR EACH ROW EXECUTE FUNCTION changed()`,
      );
    try {
      here("honest-1", rightOf);
      here("honest-2", rightOf);
      await alive(runs, 2);
      expect(await ask(runs, nextInput())).toEqual([]);
      expect(new Set(outcomes)).toEqual(new Set(["malformed", "late"]));
    } finally {
      await suite.postgres.query("DROP FUNCTION changed CASCADE");
    }
  });
});
