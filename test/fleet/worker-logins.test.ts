/** Workers with logins of their own, and what such a login is good for in a stranger's hand: with a real PostgreSQL. */
import { describe, expect, test } from "vitest";
import { toHex } from "../../base/bytes.ts";
import { ANSWERS_SCHEMA, digestOf, QUEUE_SCHEMA } from "../../protocol/service/workers/orders.ts";
import { workerHere, workerLogin } from "../support/workers.ts";
import { model, rightOf, workersSuite, wrongOf } from "../support/workers-suite.ts";

const suite = workersSuite();
const { openRuns, here, alive, ask, closers, contents, nextInput, SOON } = suite;

describe("the queue and its logins", () => {
  test("behavior: one login under two names counts as one worker where its rights are those of the documents", async () => {
    const { runs, outcomes } = await openRuns(20_000);
    const url = await workerLogin(suite.postgres, "machine_1");
    here("one", wrongOf, url);
    here("two", wrongOf, url);
    await alive(runs, 1);
    expect(await ask(runs, nextInput())).toEqual([]);
    expect(outcomes).toEqual(["too-few"]);
    const other = await workerLogin(suite.postgres, "machine_2");
    here("one", rightOf, other);
    await alive(runs, 2);
    const answers = await ask(runs, nextInput());
    expect(answers.map(({ worker }) => worker).sort()).toEqual(["machine_1", "machine_2"]);
  });

  test("behavior: such a login writes no other's name, changes no answer, and sees no journal", async () => {
    const { default: pg } = await import("pg");
    await openRuns();
    const client = new pg.Client({ connectionString: await workerLogin(suite.postgres, "machine_3") });
    await client.connect();
    closers.push(() => client.end());
    await suite.postgres.query("CREATE SCHEMA IF NOT EXISTS assay_1_journal");
    await suite.postgres.query("CREATE TABLE IF NOT EXISTS assay_1_journal.actions (key TEXT)");
    const forbidden = [
      `INSERT INTO ${ANSWERS_SCHEMA}.answers (job, login, worker, digest, outcome, content) VALUES ('j', 'assay', 'w', 'd', 'made', '')`,
      `INSERT INTO ${ANSWERS_SCHEMA}.workers (login, name) VALUES ('assay', 'w')`,
      `UPDATE ${ANSWERS_SCHEMA}.answers SET content = ''`,
      `DELETE FROM ${ANSWERS_SCHEMA}.answers`,
      `DELETE FROM ${ANSWERS_SCHEMA}.workers`,
      "SELECT * FROM assay_1_journal.actions",
      // With the lock of a signer it would keep a daemon that starts again from signing.
      "SELECT pg_advisory_lock(1)",
      "SELECT pg_try_advisory_lock(1, 2)",
      "SELECT pg_advisory_xact_lock_shared(1)",
    ];
    for (const sql of forbidden) await expect(client.query(sql), sql).rejects.toThrow(/permission denied/);
    await client.query(
      `INSERT INTO ${ANSWERS_SCHEMA}.answers (job, worker, digest, outcome, content) VALUES ('j', 'w', 'd', 'made', '')`,
    );
    const rows = await suite.postgres.query(`SELECT login FROM ${ANSWERS_SCHEMA}.answers WHERE job = 'j'`);
    expect(rows).toEqual([{ login: "machine_3" }]);
    await suite.postgres.query(`DELETE FROM ${ANSWERS_SCHEMA}.answers`);
  });

  test("behavior: one that answers for others' jobs, with many names and long content, is heard once, and an honest one is heard beside it", async () => {
    const { runs } = await openRuns(10_000);
    const url = await workerLogin(suite.postgres, "machine_4");
    const { default: pg } = await import("pg");
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    closers.push(() => client.end());
    // It reads all orders, and answers each copy of each under thousands of names.
    const input = nextInput();
    const digest = digestOf({ task: "output", model: model as `0x${string}`, input: toHex(input) });
    let isOver = false;
    let written = 0;
    const flooding = (async () => {
      while (!isOver) {
        const { rowCount } = await client.query(
          `INSERT INTO ${ANSWERS_SCHEMA}.answers (job, worker, digest, outcome, content)
           SELECT id::text, 'w' || n, $1, 'made', $2 FROM ${QUEUE_SCHEMA}.job, generate_series(1, 5000) n ON CONFLICT DO NOTHING`,
          [digest, Buffer.from(wrongOf(input))],
        );
        written += rowCount ?? 0;
        await client.query(
          `INSERT INTO ${ANSWERS_SCHEMA}.workers (name) SELECT 'w' || n FROM generate_series(1, 20000) n ON CONFLICT DO NOTHING`,
        );
        await client.query(`UPDATE ${ANSWERS_SCHEMA}.workers SET seen = 'infinity' WHERE name = 'w2'`);
      }
    })();
    const honest = workerHere("honest", suite.postgres.url, {
      // It comes after the flood.
      output: async (_, calldata) => {
        await expect.poll(() => written, SOON).toBeGreaterThan(2_000);
        return rightOf(calldata);
      },
    });
    closers.push(() => honest.stop());
    try {
      await alive(runs, 2);
      const answers = await ask(runs, input);
      expect(contents(answers).sort()).toEqual([toHex(rightOf(input)), toHex(wrongOf(input))].sort());
      expect(new Set(answers.map(({ worker }) => worker))).toEqual(new Set(["assay/honest", "machine_4"]));
      await expect(
        client.query(
          `INSERT INTO ${ANSWERS_SCHEMA}.answers (job, worker, digest, outcome, content) VALUES ('j', 'w', 'd', 'made', $1)`,
          [Buffer.alloc(2 ** 20 + 1)],
        ),
      ).rejects.toThrow(/violates check constraint/);
    } finally {
      isOver = true;
      await flooding;
    }
  });

  test("behavior: an answer that is written in the instant that its order is taken away leaves with it", async () => {
    const { runs } = await openRuns(300);
    await suite.postgres.query("CREATE SEQUENCE held");
    await suite.postgres.query(`
      CREATE FUNCTION held() RETURNS trigger AS $$ BEGIN
        PERFORM pg_sleep(1.5); PERFORM nextval('held'); RETURN NEW;
      END $$ LANGUAGE plpgsql`);
    await suite.postgres.query(
      `CREATE TRIGGER held BEFORE INSERT ON ${ANSWERS_SCHEMA}.answers FOR EACH ROW EXECUTE FUNCTION public.held()`,
    );
    try {
      here("slow", rightOf);
      await alive(runs, 1);
      expect(await ask(runs, nextInput(), 1)).toEqual([]);
      const isWritten = async () => (await suite.postgres.query("SELECT is_called FROM held"))[0];
      await expect.poll(isWritten, SOON).toEqual({ is_called: true });
      const left = () => suite.postgres.query(`SELECT job FROM ${ANSWERS_SCHEMA}.answers`);
      await expect.poll(left, SOON).toEqual([]);
    } finally {
      await suite.postgres.query("DROP FUNCTION held CASCADE");
      await suite.postgres.query("DROP SEQUENCE held");
    }
  });

  test("behavior: the first word of a worker is the one that counts, and no later word of one that is barred", async () => {
    const { runs } = await openRuns();
    const { default: pg } = await import("pg");
    const client = new pg.Client({ connectionString: suite.postgres.url });
    await client.connect();
    closers.push(() => client.end());
    const order = { task: "output", model: model as `0x${string}` } as const;
    const word = (input: Uint8Array, content: Uint8Array, at: number) =>
      client.query(
        `INSERT INTO ${ANSWERS_SCHEMA}.answers (job, worker, digest, outcome, content)
         SELECT id::text, 'double', $1, 'made', $2 FROM ${QUEUE_SCHEMA}.job ORDER BY id OFFSET $3 LIMIT 1 ON CONFLICT DO NOTHING`,
        [digestOf({ ...order, input: toHex(input) }), Buffer.from(content), at],
      );
    const beat = () =>
      client.query(
        `INSERT INTO ${ANSWERS_SCHEMA}.workers (name) VALUES ('double'), ('mute') ON CONFLICT (login, name) DO UPDATE SET seen = clock_timestamp()`,
      );
    await beat();
    await alive(runs, 2);
    const input = nextInput();
    const asking = ask(runs, input);
    const waiting = async () =>
      Number((await suite.postgres.query<{ n: string }>(`SELECT count(*) n FROM ${QUEUE_SCHEMA}.job`))[0]?.n);
    await expect.poll(waiting, SOON).toBeGreaterThanOrEqual(2);
    await word(input, rightOf(input), 0);
    // Read before the second is written.
    await new Promise((resolve) => setTimeout(resolve, 600));
    await word(input, wrongOf(input), 1);
    expect(contents(await asking)).toEqual([toHex(rightOf(input))]);
    runs.bar("assay/double", {});
    await beat();
    const other = nextInput();
    await expect.poll(waiting, SOON).toBe(0);
    await alive(runs, 1);
    const again = ask(runs, other, 1);
    await expect.poll(waiting, SOON).toBeGreaterThanOrEqual(1);
    await word(other, rightOf(other), 0);
    expect(await again).toEqual([]);
  });

  test("behavior: an order that is called off ends at once", async () => {
    const limitMs = 60_000;
    const { runs } = await openRuns(limitMs);
    const worker = workerHere("silent", suite.postgres.url, { output: () => new Promise(() => undefined) });
    closers.push(() => worker.stop());
    await alive(runs, 1);
    const over = new AbortController();
    const since = Date.now();
    const asking = runs.ask({ task: "output", model, input: nextInput(), count: 1, signal: over.signal });
    over.abort();
    expect(await asking).toEqual([]);
    expect(Date.now() - since).toBeLessThan(limitMs);
  });

  test("behavior: one that takes all orders and never answers costs the limit, and no more", async () => {
    const { runs, outcomes } = await openRuns(1_000);
    const worker = workerHere("silent", suite.postgres.url, { output: () => new Promise(() => undefined) });
    closers.push(() => worker.stop());
    await alive(runs, 1);
    expect(await ask(runs, nextInput(), 1)).toEqual([]);
    expect(outcomes).toEqual(["late"]);
  });
});
