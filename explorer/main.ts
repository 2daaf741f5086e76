/** Wires an explorer together: it follows a deployment into its index, and serves what is there. It has no key. */
import { join } from "node:path";
import type { Logger } from "../base/log.ts";
import type { Chain } from "../protocol/chain/connect.ts";
import { StateReader } from "../protocol/chain/reads.ts";
import type { ModelId } from "../protocol/rules/types.ts";
import { limitsFor, listen } from "../protocol/service/http/listen.ts";
import { hasPages } from "../protocol/service/http/pages.ts";
import type { CallerLimits } from "../protocol/service/http/service.ts";
import { lockFolder, openDatabase } from "../protocol/service/journal/database.ts";
import { NodePulse } from "../protocol/service/metrics/node-pulse.ts";
import { EVENTS_SCHEMA } from "../protocol/service/store/event-store.ts";
import { PAGES_FOLDER } from "./http/pages.ts";
import { createApp } from "./http/server.ts";
import { Stream } from "./http/stream.ts";
import { EXPLORER_SCHEMA, ExplorerIndex } from "./index/explorer-index.ts";
import { followInto } from "./index/follow.ts";
import { Library } from "./library.ts";
import { Watcher } from "./operator/watcher.ts";
import { Provers } from "./provers.ts";
import { NodeReads } from "./read/node-reads.ts";

export interface ExplorerOptions {
  readonly chain: Chain;
  /** folder of the database */
  readonly data: string;
  /** folders that hold model folders */
  readonly models: readonly string[];
  readonly host: string;
  readonly port: number;
  readonly limits: CallerLimits;
  readonly pollIntervalMs: number;
  readonly confirmations: number;
  /** provers that are asked for whoever tries a model */
  readonly provers: readonly string[];
  /** addresses of the operator's own daemons, whose metrics are shown to whoever reads the pages */
  readonly watch: readonly string[];
  /** the built pages; absent: where `npm run build` puts them */
  readonly pagesFolder?: string;
  /** told the address, once it listens */
  readonly onUp?: (url: string) => void;
  readonly log: Logger;
}

/** Pause between two questions to the node whether it is there, ms. */
const PULSE_MS = 1_000;

/** Runs until the signal aborts.
 *  @throws BaseError DATA_FOLDER_BUSY, DATABASE_CORRUPT, DATABASE_NEWER, DATABASE_UNUSABLE, PORT_TAKEN, LISTEN_FAILED */
export async function runExplorer(options: ExplorerOptions, signal: AbortSignal): Promise<void> {
  const { chain, data, log, pagesFolder = PAGES_FOLDER } = options;
  const { client, game } = chain;
  const nowMs = Date.now;
  const lock = lockFolder(data);
  // Another deployment is another index.
  const db = openDatabase(join(data, `${game.chainId}-${game.assay}.sqlite`), [
    EVENTS_SCHEMA,
    EXPLORER_SCHEMA,
  ]);
  try {
    const index = new ExplorerIndex(db);
    const reader = new StateReader(chain);
    const library = new Library(options.models, log, (id) => reader.program(id as ModelId));
    const pulse = new NodePulse({ client, everyMs: PULSE_MS, nowMs });
    const watcher = options.watch.length === 0 ? undefined : new Watcher({ urls: options.watch, nowMs, log });
    const reads = new NodeReads(chain, nowMs);
    const provers = new Provers(options.provers);
    // The first page that is asked for names them already.
    await provers.look();
    const parts = { index, chain, library, pulse, nowMs, reads, provers, watcher };
    const stream = new Stream(parts);
    const app = createApp({ ...parts, stream, log, limits: options.limits, pagesFolder });
    const server = await listen(app, options.host, options.port, limitsFor(options.limits));
    if (!hasPages(pagesFolder))
      log.warn(
        { folder: pagesFolder },
        "there are no pages: only the JSON interface is served; `npm run build` makes them",
      );
    log.info({ url: server.url, assay: game.assay }, "explorer is up");
    options.onUp?.(server.url);
    const { pollIntervalMs, confirmations } = options;
    const beating = Promise.all([pulse.run(signal), provers.run(signal), watcher?.run(signal)]);
    await followInto(
      ...([index, chain, { pollIntervalMs, confirmations, log }] as const),
      (change) => stream.emit(change),
      signal,
    );
    stream.close();
    await Promise.all([server.close(), beating]);
    log.info({}, "explorer stopped");
  } finally {
    db.close();
    lock.release();
  }
}
