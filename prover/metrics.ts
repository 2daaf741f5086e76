/** What a prover shows of its work. */
import type { ClaimEntry } from "../protocol/chain/claim-index.ts";
import { CANCELLED_BY, type CancelledBy } from "../protocol/service/http/time-limit.ts";
import type { ChainClock } from "../protocol/service/metrics/chain-clock.ts";
import type { Metrics } from "../protocol/service/metrics/metrics.ts";
import { SKIP_CODES, type SkipCode } from "./decide.ts";
import type { JobKind } from "./jobs.ts";
import type { OwedAnswer } from "./owed.ts";
import type { JobObserver } from "./workers.ts";

export interface ProverSource {
  readonly clock: ChainClock;
  jobs(): Partial<Record<JobKind, number>>;
  /** the most urgent answer that each claim owes of each kind, late or not */
  owed(): readonly OwedAnswer[];
  /** own claims that are not over */
  activeClaims(): readonly ClaimEntry[];
  /** open requests that are left to others, by reason */
  skipped(): Partial<Record<SkipCode, number>>;
  readonly models: number;
}

const JOB_KINDS: readonly JobKind[] = [
  "commitTrace",
  "reveal",
  "finalize",
  "claim",
  "settle",
  "end",
  "deliver",
];

/** @returns what counts the jobs' ends */
export function addProverMetrics(metrics: Metrics, source: ProverSource): JobObserver {
  metrics.gauge("assay_prover_models", "Models that are served.", () => source.models);
  metrics.gauge(
    "assay_prover_jobs",
    "Jobs that wait or run, by kind.",
    () => {
      const counts = source.jobs();
      return JOB_KINDS.map((kind) => ({ labels: { kind }, value: counts[kind] ?? 0 }));
    },
    ["kind"],
  );
  metrics.gauge(
    "assay_prover_claims_active",
    "Own claims that are not over.",
    () => source.activeClaims().length,
  );
  metrics.gauge(
    "assay_prover_claims_disputed",
    "Own claims that somebody challenged and that are not over.",
    () => source.activeClaims().filter(({ challengers }) => challengers.size > 0).length,
  );
  metrics.gauge("assay_prover_exposure_wei", "Bonds of own claims that are not over.", () =>
    source.activeClaims().reduce((sum, { claim }) => sum + claim.bond, 0n),
  );
  metrics.gauge(
    "assay_prover_requests_skipped",
    "Open requests that are left to others, by reason.",
    () => {
      const counts = source.skipped();
      return SKIP_CODES.map((code) => ({ labels: { code }, value: counts[code] ?? 0 }));
    },
    ["code"],
  );
  metrics.gauge(
    "assay_prover_answer_seconds",
    "Time left for each answer that is owed; negative once it is late, until it is given or the claim has ended.",
    () => {
      const { now } = source.clock;
      if (now === undefined) return undefined;
      return source
        .owed()
        .map(({ claim, kind, deadline }) => ({ labels: { claim, kind }, value: deadline - now }));
    },
    ["claim", "kind"],
  );
  const ended = metrics.counter(
    "assay_prover_jobs_ended_total",
    "Tries of jobs by kind and outcome: done, or to be tried again.",
    ["kind", "outcome"],
    JOB_KINDS.flatMap((kind) => [
      { kind, outcome: "done" },
      { kind, outcome: "again" },
    ]),
  );
  const seconds = metrics.histogram("assay_prover_job_seconds", "Time of one try of a job, by kind.", [
    "kind",
  ]);
  return (kind, outcome, ms) => {
    ended.inc({ kind, outcome });
    seconds.observe({ kind }, ms / 1_000);
  };
}

interface Used {
  readonly used: number;
}

/** What callers of HTTP make the node do. @returns what counts runs that ended before their output */
export function addHttpMetrics(
  metrics: Metrics,
  { runs, waiters, listeners }: { readonly runs: Used; readonly waiters: Used; readonly listeners: Used },
): (by: CancelledBy) => void {
  metrics.gauge("assay_prover_runs", "Runs for callers of HTTP, waiting or under way.", () => runs.used);
  metrics.gauge("assay_prover_waiters", "Callers of HTTP that wait for finality.", () => waiters.used);
  metrics.gauge("assay_prover_listeners", "Callers of HTTP that listen to claims.", () => listeners.used);
  const cancelled = metrics.counter(
    "assay_prover_runs_cancelled_total",
    "Runs for callers of HTTP that were cancelled: the caller left, or the time was over.",
    ["by"],
    CANCELLED_BY.map((by) => ({ by })),
  );
  return (by) => cancelled.inc({ by });
}

const ORDER_ENDS = ["paid", "unpaid", "void"] as const;
export type OrderEnd = (typeof ORDER_ENDS)[number];

/** @returns what counts how orders of paying callers end */
export function addOrderMetrics(metrics: Metrics): (end: OrderEnd) => void {
  const ended = metrics.counter(
    "assay_prover_orders_total",
    "Orders of callers who pay, by end: unpaid ones were final, and no payment could be taken.",
    ["end"],
    ORDER_ENDS.map((end) => ({ end })),
  );
  return (end) => ended.inc({ end });
}
