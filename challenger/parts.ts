/** Database, keys and transactions of a challenger, by its mode. */
import { Actions } from "../protocol/chain/actions.ts";
import { REORG_DEPTH, requireAccount } from "../protocol/chain/sender.ts";
import { withdrawHandler } from "../protocol/chain/withdraw.ts";
import { type ControlServer, listenControl } from "../protocol/service/control.ts";
import { openDataFolder } from "../protocol/service/data-folder.ts";
import { lockFolder, openDatabase, type SqliteDatabase } from "../protocol/service/journal/database.ts";
import { EVENTS_SCHEMA, type EventStore } from "../protocol/service/store/event-store.ts";
import { BREAKER_SCHEMA, CircuitBreaker, reset } from "./circuit-breaker.ts";
import { DryRunSender } from "./dry-run-sender.ts";
import type { Observer } from "./notices.ts";
import type { ChallengerOptions } from "./options.ts";
import { PROMISES_SCHEMA, type WatchedPromises } from "./promises/store.ts";
import { ChainSender, type TransactionSender } from "./transaction-sender.ts";
import { VERDICTS_SCHEMA } from "./verdicts.ts";

export interface Parts {
  readonly db: SqliteDatabase;
  sender(store: EventStore, promises: WatchedPromises, observe: Observer): TransactionSender | undefined;
  /** own transactions that are not mined */
  readonly unmined?: () => number;
  /** Takes commands of the machine's operator. */
  readonly control?: () => Promise<ControlServer | undefined>;
  close(): Promise<void>;
}

export function openParts(options: ChallengerOptions, signal: AbortSignal): Parts {
  const { mode, chain, log, data } = options;
  const schemas = [EVENTS_SCHEMA, VERDICTS_SCHEMA, BREAKER_SCHEMA, PROMISES_SCHEMA];
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
      sender: (store, promises, observe) => {
        const { maxTicketsPerHour } = limits;
        const breaker = new CircuitBreaker(db, { maxTicketsPerHour, nowMs: Date.now, observe, log });
        acting = new ChainSender({
          breaker,
          deposits: () => promises.deposits,
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
