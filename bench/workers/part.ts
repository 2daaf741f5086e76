/** How many checks and proofs a second `assay worker` processes make, beside one process without workers. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { SILENT } from "../../base/log.ts";
import type { Daemon } from "../../cli/demo/processes.ts";
import { modelFolder } from "../../cli/model-source.ts";
import { importModel } from "../../inference/manifest/import-model.ts";
import {
  type LoadedModel,
  loadModelFolder,
  saveModelFolder,
  sha256Bytes,
} from "../../inference/model-folder.ts";
import { databaseTerms } from "../../protocol/service/postgres/terms.ts";
import { WorkerRuns } from "../../protocol/service/workers/runs.ts";
import { temporaryFolder } from "../../test/support/deploy.ts";
import { startPostgres } from "../../test/support/postgres.ts";
import { startWorker } from "../../test/support/workers.ts";
import { bundleProgram } from "../../tools/bundle.ts";
import { type BenchOptions, grouped, type Measured, type Part } from "../report.ts";
import { MLP_DIMS, mlpOnnx } from "../tasks/mlp.ts";
import { checksOf, MOST_TOGETHER } from "./checks.ts";
import { proofsOf } from "./proofs.ts";

const WORKERS = [1, 2, 4] as const;
/** Checks of the small model; of the large one, and of proofs, as many as take about as long. */
const CHECKS = 20_000;
const SMALL_A_LARGE = 40;
const SMALL_A_PROOF = 800;
const LIMIT_MS = 600_000;
const START_MS = 120_000;
const LARGE_DIMS = [4_096, 1_024, ...MLP_DIMS.slice(2)] as unknown as typeof MLP_DIMS;

async function measure({ claims = CHECKS }: BenchOptions): Promise<Measured> {
  // Else the first worker makes it.
  await bundleProgram();
  const folder = temporaryFolder();
  const postgres = await startPostgres();
  const terms = databaseTerms(postgres.url, undefined);
  const runs = new WorkerRuns({ terms, limitMs: LIMIT_MS, log: SILENT });
  const over = new AbortController();
  const running = runs.run(over.signal);
  const cache = join(folder.path, "cache");
  const keys = join(folder.path, "keys");
  const workers: Daemon[] = [];
  try {
    const tasks = [
      checksOf("models/sentiment", shippedIn(cache, "sentiment"), claims),
      checksOf(`an MLP of ${LARGE_DIMS.join(" → ")}`, largeIn(cache), Math.ceil(claims / SMALL_A_LARGE)),
      await proofsOf(
        "models/credit-trees",
        shippedIn(cache, "credit-trees"),
        keys,
        Math.ceil(claims / SMALL_A_PROOF),
      ),
    ];
    const rows: Row[] = [];
    for (const task of tasks) rows.push({ task: task.name, workers: 0, aSecond: await task.alone() });
    for (const count of WORKERS) {
      while (workers.length < count) {
        const name = `worker-${workers.length}`;
        const args = ["--keys", keys];
        workers.push(startWorker(name, { url: postgres.url, folder: folder.path, cache, args }));
      }
      await until(() => runs.alive === count);
      for (const task of tasks)
        rows.push({ task: task.name, workers: count, aSecond: await task.byWorkers(runs, count) });
    }
    return reportOf(rows);
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
    over.abort();
    await running;
    await postgres.stop();
    folder.remove();
  }
}

function shippedIn(cache: string, name: string): LoadedModel {
  const model = loadModelFolder(modelFolder(name));
  cpSync(modelFolder(name), join(cache, model.modelId), { recursive: true });
  return model;
}

function largeIn(cache: string): LoadedModel {
  const source = { onnx: mlpOnnx(LARGE_DIMS), name: "mlp", tool: undefined, settings: {}, lanes: undefined };
  const { written } = importModel({ ...source, companions: new Map() }, sha256Bytes);
  const path = join(cache, written.manifest.assay.modelId);
  saveModelFolder(path, written.manifest, written.files);
  return loadModelFolder(path);
}

interface Row {
  readonly task: string;
  /** 0: this process, by one thread */
  readonly workers: number;
  readonly aSecond: number;
}

async function until(isSo: () => boolean): Promise<void> {
  for (const endMs = Date.now() + START_MS; !isSo(); ) {
    if (Date.now() > endMs) throw new Error(`not all workers are up after ${START_MS / 1_000} s`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function reportOf(rows: readonly Row[]): Measured {
  const names = [...new Set(rows.map(({ task }) => task))];
  const cell = (name: string, workers: number) => {
    const { aSecond = Number.NaN } = rows.find((row) => row.task === name && row.workers === workers) ?? {};
    return aSecond < 100 ? aSecond.toFixed(2) : grouped(Math.round(aSecond));
  };
  const columns = ["a second", "one process", ...WORKERS.map((count) => `workers: ${count}`)];
  const table = names.map((name) => [name, ...[0, ...WORKERS].map((count) => cell(name, count))]);
  return { figures: [], tables: [{ columns, rows: table }], rows };
}

export const WORKERS_PART: Part = {
  name: "workers",
  title: "Checks and proofs by workers",
  method: `\`assay worker\` processes with one thread each, PostgreSQL and the daemon's side of the queue are on the same machine, which bounds what more workers add; the inputs are distinct. One worker's word is taken alone; of two and four, each check is what two of them say, as a challenger counts it, so every input is run twice. Small models go up to ${MOST_TOGETHER} inputs in an order. Beside it stands the canonical executor in one thread of the daemon's process, which runs every input once. A proof is made once, by snarkjs, which uses all cores; so workers of one machine make hardly more of them than a daemon alone.`,
  run: measure,
};
