/** Wires a challenger together. */
import { randomInt } from "node:crypto";
import { EventFollower } from "../protocol/chain/follower.ts";
import { hasPromises } from "../protocol/chain/promises/place.ts";
import { StateReader } from "../protocol/chain/reads.ts";
import type { ModelId } from "../protocol/rules/types.ts";
import { healthOf } from "../protocol/service/http/health.ts";
import { fewConnections, type HttpServer, listen } from "../protocol/service/http/listen.ts";
import { ChainClock } from "../protocol/service/metrics/chain-clock.ts";
import { metricsApp } from "../protocol/service/metrics/http.ts";
import { addJournalMetrics } from "../protocol/service/metrics/journal-metrics.ts";
import { Metrics } from "../protocol/service/metrics/metrics.ts";
import { addNodeMetrics } from "../protocol/service/metrics/node-metrics.ts";
import { NodePulse } from "../protocol/service/metrics/node-pulse.ts";
import { addWorkerMetrics } from "../protocol/service/metrics/worker-metrics.ts";
import type { DatabaseTerms } from "../protocol/service/postgres/terms.ts";
import { EventStore } from "../protocol/service/store/event-store.ts";
import { AttentionTests } from "./attention.ts";
import { addChallengerMetrics } from "./metrics.ts";
import { coverModels } from "./models.ts";
import type { Observer } from "./notices.ts";
import type { ChallengerOptions } from "./options.ts";
import { openParts } from "./parts.ts";
import { INTAKE_CONNECTIONS, intakeApp } from "./promises/intake.ts";
import { WatchedPromises } from "./promises/store.ts";
import { PromiseWatch } from "./promises/watch.ts";
import type { CoveredModel } from "./reexecute.ts";
import { openShardSession } from "./shards/open.ts";
import { Shards } from "./shards/shards.ts";
import { VerdictStore } from "./verdicts.ts";
import { Challenger } from "./watch.ts";
import { Webhook } from "./webhook.ts";

/** Pause between two questions to the node whether it is there, ms. */
const PULSE_MS = 1_000;

/** Runs until the signal aborts, or nothing is left to do in the given scope, then ends what it began.
 *  @throws BaseError as openParts does, PORT_TAKEN, LISTEN_FAILED */
export async function runChallenger(options: ChallengerOptions, signal: AbortSignal): Promise<void> {
  const { mode, chain, log, pollIntervalMs, confirmations, scope, attentionMs: everyMs } = options;
  const { workers } = options;
  const models = await coverModels(options.models, new StateReader(chain), log, workers?.asksFor);
  const parts = await openParts(options, signal);
  try {
    const store = new EventStore(parts.db);
    const metrics = new Metrics();
    const clock = new ChainClock(Date.now);
    const observers: Observer[] = [];
    const observe: Observer = (notice) => {
      for (const observer of observers) observer(notice);
    };
    const promiseStore = new WatchedPromises(parts.db);
    const sender = parts.sender(store, promiseStore, observe);
    const { shared: journal } = parts;
    const shards =
      options.divides === true && options.database !== undefined && sender !== undefined
        ? new Shards({
            ...{ own: sender.address, log, leads: () => journal?.leads === true },
            open: () => openShardSession(options.database as DatabaseTerms, chain.game),
          })
        : undefined;
    const challenger = new Challenger({
      ...(shards === undefined ? {} : { shards }),
      chain,
      store,
      models,
      clock,
      observe,
      nowMs: Date.now,
      verdicts: new VerdictStore(parts.db),
      fast: options.fast,
      canonical: options.canonical,
      width: options.width,
      log,
      ...(sender === undefined ? {} : { sender }),
      ...(everyMs === undefined
        ? {}
        : {
            attention: new AttentionTests({
              everyMs,
              nowMs: Date.now,
              randomBelow: (bound) => randomInt(bound),
            }),
          }),
      ...(scope === undefined ? {} : { scope: (claim) => scope(claim, sender?.address) }),
    });
    const shared = { chain, models, fast: options.fast, canonical: options.canonical, observe, log };
    const watchesPromises = scope === undefined && hasPromises(chain.deployment);
    const promises = watchesPromises
      ? new PromiseWatch({
          ...{ ...shared, store: promiseStore, sender, nowMs: Date.now, pollIntervalMs, confirmations },
          claims: (id) => store.index.claimAndRequest(id),
        })
      : undefined;
    // Without a scope there is always more to come.
    const over = new AbortController();
    const endIfIdle = () => {
      if (scope !== undefined && challenger.isIdle) over.abort();
    };
    observers.push(
      addChallengerMetrics(metrics, {
        clock,
        disputes: () => challenger.disputes(),
        unchecked: () => challenger.unchecked,
        entriesHeld: () => challenger.entriesHeld,
        covered: models.size,
        ...(shards === undefined ? {} : { shards }),
        promises: () => ({ unchecked: promiseStore.unchecked, wrong: promiseStore.open }),
        ...(sender === undefined
          ? {}
          : { exposure: () => sender.exposure, isTripped: () => sender.isTripped }),
      }),
    );
    const webhook =
      options.webhook === undefined
        ? undefined
        : new Webhook({ url: options.webhook, game: chain.game, log, nowMs: Date.now });
    if (webhook !== undefined) observers.push((notice) => webhook.observe(notice));
    const { unmined } = parts;
    if (journal !== undefined) addJournalMetrics(metrics, journal);
    if (workers !== undefined) {
      addWorkerMetrics(metrics, workers.runs);
      workers.runs.onBarred = (worker) => {
        try {
          challenger.distrust(worker);
          promises?.distrust(worker);
        } catch (error) {
          log.error({ worker, error }, "what a barred worker found right could not be taken up again");
        }
      };
    }
    const pulse = new NodePulse({
      ...{ client: chain.client, account: sender?.address },
      ...{ everyMs: PULSE_MS, nowMs: Date.now },
    });
    addNodeMetrics(metrics, {
      ...{ nodes: chain.quorum?.nodes, account: sender?.address },
      ...{ pulse, clock, nowMs: Date.now, unmined },
    });
    metrics.addProcess();
    const { http } = options;
    const health = () => ({
      ...{ ...chain.game, account: sender?.address },
      ...healthOf(pulse, clock.head, Date.now()),
    });
    const server =
      http && (await listen(metricsApp(metrics, log, health), http.host, http.port, fewConnections()));
    const intake =
      promises === undefined ? undefined : await openIntake(options, promises, promiseStore, models);
    const follower = new EventFollower(chain, {
      pollIntervalMs,
      confirmations,
      log,
      cursor: store.cursor(),
    });
    const control = await parts.control?.();
    const urls = { url: server?.url, intakeUrl: intake?.url };
    log.info({ mode, account: sender?.address, models: models.size, ...urls }, "challenger is up");
    const ends = AbortSignal.any([signal, over.signal]);
    const beating = http && pulse.run(ends);
    const asking = workers?.runs.run(ends);
    const watching = promises?.run(ends);
    const dividing = shards?.run(ends);
    await follower.run(
      (batch) => {
        challenger.take(batch);
        endIfIdle();
      },
      ends,
      (now) => {
        challenger.onTime(now);
        endIfIdle();
      },
    );
    const servers = [server?.close(), intake?.close(), control?.close()];
    await Promise.all([challenger.stop(), asking, watching, dividing, ...servers, beating]);
    await webhook?.stop();
    log.info({}, "challenger stopped");
  } finally {
    await parts.close();
  }
}

/** @returns undefined where it is not asked for */
async function openIntake(
  { chain, intake, log }: ChallengerOptions,
  promises: PromiseWatch,
  store: WatchedPromises,
  models: ReadonlyMap<ModelId, CoveredModel>,
): Promise<HttpServer | undefined> {
  if (intake === undefined) return undefined;
  const { host, port, limits } = intake;
  const app = intakeApp({
    ...{ chain, store, models, limits, log, nowMs: Date.now },
    check: (digest, presented, report) => promises.check(digest, presented, report),
    now: () => promises.head?.timestamp,
  });
  return listen(app, host, port, INTAKE_CONNECTIONS);
}
