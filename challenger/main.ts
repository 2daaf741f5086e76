/** Wires a challenger together. */
import { randomInt } from "node:crypto";
import type { Address } from "viem";
import type { Logger } from "../base/log.ts";
import type { LoadedModel } from "../inference/model-folder.ts";
import type { Canonical } from "../inference/runtime/canonical-pool.ts";
import { Actions } from "../protocol/chain/actions.ts";
import type { ClaimEntry } from "../protocol/chain/claim-index.ts";
import type { Chain } from "../protocol/chain/connect.ts";
import { EventFollower } from "../protocol/chain/follower.ts";
import { StateReader } from "../protocol/chain/reads.ts";
import { REORG_DEPTH, requireAccount } from "../protocol/chain/sender.ts";
import type { SweepTerms } from "../protocol/chain/sweep.ts";
import { withdrawHandler } from "../protocol/chain/withdraw.ts";
import { type ControlServer, listenControl } from "../protocol/service/control.ts";
import { openDataFolder } from "../protocol/service/data-folder.ts";
import { fewConnections, listen } from "../protocol/service/http/listen.ts";
import { lockFolder, openDatabase, type SqliteDatabase } from "../protocol/service/journal/database.ts";
import { ChainClock } from "../protocol/service/metrics/chain-clock.ts";
import { metricsApp } from "../protocol/service/metrics/http.ts";
import { Metrics } from "../protocol/service/metrics/metrics.ts";
import { addNodeMetrics } from "../protocol/service/metrics/node-metrics.ts";
import { NodePulse } from "../protocol/service/metrics/node-pulse.ts";
import { EVENTS_SCHEMA, EventStore } from "../protocol/service/store/event-store.ts";
import { AttentionTests } from "./attention.ts";
import { BREAKER_SCHEMA, CircuitBreaker, reset } from "./circuit-breaker.ts";
import { addChallengerMetrics } from "./metrics.ts";
import { coverModels } from "./models.ts";
import type { Observer } from "./notices.ts";
import type { FastPath } from "./reexecute.ts";
import { ChainSender, DryRunSender, type Limits, type TransactionSender } from "./transaction-sender.ts";
import { VERDICTS_SCHEMA, VerdictStore } from "./verdicts.ts";
import { Challenger } from "./watch.ts";
import { Webhook } from "./webhook.ts";

/** Each contains the one before: reports; simulates what it would do; acts. */
export const MODES = ["watch", "dry-run", "defend"] as const;
export type Mode = (typeof MODES)[number];

export interface ChallengerOptions {
  readonly mode: Mode;
  readonly chain: Chain;
  readonly models: readonly LoadedModel[];
  readonly fast: FastPath;
  readonly canonical: Canonical;
  /** folder of database and journal */
  readonly data: string;
  readonly width: number;
  readonly limits: Limits;
  /** where money that is not needed goes; absent: it stays */
  readonly sweep?: SweepTerms;
  readonly pollIntervalMs: number;
  readonly confirmations: number;
  readonly maxFee: bigint;
  /** which claims it works on, given the challenger's account, until nothing is left to do about them; absent: all, for ever */
  readonly scope?: (claim: ClaimEntry, own: Address | undefined) => boolean;
  /** least time between two attention tests, ms; absent: none */
  readonly attentionMs?: number;
  /** URL that alerts are posted to; absent: nobody is told */
  readonly webhook?: string;
  /** where GET /metrics is served; absent: nowhere */
  readonly http?: { readonly host: string; readonly port: number };
  readonly log: Logger;
}

/** Pause between two questions to the node whether it is there, ms. */
const PULSE_MS = 1_000;

/** Runs until the signal aborts, or nothing is left to do in the given scope, then ends what it began.
 *  @throws BaseError as openDataFolder does, KEY_MISSING in the modes that need a key, PORT_TAKEN, LISTEN_FAILED */
export async function runChallenger(options: ChallengerOptions, signal: AbortSignal): Promise<void> {
  const { mode, chain, log, pollIntervalMs, confirmations, scope, attentionMs: everyMs } = options;
  const models = await coverModels(options.models, new StateReader(chain), log);
  const parts = openParts(options, signal);
  try {
    const store = new EventStore(parts.db);
    const metrics = new Metrics();
    const clock = new ChainClock(Date.now);
    const observers: Observer[] = [];
    const observe: Observer = (notice) => {
      for (const observer of observers) observer(notice);
    };
    const sender = parts.sender(store, observe);
    const challenger = new Challenger({
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
    const server = http && (await listen(metricsApp(metrics, log), http.host, http.port, fewConnections()));
    const follower = new EventFollower(chain, {
      pollIntervalMs,
      confirmations,
      log,
      cursor: store.cursor(),
    });
    const control = await parts.control?.();
    log.info({ mode, account: sender?.address, models: models.size, url: server?.url }, "challenger is up");
    const ends = AbortSignal.any([signal, over.signal]);
    const beating = http && pulse.run(ends);
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
    await Promise.all([challenger.stop(), server?.close(), control?.close(), beating]);
    await webhook?.stop();
    log.info({}, "challenger stopped");
  } finally {
    await parts.close();
  }
}

interface Parts {
  readonly db: SqliteDatabase;
  sender(store: EventStore, observe: Observer): TransactionSender | undefined;
  /** own transactions that are not mined */
  readonly unmined?: () => number;
  /** Takes commands of the machine's operator. */
  readonly control?: () => Promise<ControlServer | undefined>;
  close(): Promise<void>;
}

function openParts(options: ChallengerOptions, signal: AbortSignal): Parts {
  const { mode, chain, log, data } = options;
  const schemas = [EVENTS_SCHEMA, VERDICTS_SCHEMA, BREAKER_SCHEMA];
  if (mode === "defend") {
    const signing = requireAccount(chain);
    const { pollIntervalMs, maxFee, confirmations } = options;
    const folder = openDataFolder(data, signing, schemas, {
      pollIntervalMs,
      maxFeePerGas: maxFee,
      reorgDepth: REORG_DEPTH + confirmations,
      log,
    });
    const { db, sender } = folder;
    const actions = new Actions(chain.game);
    const { limits, sweep } = options;
    let acting: ChainSender | undefined;
    return {
      db,
      sender: (store, observe) => {
        const { maxTicketsPerHour } = limits;
        const breaker = new CircuitBreaker(db, { maxTicketsPerHour, nowMs: Date.now, observe, log });
        acting = new ChainSender({
          breaker,
          ...{ chain: signing, sender, actions, store, limits, maxFee, confirmations, observe, log, signal },
          ...(sweep === undefined ? {} : { sweep }),
          nowMs: Date.now,
        });
        return acting;
      },
      unmined: () => sender.unmined().length,
      control: async () => {
        if (acting === undefined) return undefined;
        const withdraw = withdrawHandler({ chain: signing, sender, actions, log }, acting.obligations);
        const resetBreaker = async () => reset(db);
        return listenControl(data, { withdraw, resetBreaker }, log);
      },
      close: () => folder.close(),
    };
  }
  const signing = mode === "dry-run" ? requireAccount(chain) : undefined;
  const lock = lockFolder(data);
  const db = openDatabase(`${data}/assay.sqlite`, schemas);
  return {
    db,
    sender: () => (signing === undefined ? undefined : new DryRunSender(signing, options.maxFee, log)),
    close: async () => {
      db.close();
      lock.release();
    },
  };
}
