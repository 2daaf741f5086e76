/** What a daemon shows of its workers, and a worker of itself. */

import { OUTCOMES } from "../workers/question.ts";
import type { WorkerRuns } from "../workers/runs.ts";
import { JOB_OUTCOMES, type Worker, type WorkerOptions } from "../workers/worker.ts";
import type { Metrics } from "./metrics.ts";

/** Counts from now on. */
export function addWorkerMetrics(
  metrics: Metrics,
  runs: Pick<WorkerRuns, "alive" | "barred" | "resting" | "onOutcome">,
): void {
  metrics.gauge("assay_workers_alive", "Workers that live and whose answers count.", () => runs.alive);
  metrics.gauge(
    "assay_workers_barred",
    "Workers that gave a wrong answer: none of theirs counts.",
    () => runs.barred,
  );
  metrics.gauge(
    "assay_workers_resting",
    "Models about which no worker is asked for a while, because answers came too late.",
    () => runs.resting,
  );
  const orders = metrics.counter(
    "assay_worker_orders_total",
    "Orders to workers, and answers that are none, by what became of them.",
    ["outcome"],
    OUTCOMES.map((outcome) => ({ outcome })),
  );
  runs.onOutcome = (outcome) => orders.inc({ outcome });
}

/** @returns what is to be called at the end of each job */
export function addOwnMetrics(
  metrics: Metrics,
  worker: () => Pick<Worker, "isUp" | "running">,
): WorkerOptions["onEnd"] {
  metrics.gauge("assay_database_up", "1 if PostgreSQL can be used, else 0.", () => (worker().isUp ? 1 : 0));
  metrics.gauge("assay_worker_running", "Orders that this worker is at.", () => worker().running);
  const seconds = metrics.histogram("assay_worker_job_seconds", "Time that an order took.");
  const jobs = metrics.counter(
    "assay_worker_jobs_total",
    "Orders that this worker took, by what became of them.",
    ["outcome"],
    JOB_OUTCOMES.map((outcome) => ({ outcome })),
  );
  metrics.addProcess();
  return (outcome, ms) => {
    jobs.inc({ outcome });
    if (outcome === "made") seconds.observe(ms / 1_000);
  };
}
