/** `assay explorer`: what happens on a deployment, as pages and as JSON. */
import { join } from "node:path";
import type { Command } from "commander";
import type { Logger } from "../base/log.ts";
import { type ExplorerOptions, runExplorer } from "../explorer/main.ts";
import {
  CHAIN_SETTINGS,
  type ConfigSources,
  DATABASE_SETTINGS,
  integer,
  list,
  loadConfig,
  type Settings,
  text,
} from "../protocol/service/config.ts";
import { CALLER_SETTINGS, callerLimits } from "./caller-limits.ts";
import { confirmationsOn, openChainAs, withChain, withSettings } from "./chain.ts";
import { MODELS_SETTING, stopSignal } from "./daemon.ts";
import { configuredDatabase } from "./database-options.ts";
import { addExplorerExportCommand } from "./explorer-export.ts";
import { createLogger } from "./log.ts";

/** As `fetch` takes them, without a path. */
const addresses = list
  .transform((parts) => parts.flatMap((part) => part.replace(/\/$/, "") || []))
  .refine(
    (parts) =>
      parts.every((part) => URL.canParse(part) && new URL(part).origin === part && /^https?:/.test(part)),
    "must be addresses such as http://127.0.0.1:8787, separated by commas",
  );

export const EXPLORER_SETTINGS = {
  models: MODELS_SETTING,
  host: { schema: text, default: "127.0.0.1", description: "address that HTTP listens on" },
  port: { schema: integer(0, 65_535), default: 8_090, description: "port of HTTP, 0 for any" },
  ...CALLER_SETTINGS,
  prover: {
    schema: addresses,
    default: "",
    description:
      "addresses, separated by commas, of provers that visitors of a model's page may have an input answered by",
  },
  watch: {
    schema: addresses,
    default: "",
    description:
      "addresses, separated by commas, where own provers and challengers serve /metrics: the operator's page shows them to whoever reads this explorer",
  },
} as const satisfies Settings;

/** The settings by which daemons name a database, of which this one has other uses. */
const INDEX_SETTINGS = {
  ...DATABASE_SETTINGS,
  database: {
    ...DATABASE_SETTINGS.database,
    description: "postgres://USER@HOST:PORT/DATABASE that has the index; absent: the data folder has it",
  },
} as const satisfies Settings;

export function addExplorerCommand(program: Command): void {
  const command = program
    .command("explorer")
    .description(
      "show what happens on a deployment, down to the arithmetic of a conviction: reads only, needs no key",
    );
  withSettings(withSettings(withChain(command), INDEX_SETTINGS), EXPLORER_SETTINGS).action(
    async (_options: object, self: Command) => {
      const log = createLogger("explorer", self);
      const database = configuredDatabase(self);
      const sources = { flags: self.optsWithGlobals(), env: process.env };
      await serveExplorer(sources, log, stopSignal(log), database === undefined ? {} : { database });
    },
  );
  addExplorerExportCommand(command);
}

/** Runs an explorer on its settings until the signal aborts.
 *  @param more what no section of the configuration has: its database, and who is told its address
 *  @throws BaseError as the configuration, openChainAs and runExplorer do */
export async function serveExplorer(
  sources: ConfigSources,
  log: Logger,
  signal: AbortSignal,
  more: Pick<ExplorerOptions, "onUp" | "database"> = {},
): Promise<void> {
  const config = loadConfig(CHAIN_SETTINGS, sources);
  const settings = loadConfig(EXPLORER_SETTINGS, sources, "explorer");
  const chain = await openChainAs(config, undefined);
  const { models, host, port, watch, prover: provers } = settings;
  await runExplorer(
    {
      ...{ chain, host, port, watch, provers, log, models: [models] },
      ...more,
      data: join(config.data, "explorer"),
      limits: callerLimits(settings),
      pollIntervalMs: config.pollIntervalMs,
      confirmations: confirmationsOn(chain, config),
    },
    signal,
  );
}
