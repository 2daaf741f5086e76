/** Settings of every command that runs ezkl. */
import { join, resolve } from "node:path";
import type { Command } from "commander";
import {
  CHAIN_SETTINGS,
  type Config,
  integer,
  loadConfig,
  type Settings,
  text,
} from "../protocol/service/config.ts";
import type { EzklOptions, StageCost } from "../prover/proof/ezkl/keys.ts";
import { withSettings } from "./chain.ts";
import { printProgress } from "./output.ts";

export const EZKL_SETTINGS = {
  ezkl: {
    schema: text,
    isPath: true,
    description: "folder that `assay proof ezkl install` filled; default: ezkl in the data folder",
  },
  ezklTimeoutMs: {
    schema: integer(1_000, 86_400_000),
    default: 1_800_000,
    description: "most time of one stage of ezkl, ms",
  },
  srs: {
    schema: text,
    isPath: true,
    description: "SRS file of a ceremony, for the ezkl models that name it",
  },
} as const satisfies Settings;
const WITH_DATA = { data: CHAIN_SETTINGS.data, ...EZKL_SETTINGS };

/** Adds the settings to a command that talks to no chain. */
export const withEzklSettings = (command: Command): Command => withSettings(command, WITH_DATA);

/** What a command's flags and the configuration say; each stage is reported as progress. */
export function ezklOptionsOf(
  command: Command,
  flags: Readonly<Record<string, unknown>> = command.optsWithGlobals(),
): EzklOptions {
  const config = loadConfig(WITH_DATA, { flags, env: process.env });
  const onStage = ({ name, seconds }: StageCost): void => printProgress(`${name}: ${seconds.toFixed(1)} s`);
  return { ...ezklOptions(config, config), onStage };
}

export function ezklOptions(
  { data }: { readonly data: string },
  settings: Config<typeof EZKL_SETTINGS>,
  signal?: AbortSignal,
): EzklOptions {
  const options = ezklOptionsIn(settings.ezkl ?? join(data, "ezkl"), settings);
  return signal === undefined ? options : { ...options, signal };
}

/** @param folder that `assay proof ezkl install` filled */
export const ezklOptionsIn = (
  folder: string,
  { ezklTimeoutMs, srs }: Config<typeof EZKL_SETTINGS>,
): EzklOptions => ({
  folder: resolve(folder),
  timeoutMs: ezklTimeoutMs,
  ...(srs === undefined ? {} : { srs: resolve(srs) }),
});
