/** How many checks a second `assay worker` processes compute, beside one thread of this process. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { equalBytes } from "../base/bytes.ts";
import { SILENT } from "../base/log.ts";
import type { Daemon } from "../cli/demo/processes.ts";
import { modelFolder } from "../cli/model-source.ts";
import { runsLike } from "../inference/executor/quick.ts";
import { importModel } from "../inference/manifest/import-model.ts";
import {
  type LoadedModel,
  loadModelFolder,
  saveModelFolder,
  sha256Bytes,
} from "../inference/model-folder.ts";
import { CanonicalPool } from "../inference/runtime/canonical-pool.ts";
import { selfTestCalldata } from "../inference/self-test.ts";
import { databaseTerms } from "../protocol/service/postgres/terms.ts";
import { joinBytes, splitBytes } from "../protocol/service/workers/orders.ts";
import { WorkerRuns } from "../protocol/service/workers/runs.ts";
import { temporaryFolder } from "../test/support/deploy.ts";
import { startPostgres } from "../test/support/postgres.ts";
import { startWorker } from "../test/support/workers.ts";
import { bundleProgram } from "../tools/bundle.ts";
import { type BenchOptions, grouped, type Measured, type Part } from "./report.ts";
import { MLP_DIMS, mlpOnnx } from "./tasks/mlp.ts";

const WORKERS = [1, 2, 4] as const;
/** Checks of the small model; of the large one as many as take about as long. */
const CHECKS = 20_000;
const SMALL_A_LARGE = 40;
/** Leaves in one order at most, as a challenger sends them. */
const MOST_TOGETHER = 32;
/** Orders under way for each worker, so that none waits for the next. */
const ORDERS_A_WORKER = 4;
const LIMIT_MS = 600_000;
const START_MS = 120_000;
const LARGE_DIMS = [4_096, 1_024, ...MLP_DIMS.slice(2)] as unknown as typeof MLP_DIMS;

interface Task {
  readonly name: string;
  readonly model: LoadedModel;
  readonly inputs: readonly Uint8Array[];
}

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
  const workers: Daemon[] = [];
  try {
    const tasks = [
      taskOf("models/sentiment", sentimentIn(cache), claims),
      taskOf(`an MLP of ${LARGE_DIMS.join(" → ")}`, largeIn(cache), Math.ceil(claims / SMALL_A_LARGE)),
    ];
    const rows = [];
    for (const task of tasks) rows.push(await alone(task));
    for (const count of WORKERS) {
      while (workers.length < count) {
        const name = `worker-${workers.length}`;
        workers.push(startWorker(name, { url: postgres.url, folder: folder.path, cache }));
      }
      await until(() => runs.alive === count);
      for (const task of tasks) rows.push(await byWorkers(runs, count, task));
    }
    return reportOf(tasks, rows);
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
    over.abort();
    await running;
    await postgres.stop();
    folder.remove();
  }
}

function sentimentIn(cache: string): LoadedModel {
  const model = loadModelFolder(modelFolder("sentiment"));
  cpSync(modelFolder("sentiment"), join(cache, model.modelId), { recursive: true });
  return model;
}

function largeIn(cache: string): LoadedModel {
  const source = { onnx: mlpOnnx(LARGE_DIMS), name: "mlp", tool: undefined, settings: {}, lanes: undefined };
  const { written } = importModel({ ...source, companions: new Map() }, sha256Bytes);
  const path = join(cache, written.manifest.assay.modelId);
  saveModelFolder(path, written.manifest, written.files);
  return loadModelFolder(path);
}

function taskOf(name: string, model: LoadedModel, count: number): Task {
  const { program } = model.model;
  const inputs = Array.from({ length: count }, (_, i) => selfTestCalldata(program, model.selector, i + 1));
  return { name, model, inputs };
}

interface Row {
  readonly task: string;
  /** 0: this process, by one thread */
  readonly workers: number;
  readonly checksASecond: number;
}

async function alone({ name, model, inputs }: Task): Promise<Row> {
  const pool = new CanonicalPool(new Map([[model.modelId, model]]), { threads: 1 });
  try {
    await pool.output(model.modelId, inputs[0] as Uint8Array);
    const since = performance.now();
    await Promise.all(inputs.map((input) => pool.output(model.modelId, input)));
    return { task: name, workers: 0, checksASecond: aSecond(inputs.length, since) };
  } finally {
    pool.close();
  }
}

/** Of one worker its word; of more of them each check is what two say. */
async function byWorkers(runs: WorkerRuns, workers: number, { name, model, inputs }: Task): Promise<Row> {
  const size = runsLike(model.model.program, MOST_TOGETHER);
  const count = Math.min(2, workers);
  const check = async (part: readonly Uint8Array[]) => {
    const input = joinBytes(part);
    const answers = await runs.ask({ task: "outputs", model: model.modelId, input, count });
    const [first, second = first] = answers.map(({ content }) => content);
    if (first === undefined || second === undefined || answers.length < count)
      throw new Error("an order was not answered");
    if (!equalBytes(first, second) || splitBytes(first)?.length !== part.length)
      throw new Error("two workers differ");
  };
  // Each has loaded the model.
  for (let i = 0; i < 2 * workers; i++) await check(inputs.slice(0, 1));
  let next = 0;
  const since = performance.now();
  const ask = async () => {
    for (let from = next; from < inputs.length; from = next) {
      next = from + size;
      await check(inputs.slice(from, next));
    }
  };
  await Promise.all(Array.from({ length: ORDERS_A_WORKER * workers }, ask));
  return { task: name, workers, checksASecond: aSecond(inputs.length, since) };
}

const aSecond = (count: number, sinceMs: number): number =>
  Math.round((1_000 * count) / (performance.now() - sinceMs));

async function until(isSo: () => boolean): Promise<void> {
  for (const endMs = Date.now() + START_MS; !isSo(); ) {
    if (Date.now() > endMs) throw new Error(`not all workers are up after ${START_MS / 1_000} s`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function reportOf(tasks: readonly Task[], rows: readonly Row[]): Measured {
  const cell = (task: string, workers: number) =>
    grouped(rows.find((row) => row.task === task && row.workers === workers)?.checksASecond ?? Number.NaN);
  const columns = ["checks a second", "one thread here", ...WORKERS.map((count) => `workers: ${count}`)];
  const table = tasks.map(({ name }) => [name, ...[0, ...WORKERS].map((count) => cell(name, count))]);
  return { figures: [], tables: [{ columns, rows: table }], rows };
}

export const WORKERS_PART: Part = {
  name: "workers",
  title: "Checks by workers",
  method: `\`assay worker\` processes with one thread each, PostgreSQL and the daemon's side of the queue are on the same machine, which bounds what more workers add; the inputs are distinct. One worker's word is taken alone; of two and four, each check is what two of them say, as a challenger counts it, so every input is run twice. Small models go up to ${MOST_TOGETHER} inputs in an order. Beside it stands the canonical executor in one thread of the daemon's process, which runs every input once.`,
  run: measure,
};
