/** Every metric that the daemons define, without running them. */
import { zeroAddress } from "viem";
import { addChallengerMetrics } from "../../challenger/metrics.ts";
import { ChainClock } from "../../protocol/service/metrics/chain-clock.ts";
import { httpMetrics } from "../../protocol/service/metrics/http.ts";
import { addJournalMetrics } from "../../protocol/service/metrics/journal-metrics.ts";
import { type Family, Metrics } from "../../protocol/service/metrics/metrics.ts";
import { addNodeMetrics } from "../../protocol/service/metrics/node-metrics.ts";
import { addOwnMetrics, addWorkerMetrics } from "../../protocol/service/metrics/worker-metrics.ts";
import {
  addHttpMetrics,
  addOrderMetrics,
  addProverMetrics,
  addSigningMetrics,
} from "../../prover/metrics.ts";

const clock = new ChainClock(Date.now);
const pulse = { newest: 0n, balance: 0n, silentSinceMs: undefined };

function familiesOf(define: (metrics: Metrics) => void): readonly Family[] {
  const metrics = new Metrics();
  define(metrics);
  return metrics.families;
}

export const METRIC_FAMILIES: Readonly<
  Record<"both" | "prover" | "challenger" | "worker", readonly Family[]>
> = {
  both: familiesOf((metrics) => {
    addNodeMetrics(metrics, {
      ...{ nodes: { status: () => [] }, account: zeroAddress },
      ...{ pulse, clock, nowMs: Date.now, unmined: () => 0 },
    });
    addJournalMetrics(metrics, { role: "signer", unshared: 0 });
    addWorkerMetrics(metrics, { alive: 0, barred: 0, resting: 0, onOutcome: () => undefined });
  }),
  prover: familiesOf((metrics) => {
    const none = () => [];
    addProverMetrics(metrics, {
      clock,
      jobs: () => ({}),
      owed: none,
      activeClaims: none,
      skipped: () => ({}),
      models: 0,
    });
    const idle = { used: 0 };
    addHttpMetrics(metrics, { runs: idle, waiters: idle, listeners: idle });
    addOrderMetrics(metrics);
    const stake = { free: 0n, leaving: 0n, away: 0n, slots: 0n };
    const promised = { waitingLeaves: 0, runningBatches: 0, openPromises: 0, missingStake: 0n };
    addSigningMetrics(metrics, { stake, readyModels: 0, ...promised });
    httpMetrics(metrics, Date.now);
  }),
  challenger: familiesOf((metrics) => {
    const promises = () => ({ unchecked: 0, wrong: 0 });
    const counts = { unchecked: () => 0, entriesHeld: () => 0, covered: 0, promises };
    addChallengerMetrics(metrics, { clock, disputes: () => [], ...counts });
  }),
  worker: familiesOf((metrics) => addOwnMetrics(metrics, () => ({ isUp: true, running: 0 }))),
};
