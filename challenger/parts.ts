/** Database, keys and transactions of a challenger, by its mode. */

import { Actions } from "../protocol/chain/actions.ts";
import { REORG_DEPTH, requireAccount } from "../protocol/chain/sender.ts";
import { withdrawHandler } from "../protocol/chain/withdraw.ts";
import { type ControlServer, listenControl } from "../protocol/service/control.ts";
import { openDataFolder, ownerOf } from "../protocol/service/data-folder.ts";
import { lockFolder, openDatabase, type SqliteDatabase } from "../protocol/service/journal/database.ts";
import { Notes } from "../protocol/service/journal/notes.ts";
import { shareJournal } from "../protocol/service/journal/share.ts";
import type { SharedJournal } from "../protocol/service/journal/shared-journal.ts";
import type { EventStore } from "../protocol/service/store/event-store.ts";
import { EVENTS_SCHEMA } from "../protocol/service/store/events-schema.ts";
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
  /** the journal in PostgreSQL, if there is one */
  readonly shared?: SharedJournal;
  /** Takes commands of the machine's operator. */
  readonly control?: () => Promise<ControlServer | undefined>;
  close(): Promise<void>;
}

/** @throws BaseError as openDataFolder and shareJournal do, KEY_MISSING in the modes that need a key */
export async function openParts(options: ChallengerOptions, signal: AbortSignal): Promise<Parts> {
  const { mode, chain, log, data, database } = options;
  const schemas = [EVENTS_SCHEMA, VERDICTS_SCHEMA, PROMISES_SCHEMA];
  if (mode === "defend") {
    const signing = requireAccount(chain);
    const share = database && (await shareJournal(database, ownerOf(signing)));
    const { pollIntervalMs, maxFee, confirmations } = options;
    const folder = openDataFolder(data, signing, [...schemas, BREAKER_SCHEMA], {
      pollIntervalMs,
      maxFeePerGas: maxFee,
      reorgDepth: REORG_DEPTH + confirmations,
      log,
      share,
    });
    const { db, sender, shared } = folder;
    const notes = new Notes(db);
    const actions = new Actions(chain.game);
    const { limits, sweep } = options;
    let acting: ChainSender | undefined;
    return {
      db,
      sender: (store, promises, observe) => {
        const breaker = new CircuitBreaker(notes, {
          maxPerHour: limits.maxExposure,
          nowMs: Date.now,
          observe,
          log,
        });
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
      ...(shared === undefined ? {} : { shared }),
      control: async () => {
        if (acting === undefined) return undefined;
        const withdraw = withdrawHandler({ chain: signing, sender, actions, log }, acting.obligations);
        const resetBreaker = async () => reset(notes, Date.now());
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
