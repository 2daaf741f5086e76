/** What tests of workers share: a PostgreSQL, a daemon's side of its queue, and workers in this process. */
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { toHex } from "../../base/bytes.ts";
import { SILENT } from "../../base/log.ts";
import { modelFolder } from "../../cli/model-source.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { loadModelFolder } from "../../inference/model-folder.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import { databaseTerms } from "../../protocol/service/postgres/terms.ts";
import { ANSWERS_SCHEMA, QUEUE_SCHEMA } from "../../protocol/service/workers/orders.ts";
import type { OrderOutcome, WorkerAnswer } from "../../protocol/service/workers/question.ts";
import { WorkerRuns, type WorkerRunsOptions } from "../../protocol/service/workers/runs.ts";
import { type Postgres, startPostgres } from "./postgres.ts";
import { workerHere } from "./workers.ts";

const SOON = { timeout: 60_000, interval: 50 };
const LIMIT_MS = 3_000;
export const sentiment = loadModelFolder(modelFolder("sentiment"));
export const model = sentiment.modelId;
const prepared = prepare(sentiment.model, sentiment.selector);
export const rightOf = (calldata: Uint8Array) => execute(prepared, calldata).slice();
export const wrongOf = (calldata: Uint8Array) => {
  const output = rightOf(calldata);
  output[output.length - 1] = (output.at(-1) as number) ^ 1;
  return output;
};

/** Registers the hooks of a test file. */
export function workersSuite() {
  let seed = 0;
  let postgres: Postgres;
  const closers: (() => Promise<unknown>)[] = [];
  const suite = {
    get postgres() {
      return postgres;
    },
    closers,
    SOON,
    nextInput: () => selfTestCalldata(prepared.program, prepared.selector, ++seed),
    /** A daemon's side. */
    openRuns: async (limitMs = LIMIT_MS, changes: Partial<WorkerRunsOptions> = {}) => {
      const terms = databaseTerms(postgres.url, undefined);
      const runs = new WorkerRuns({ terms, limitMs, log: SILENT, ...changes });
      const outcomes: OrderOutcome[] = [];
      runs.onOutcome = (outcome) => outcomes.push(outcome);
      const over = new AbortController();
      const running = runs.run(over.signal);
      closers.push(async () => {
        over.abort();
        await running;
      });
      await expect.poll(() => runs.isUp, SOON).toBe(true);
      return { runs, outcomes };
    },
    /** A worker in this process, which answers what `output` makes. */
    here: (name: string, output: (calldata: Uint8Array) => Uint8Array, url = postgres.url): void => {
      const worker = workerHere(name, url, { output: async (_, calldata) => output(calldata) });
      closers.push(() => worker.stop());
    },
    alive: (runs: WorkerRuns, count: number) => expect.poll(() => runs.alive, SOON).toBe(count),
    ask: (runs: WorkerRuns, input: Uint8Array, count = 2) =>
      runs.ask({ task: "output", model, input, count }),
    contents: (answers: readonly WorkerAnswer[]) => answers.map(({ content }) => toHex(content)),
  };
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
    for (const table of [`${ANSWERS_SCHEMA}.workers`, `${ANSWERS_SCHEMA}.answers`, `${QUEUE_SCHEMA}.job`])
      await postgres.query(`DELETE FROM ${table}`);
  });
  afterAll(() => postgres?.stop());
  return suite;
}
