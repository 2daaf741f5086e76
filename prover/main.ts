/** Wires a prover together. */

import { randomUUID } from "node:crypto";
import type { Address } from "viem";
import type { Logger } from "../base/log.ts";
import type { LoadedModel } from "../inference/model-folder.ts";
import type { Canonical } from "../inference/runtime/canonical-pool.ts";
import { Actions } from "../protocol/chain/actions.ts";
import { EndingBudget } from "../protocol/chain/endings.ts";
import { EventFollower } from "../protocol/chain/follower.ts";
import { StateReader } from "../protocol/chain/reads.ts";
import { REORG_DEPTH, type SigningChain } from "../protocol/chain/sender.ts";
import type { SweepTerms } from "../protocol/chain/sweep.ts";
import { withdrawHandler } from "../protocol/chain/withdraw.ts";
import { ZERO_ADDRESS } from "../protocol/rules/types.ts";
import { listenControl } from "../protocol/service/control.ts";
import { openDataFolder, ownerOf } from "../protocol/service/data-folder.ts";
import { fewConnections, limitsFor, listen } from "../protocol/service/http/listen.ts";
import { shareJournal } from "../protocol/service/journal/share.ts";
import { ChainClock } from "../protocol/service/metrics/chain-clock.ts";
import { metricsApp } from "../protocol/service/metrics/http.ts";
import { addJournalMetrics } from "../protocol/service/metrics/journal-metrics.ts";
import { Metrics } from "../protocol/service/metrics/metrics.ts";
import { addNodeMetrics } from "../protocol/service/metrics/node-metrics.ts";
import { NodePulse } from "../protocol/service/metrics/node-pulse.ts";
import { addWorkerMetrics } from "../protocol/service/metrics/worker-metrics.ts";
import type { DatabaseTerms } from "../protocol/service/postgres/terms.ts";
import { EventStore } from "../protocol/service/store/event-store.ts";
import { EVENTS_SCHEMA, PROMISE_EVENTS_SCHEMA } from "../protocol/service/store/events-schema.ts";
import type { AskedWorkers } from "../protocol/service/workers/runs.ts";
import type { Context } from "./context.ts";
import type { Policy } from "./decide.ts";
import { deliverAgain } from "./deliver.ts";
import { DEFAULT_DELIVERY_TRIES, FailedDeliveries } from "./failed-deliveries.ts";
import type { FastPath } from "./fast-path.ts";
import type { HttpLimits } from "./http/parts.ts";
import { createApp } from "./http/server.ts";
import { JOBS_SCHEMA, JobStore } from "./jobs.ts";
import type { TruthSource } from "./lanes/source.ts";
import { addProverMetrics, addSigningMetrics } from "./metrics.ts";
import { checkRegistered, serveModels } from "./models.ts";
import type { PaymentTerms } from "./payment/facilitator.ts";
import { openOrders, openSignedSales } from "./payment/open.ts";
import { ORDERS_SCHEMA } from "./payment/order-store.ts";
import type { SignedSales } from "./payment/signed-sales.ts";
import { type OpenedSigning, openSigning, type SigningOptions } from "./promises/open.ts";
import type { ProofModel } from "./proof/ezkl/folder.ts";
import type { Runs } from "./runs.ts";
import { DEFAULT_FORGET_AFTER, Prover } from "./watch.ts";

export interface ProverOptions {
  readonly chain: SigningChain;
  readonly models: readonly (LoadedModel | ProofModel)[];
  readonly engine: FastPath;
  readonly canonical: Canonical;
  /** what is claimed, and answered to challengers */
  readonly runs: Runs;
  /** workers that `runs` asks; absent: none */
  readonly workers?: AskedWorkers;
  /** folder of database and journal */
  readonly data: string;
  /** PostgreSQL that has the journal for all provers of the key; absent: the folder alone has it */
  readonly database?: DatabaseTerms;
  readonly policy: Policy;
  /** methods of settling at once; absent: none */
  readonly truths?: readonly TruthSource[];
  /** named in claims, may answer for them */
  readonly operator?: Address;
  /** false: answers and ends claims only */
  readonly claims: boolean;
  readonly width: number;
  /** blocks for which requests that are over stay known; default DEFAULT_FORGET_AFTER */
  readonly forgetAfter?: number;
  readonly withdrawAbove: bigint;
  /** where money that is not needed goes; absent: it stays */
  readonly sweep?: SweepTerms;
  /** failures of a callback after which its delivery is given up; absent: DEFAULT_DELIVERY_TRIES */
  readonly deliveryTries?: number;
  /** start although no folder holds the model of a live claim; absent: false */
  readonly force?: boolean;
  readonly pollIntervalMs: number;
  readonly confirmations: number;
  /** absent: no HTTP */
  readonly http?: { readonly host: string; readonly port: number } & HttpLimits;
  /** where GET /metrics is served instead of there */
  readonly metricsAt?: { readonly host: string; readonly port: number };
  /** what final outputs cost over HTTP; absent: nothing */
  readonly payment?: PaymentTerms & {
    readonly maxStrangers: number;
    /** of a signed answer; absent: it costs nothing */
    readonly signedPrice?: bigint | undefined;
  };
  /** absent: nothing is signed */
  readonly signing?: SigningOptions;
  readonly maxFee: bigint;
  readonly log: Logger;
}

/** Pause between two questions to the node whether it is there, ms. */
const PULSE_MS = 1_000;

/** Runs until the signal aborts, then ends what it began.
 *  @throws BaseError as openDataFolder, serveModels and checkRegistered do, PORT_TAKEN, LISTEN_FAILED,
 *  CLAIMED_MODELS_MISSING, and as shareJournal does */
export async function runProver(options: ProverOptions, signal: AbortSignal): Promise<void> {
  const { chain, log, pollIntervalMs, confirmations, maxFee, database } = options;
  const models = serveModels(options.models);
  const { engine, canonical } = options;
  await checkRegistered(models, new StateReader(chain), log);
  const share = database && (await shareJournal(database, ownerOf(chain)));
  const schemas = [EVENTS_SCHEMA, JOBS_SCHEMA, ORDERS_SCHEMA, PROMISE_EVENTS_SCHEMA];
  const folder = openDataFolder(options.data, chain, schemas, {
    pollIntervalMs,
    maxFeePerGas: maxFee,
    reorgDepth: REORG_DEPTH + confirmations,
    log,
    share,
  });
  let signing: OpenedSigning | undefined;
  try {
    const { db, sender } = folder;
    const store = new EventStore(db);
    const clock = new ChainClock(Date.now);
    const context: Omit<Context, "outbox"> = {
      chain,
      clock,
      sender,
      actions: new Actions(chain.game),
      store,
      models,
      runs: options.runs,
      traceWorkers: options.workers,
      truths: options.truths ?? [],
      policy: options.policy,
      failedDeliveries: new FailedDeliveries(db, options.deliveryTries ?? DEFAULT_DELIVERY_TRIES),
      budget: new EndingBudget(options.policy.endingBudget, Date.now),
      maxFee,
      operator: options.operator ?? ZERO_ADDRESS,
      log,
      signal,
    };
    const refused = new AbortController();
    const metrics = new Metrics();
    const prover: Prover = new Prover({
      ...context,
      onJobEnd: addProverMetrics(metrics, {
        clock,
        jobs: () => prover.jobs(),
        owed: () => prover.owed(),
        activeClaims: () => prover.activeClaims(),
        skipped: () => prover.skipped(),
        models: models.size,
      }),
      jobs: new JobStore(db, randomUUID()),
      claims: options.claims,
      width: options.width,
      forgetAfter: BigInt(options.forgetAfter ?? DEFAULT_FORGET_AFTER),
      withdrawAbove: options.withdrawAbove,
      ...(options.sweep === undefined ? {} : { sweep: options.sweep }),
      confirmations,
      force: options.force ?? false,
      onRefusal: (error) => refused.abort(error),
      nowMs: Date.now,
    });
    const account = chain.account.address;
    const unmined = () => sender.unmined().length;
    const pulse = new NodePulse({ client: chain.client, account, everyMs: PULSE_MS, nowMs: Date.now });
    addNodeMetrics(metrics, {
      ...{ nodes: chain.quorum?.nodes, account },
      ...{ pulse, clock, nowMs: Date.now, unmined },
    });
    if (folder.shared !== undefined) addJournalMetrics(metrics, folder.shared);
    if (options.workers !== undefined) addWorkerMetrics(metrics, options.workers.runs);
    metrics.addProcess();
    // Keys that are not there are made now, while no deadline waits.
    for (const source of context.truths) await source.refresh(models.values());
    const follower = new EventFollower(chain, {
      pollIntervalMs,
      confirmations,
      log,
      cursor: store.cursor(),
    });
    const facts = { account, models: models.size };
    const { http } = options;
    const parts = {
      node: prover,
      chain,
      models,
      engine,
      canonical,
      policy: options.policy,
      metrics,
      pulse,
      log,
      nowMs: Date.now,
      signal,
    };
    const orders =
      http &&
      options.payment &&
      (await openOrders(options.payment, {
        ...parts,
        claims: options.claims,
        chain,
        db,
        sender,
        pollIntervalMs,
        http,
      }));
    const opened = { chain, sender, store, models, db, pollIntervalMs, confirmations, log, signal };
    signing = options.signing && (await openSigning(options.signing, { ...opened, data: options.data }));
    if (signing !== undefined) signing.node.onSigned = addSigningMetrics(metrics, signing.node);
    const { metricsAt } = options;
    const served = {
      ...{ ...parts, payment: orders, pollIntervalMs, hasMetrics: metricsAt === undefined },
      signing: signing && {
        ...{ node: signing.node, runs: options.runs },
        sales: await salesOf(options, { db, log, nowMs: Date.now }),
      },
    };
    const server =
      http && (await listen(createApp({ ...served, limits: http }), http.host, http.port, limitsFor(http)));
    const metricsServer =
      metricsAt && (await listen(metricsApp(metrics, log), metricsAt.host, metricsAt.port, fewConnections()));
    const ending = AbortSignal.any([signal, refused.signal]);
    const following = [
      pulse.run(ending),
      options.workers?.runs.run(ending),
      orders?.run(ending),
      signing?.run(ending),
    ];
    const control = await listenControl(
      options.data,
      {
        withdraw: withdrawHandler({ chain, sender, actions: context.actions, log }, prover.obligations()),
        deliver: deliverAgain(context.failedDeliveries),
      },
      log,
    );
    log.info({ ...facts, url: server?.url, metricsUrl: metricsServer?.url }, "prover is up");
    await follower.run(
      (batch) => prover.take(batch),
      ending,
      (now) => prover.onTime(now),
    );
    await Promise.all([
      prover.stop(),
      ...[server?.close(), metricsServer?.close(), control?.close()],
      ...following,
    ]);
    if (refused.signal.aborted) throw refused.signal.reason;
    log.info({}, "prover stopped");
  } finally {
    await signing?.close();
    await folder.close();
  }
}

async function salesOf(
  { payment, http }: Pick<ProverOptions, "payment" | "http">,
  parts: Pick<Parameters<typeof openSignedSales>[1], "db" | "log" | "nowMs">,
): Promise<SignedSales | undefined> {
  if (payment?.signedPrice === undefined || http === undefined) return undefined;
  return openSignedSales({ ...payment, price: payment.signedPrice }, { ...parts, http });
}
