/** `assay explorer export FOLDER`: the explorer's pages as files, which read the chain in the browser. */
import type { Command } from "commander";
import { exportSite } from "../explorer/export.ts";
import { Library } from "../explorer/library.ts";
import { publicityWarnings } from "../explorer/site/public-url.ts";
import type { SiteFile } from "../explorer/site/site-file.ts";
import { rpcUrlsOf } from "../protocol/chain/quorum/urls.ts";
import { StateReader } from "../protocol/chain/reads.ts";
import type { ModelId } from "../protocol/rules/types.ts";
import { CHAIN_SETTINGS, integer, loadConfig, type Settings } from "../protocol/service/config.ts";
import { confirmationsOn, openChainAs, withChain, withSettings } from "./chain.ts";
import { MODELS_SETTING } from "./daemon.ts";
import { createLogger } from "./log.ts";
import { printProgress, printResult, withJson } from "./output.ts";

/** Events that a browser reads in a minute or so, and holds. */
const MAX_EVENTS = 20_000;

const EXPORT_SETTINGS = {
  models: MODELS_SETTING,
  maxEvents: {
    schema: integer(1, 1_000_000),
    default: MAX_EVENTS,
    description: "events after which a page reads no further, and says so",
  },
} as const satisfies Settings;

export function addExplorerExportCommand(explorer: Command): void {
  const command = explorer
    .command("export <folder>")
    .description(
      "write the explorer's pages as files for any host: they read the chain in the browser, by a node that everybody can ask, without a server",
    );
  withSettings(withJson(withChain(command)), EXPORT_SETTINGS).action(
    async (folder: string, _options: object, self: Command) => {
      const sources = { flags: self.optsWithGlobals(), env: process.env };
      const config = loadConfig(CHAIN_SETTINGS, sources);
      const { models, maxEvents } = loadConfig(EXPORT_SETTINGS, sources, "explorer");
      const { rpcUrl, quorum, pollIntervalMs } = config;
      const warnings = rpcUrlsOf(rpcUrl).flatMap(publicityWarnings);
      for (const warning of warnings) printProgress(`warning: ${warning}`);
      const log = createLogger("explorer", self);
      const chain = await openChainAs(config, undefined, log);
      const reader = new StateReader(chain);
      const library = new Library([models], log, (id) => reader.program(id as ModelId));
      const here = [...library.models];
      const words = await Promise.all(here.map(({ id }) => reader.model(id as ModelId)));
      const registered = here.filter((_, i) => words[i] !== undefined);
      const site: SiteFile = {
        ...{ deployment: chain.deployment, rpcUrl, pollIntervalMs, maxEvents },
        ...(quorum === undefined ? {} : { quorum }),
        confirmations: confirmationsOn(chain, config),
      };
      const written = exportSite({ out: folder, site, library, models: registered });
      const { chainId, assay } = chain.game;
      const names = registered.map((model) => model.folder);
      printResult(self, { folder, chainId, assay, models: names, maxEvents, warnings, ...written }, [
        `${folder} has ${written.files} files, ${(written.bytes / 2 ** 20).toFixed(1)} MB: the explorer of ${assay} on chain ${chainId}.`,
        `Models with their files: ${names.join(", ") || "none"}.`,
        "Any web server serves the folder, at any path. A page reads the chain when it is opened.",
      ]);
    },
  );
}
