/** Wires an explorer together: it follows a deployment into its index, and serves what is there. It has no key. */

import { join } from "node:path";
import { isBaseError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import type { Chain } from "../protocol/chain/connect.ts";
import { StateReader } from "../protocol/chain/reads.ts";
import type { ModelId } from "../protocol/rules/types.ts";
import { limitsFor, listen } from "../protocol/service/http/listen.ts";
import { hasPages } from "../protocol/service/http/pages.ts";
import type { CallerLimits } from "../protocol/service/http/service.ts";
import { lockFolder, openDatabase } from "../protocol/service/journal/database.ts";
import { NodePulse } from "../protocol/service/metrics/node-pulse.ts";
import type { DatabaseTerms } from "../protocol/service/postgres/terms.ts";
import { readGlossary } from "./glossary-file.ts";
import { PAGES_FOLDER } from "./http/pages.ts";
import { createApp } from "./http/server.ts";
import { Stream } from "./http/stream.ts";
import { ExplorerIndex } from "./index/explorer-index.ts";
import { followInto } from "./index/follow.ts";
import { EXPLORER_SCHEMA } from "./index/schema.ts";
import { Library } from "./library.ts";
import { Watcher } from "./operator/watcher.ts";
import { Provers } from "./provers.ts";
import { NodeReads } from "./read/node-reads.ts";
import type { SqlStore } from "./store/sql.ts";
import { SqliteStore } from "./store/sqlite-store.ts";

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
  /** PostgreSQL that has the index; absent: a file of the folder has it */
  readonly database?: DatabaseTerms;
  readonly log: Logger;
}

/** Pause between two questions to the node whether it is there, ms. */
const PULSE_MS = 1_000;
/** Longest that a batch under way is waited for when the explorer stops, ms: less than what starts it waits. */
const STOP_MS = 5_000;

/** Name of the file of a deployment's index: one that gets promises later is another deployment. */
export function indexFileOf({ game, deployment }: Chain): string {
  const { promises } = deployment.contracts;
  const names = [game.chainId, game.assay, ...(promises === undefined ? [] : [promises])];
  return `${names.join("-")}.index.sqlite`;
}

/** Name of the schema of a deployment's index, of which PostgreSQL takes 63 characters. */
export function indexSchemaOf({ game, deployment }: Chain): string {
  const { promises } = deployment.contracts;
  const parts = [game.assay.slice(2, 18), ...(promises === undefined ? [] : [promises.slice(2, 18)])];
  return `assay_explorer_${game.chainId}_${parts.join("_")}`.toLowerCase();
}

/** Runs until the signal aborts. A database that does not answer is waited for; meanwhile answers say so.
 *  @throws BaseError DATA_FOLDER_BUSY, DATABASE_CORRUPT, DATABASE_NEWER, DATABASE_UNUSABLE, DATABASE_URL_INVALID,
 *  DATABASE_TOO_OLD, PORT_TAKEN, LISTEN_FAILED */
export async function runExplorer(options: ExplorerOptions, signal: AbortSignal): Promise<void> {
  const { chain, data, log, pagesFolder = PAGES_FOLDER } = options;
  const { client, game } = chain;
  const nowMs = Date.now;
  const lock = lockFolder(data);
  const store = await openStore(options).catch((error: unknown) => {
    lock.release();
    throw error;
  });
  let giveUp: NodeJS.Timeout | undefined;
  // Of a batch that a database which hangs has not committed, nothing stays.
  const onStop = () => {
    giveUp = setTimeout(() => void store.close(), STOP_MS);
  };
  signal.addEventListener("abort", onStop, { once: true });
  try {
    const index = new ExplorerIndex(store);
    const reader = new StateReader(chain);
    const library = new Library(options.models, log, (id) => reader.program(id as ModelId));
    const pulse = new NodePulse({ client, everyMs: PULSE_MS, nowMs });
    const watcher = options.watch.length === 0 ? undefined : new Watcher({ urls: options.watch, nowMs, log });
    const reads = new NodeReads(chain, nowMs);
    const provers = new Provers(options.provers);
    // The first page that is asked for names them already.
    await provers.poll();
    const glossary = readGlossary();
    const parts = { index, chain, library, glossary, pulse, nowMs, reads, provers, watcher };
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
    signal.removeEventListener("abort", onStop);
    clearTimeout(giveUp);
    await store.close();
    lock.release();
  }
}

async function openStore({ chain, data, database, log }: ExplorerOptions): Promise<SqlStore> {
  if (database === undefined)
    return new SqliteStore(openDatabase(join(data, indexFileOf(chain)), [EXPLORER_SCHEMA]));
  const { PostgresStore } = await import("./store/postgres-store.ts");
  const store = new PostgresStore(database, indexSchemaOf(chain), [EXPLORER_SCHEMA]);
  try {
    await store.enter();
  } catch (error) {
    if (!isBaseError(error, "DATABASE_UNREACHABLE")) {
      await store.close();
      throw error;
    }
    log.error({ code: error.code, reason: error.message }, "PostgreSQL cannot be used: nothing is answered");
  }
  return store;
}
