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

const STAKE_PARTS = ["free", "leaving", "away", "slots"] as const;
const SIGNED_FOR = ["signed", "batched"] as const;

/** What a node that signs knows of its promises. */
export interface SigningSource {
  /** undefined: not known yet */
  readonly stake: Readonly<Record<(typeof STAKE_PARTS)[number], bigint>> | undefined;
  /** models for which answers are signed now */
  readonly readyModels: number;
  readonly waitingLeaves: number;
  readonly runningBatches: number;
  /** wei that the next batch lacks while all stake is at home; 0: none */
  readonly missingStake: bigint;
  readonly openPromises: number;
}

/** @returns what counts signed answers, and how long the key and the disk took */
export function addSigningMetrics(
  metrics: Metrics,
  source: SigningSource,
): (finality: (typeof SIGNED_FOR)[number], ms: number) => void {
  metrics.gauge(
    "assay_prover_stake_wei",
    "Stake in Promises, by part.",
    () => {
      const { stake } = source;
      return stake && STAKE_PARTS.map((part) => ({ labels: { part }, value: stake[part] }));
    },
    ["part"],
  );
  metrics.gauge(
    "assay_prover_signing_models",
    "Models for which answers are signed now; 0 while stake, key or queue forbid it.",
    () => source.readyModels,
  );
  metrics.gauge(
    "assay_prover_leaves_waiting",
    "Signed answers that wait for their batch.",
    () => source.waitingLeaves,
  );
  metrics.gauge(
    "assay_prover_batch_stake_missing_wei",
    "Stake that the next batch lacks while all of it is at home: until it is there no batch is posted. 0 else.",
    () => source.missingStake,
  );
  metrics.gauge(
    "assay_prover_batches_running",
    "Batches whose slots are not released.",
    () => source.runningBatches,
  );
  metrics.gauge(
    "assay_prover_promises_open",
    "Claims that promises of this prover became, and that are not closed.",
    () => source.openPromises,
  );
  const signed = metrics.counter(
    "assay_prover_signed_total",
    "Signed answers, by what was asked for.",
    ["finality"],
    SIGNED_FOR.map((finality) => ({ finality })),
  );
  const seconds = metrics.histogram(
    "assay_prover_sign_seconds",
    "Time from an output to its signature in the journal.",
    [],
  );
  return (finality, ms) => {
    signed.inc({ finality });
    seconds.observe({}, ms / 1_000);
  };
}
