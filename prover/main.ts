/** Wires a prover together. */
import { randomUUID } from "node:crypto";
import type { Address } from "viem";
import type { Logger } from "../base/log.ts";
import type { LoadedModel } from "../inference/model-folder.ts";
import { Actions } from "../protocol/chain/actions.ts";
import { EndingBudget } from "../protocol/chain/endings.ts";
import { EventFollower } from "../protocol/chain/follower.ts";
import { StateReader } from "../protocol/chain/reads.ts";
import type { SigningChain } from "../protocol/chain/sender.ts";
import { ZERO_ADDRESS } from "../protocol/rules/types.ts";
import { openDataFolder } from "../protocol/service/data-folder.ts";
import { listen } from "../protocol/service/http/listen.ts";
import { ChainClock } from "../protocol/service/metrics/chain-clock.ts";
import { Metrics } from "../protocol/service/metrics/metrics.ts";
import { addNodeMetrics } from "../protocol/service/metrics/node-metrics.ts";
import { EVENTS_SCHEMA, EventStore } from "../protocol/service/store/event-store.ts";
import type { Context } from "./context.ts";
import type { Policy } from "./decide.ts";
import { DEFAULT_DELIVERY_TRIES, FailedDeliveries } from "./failed-deliveries.ts";
import type { FastPath } from "./fast-path.ts";
import { createOrders } from "./http/order.ts";
import type { HttpLimits } from "./http/parts.ts";
import type { PaymentTerms } from "./http/payment.ts";
import { createApp } from "./http/server.ts";
import { JOBS_SCHEMA, JobStore } from "./jobs.ts";
import type { TruthSource } from "./lanes/source.ts";
import { addProverMetrics } from "./metrics.ts";
import { checkRegistered, serveModels } from "./models.ts";
import type { ProofModel } from "./proof/ezkl/folder.ts";
import type { Runs } from "./runs.ts";
import { Prover } from "./watch.ts";

export interface ProverOptions {
  readonly chain: SigningChain;
  readonly models: readonly (LoadedModel | ProofModel)[];
  readonly engine: FastPath;
  /** what is claimed, and answered to challengers */
  readonly runs: Runs;
  /** folder of database and journal */
  readonly data: string;
  readonly policy: Policy;
  /** methods of settling at once; absent: none */
  readonly truths?: readonly TruthSource[];
  /** named in claims, may answer for them */
  readonly operator?: Address;
  /** false: answers and ends claims only */
  readonly claims: boolean;
  readonly width: number;
  readonly withdrawAbove: bigint;
  /** failures of a callback after which its delivery is given up; absent: DEFAULT_DELIVERY_TRIES */
  readonly deliveryTries?: number;
  /** start although no folder holds the model of a live claim; absent: false */
  readonly force?: boolean;
  readonly pollIntervalMs: number;
  readonly confirmations: number;
  /** absent: no HTTP */
  readonly http?: { readonly host: string; readonly port: number } & HttpLimits;
  /** what final outputs cost over HTTP; absent: nothing */
  readonly payment?: PaymentTerms;
  readonly maxFee: bigint;
  readonly log: Logger;
}

/** Runs until the signal aborts, then ends what it began.
 *  @throws BaseError as openDataFolder, serveModels and checkRegistered do, PORT_TAKEN, LISTEN_FAILED,
 *  CLAIMED_MODELS_MISSING */
export async function runProver(options: ProverOptions, signal: AbortSignal): Promise<void> {
  const { chain, log, pollIntervalMs, confirmations, maxFee } = options;
  const models = serveModels(options.models);
  const { engine } = options;
  await checkRegistered(models, new StateReader(chain), log);
  const folder = openDataFolder(options.data, chain, [EVENTS_SCHEMA, JOBS_SCHEMA], {
    pollIntervalMs,
    maxFeePerGas: maxFee,
    log,
  });
  try {
    const { db, sender } = folder;
    const store = new EventStore(db);
    const context: Omit<Context, "outbox"> = {
      chain,
      sender,
      actions: new Actions(chain.game),
      store,
      models,
      runs: options.runs,
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
    const clock = new ChainClock(Date.now);
    const prover: Prover = new Prover({
      ...context,
      clock,
      onJobEnd: addProverMetrics(metrics, {
        clock,
        jobs: () => prover.jobs(),
        owed: () => prover.owed(),
        activeClaims: () => prover.activeClaims(),
        models: models.size,
      }),
      jobs: new JobStore(db, randomUUID()),
      claims: options.claims,
      width: options.width,
      withdrawAbove: options.withdrawAbove,
      force: options.force ?? false,
      onRefusal: (error) => refused.abort(error),
      nowMs: Date.now,
    });
    const account = chain.account.address;
    const unmined = () => sender.unmined().length;
    addNodeMetrics(metrics, { client: chain.client, clock, account, unmined });
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
      policy: options.policy,
      metrics,
      log,
      nowMs: Date.now,
      signal,
    };
    const payment = http &&
      options.payment && {
        gate: await gateOf(options.payment, http.maxWaitSeconds),
        order: createOrders(chain, sender, parts),
      };
    const server =
      http &&
      (await listen(createApp({ ...parts, payment, pollIntervalMs, limits: http }), http.host, http.port));
    log.info({ ...facts, url: server?.url }, "prover is up");
    await follower.run(
      (batch) => prover.take(batch),
      AbortSignal.any([signal, refused.signal]),
      (now) => prover.onTime(now),
    );
    await Promise.all([prover.stop(), server?.close()]);
    if (refused.signal.aborted) throw refused.signal.reason;
    log.info({}, "prover stopped");
  } finally {
    await folder.close();
  }
}

/** Loaded by those who are paid this way: it takes seconds. */
async function gateOf(terms: PaymentTerms, maxWaitSeconds: number) {
  const { paymentGate } = await import("./http/payment.ts");
  return paymentGate(terms, maxWaitSeconds);
}
