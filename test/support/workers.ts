/** Workers for a test: real ones as processes, and such as lie, in this process on connections of their own. */
import { SILENT } from "../../base/log.ts";
import { type Daemon, startDaemon } from "../../cli/demo/processes.ts";
import type { LoadedModel } from "../../inference/model-folder.ts";
import { type Canonical, CanonicalPool } from "../../inference/runtime/canonical-pool.ts";
import { databaseTerms } from "../../protocol/service/postgres/terms.ts";
import { ANSWERS_SCHEMA, QUEUE_SCHEMA } from "../../protocol/service/workers/orders.ts";
import { type ProofMaker, Worker, type WorkerOptions } from "../../protocol/service/workers/worker.ts";
import type { Postgres } from "./postgres.ts";

/** The assay program as a worker.
 *  @param cache folder of model folders that are named by their ids */
export function startWorker(
  name: string,
  { url, folder, cache, args = [], through = [] }: WorkerStart,
): Daemon {
  return startDaemon({
    name,
    args: ["worker", "--name", name, "--cache", cache, "--port", "0", ...args],
    key: `0x${"11".repeat(32)}`,
    ...{ folder, through },
    ...{ rpcUrl: "http://127.0.0.1:1", deployment: "none" },
    env: { ASSAY_DATABASE: url },
  });
}
interface WorkerStart {
  readonly url: string;
  readonly folder: string;
  readonly cache: string;
  readonly args?: readonly string[];
  /** as DaemonOptions has it */
  readonly through?: readonly string[];
}

/** What the documents have operators grant to the login of a machine with workers. */
export const GRANTS = (login: string): readonly string[] => [
  `GRANT USAGE ON SCHEMA ${QUEUE_SCHEMA}, ${ANSWERS_SCHEMA} TO ${login}`,
  `GRANT SELECT, INSERT, UPDATE, DELETE ON ${QUEUE_SCHEMA}.job TO ${login}`,
  `GRANT SELECT ON ${QUEUE_SCHEMA}.version TO ${login}`,
  `GRANT INSERT (job, worker, digest, outcome, content) ON ${ANSWERS_SCHEMA}.answers TO ${login}`,
  `GRANT SELECT, INSERT (name), UPDATE (seen) ON ${ANSWERS_SCHEMA}.workers TO ${login}`,
  `DO $$ DECLARE name TEXT; BEGIN
     FOR name IN SELECT oid::regprocedure FROM pg_proc WHERE proname ~ '^pg_(try_)?advisory' LOOP
       EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', name);
       EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO assay', name);
     END LOOP; END $$`,
];

/** Makes a login that may do what a worker does, and no more. @returns its URL */
export async function workerLogin(postgres: Postgres, login: string): Promise<string> {
  await postgres.query(`CREATE ROLE ${login} LOGIN CONNECTION LIMIT 8 PASSWORD 'of-${login}'`);
  for (const grant of GRANTS(login)) await postgres.query(grant);
  const url = new URL(postgres.url);
  url.username = login;
  url.password = `of-${login}`;
  return url.href;
}

const noProof: ProofMaker = async () => {
  throw new Error("this worker makes no such proofs");
};

/** A worker in this process whose canonical executor, and whose proofs, are the test's. */
export function workerHere(
  name: string,
  url: string,
  canonical: Pick<Canonical, "output"> & Partial<Canonical>,
  prove: Partial<WorkerOptions["prove"]> = {},
): { stop(): Promise<void> } {
  const over = new AbortController();
  const worker = new Worker({
    terms: databaseTerms(url, undefined),
    name,
    concurrency: 4,
    canonical: canonical as Canonical,
    load: async () => undefined,
    prove: { groth16: noProof, ezkl: noProof, ...prove },
    drainMs: 100,
    onEnd: () => undefined,
    log: SILENT,
  });
  const running = worker.run(over.signal);
  return {
    stop: async () => {
      over.abort();
      await running;
    },
  };
}

/** What a daemon's own machine computes with, and how often it did. @param fast its fast path */
export function machine(model: LoadedModel, fast: (calldata: Uint8Array) => Uint8Array) {
  const pool = new CanonicalPool(new Map([[model.modelId, model]]));
  let canonicalRuns = 0;
  let fastRuns = 0;
  const canonical: Canonical = {
    output: (...args) => {
      canonicalRuns += 1;
      return pool.output(...args);
    },
    check: (...args) => {
      canonicalRuns += 1;
      return pool.check(...args);
    },
    trace: (...args) => pool.trace(...args),
  };
  return {
    counts: () => ({ canonicalRuns, fastRuns }),
    canonical,
    fast: {
      run: async (_: string, calldata: Uint8Array) => {
        fastRuns += 1;
        return { output: fast(calldata) };
      },
    },
    close: async () => pool.close(),
  };
}
