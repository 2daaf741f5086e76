/** What every challenger command is made of: its settings, and the machine that runs on them. */
import type { Command } from "commander";
import { z } from "zod";
import type { Logger } from "../../base/log.ts";
import { runChallenger } from "../../challenger/main.ts";
import type { ChallengerOptions } from "../../challenger/options.ts";
import { requireAccount } from "../../protocol/chain/sender.ts";
import { integer, loadConfig, type Settings, text, wei } from "../../protocol/service/config.ts";
import { confirmedByTwo } from "../../protocol/service/workers/confirm.ts";
import { EXPLORER_PORT_SETTING } from "../beside-explorer.ts";
import { CALLER_SETTINGS } from "../caller-limits.ts";
import { chainConfig, confirmationsOn, openChain } from "../chain.ts";
import { ENDING_BUDGET_SETTING, loadModels, MODELS_SETTING } from "../daemon.ts";
import { warnOfKey } from "../doctor/key.ts";
import { openEngine } from "../engine.ts";
import { SWEEP_SETTINGS, sweepTerms } from "../sweep-options.ts";
import { openWorkers, WORKERS_SETTINGS } from "../workers-options.ts";

export const CHALLENGER_SETTINGS = {
  models: MODELS_SETTING,
  width: { schema: integer(1, 256), default: 4, description: "claims that are re-executed at the same time" },
  processes: { schema: integer(1, 64), default: 1, description: "child processes that run onnxruntime" },
  maxExposure: {
    schema: wei,
    default: "10 ether",
    description:
      "most in tickets that are not over and in deposits on promises; more than that within an hour, won ones included, and no more come until a person has looked",
  },
  shards: {
    schema: z.enum(["on", "off"], "must be on or off"),
    default: "off",
    description: "on: defend divides the checks with the challengers of other keys in its database",
  },
  ...WORKERS_SETTINGS,
  workerSample: {
    schema: integer(1, 1_000_000),
    default: 20,
    description: "of so many answers that workers agree on, one is computed here as well",
  },
  endingBudget: ENDING_BUDGET_SETTING,
  withdrawAbove: {
    schema: wei,
    default: "0.1 ether",
    description: "credit from which it is withdrawn",
  },
  ...SWEEP_SETTINGS,
  attentionSeconds: {
    schema: integer(0, 30 * 86_400),
    default: 3_600,
    description: "time between planned wrong claims that test this challenger, 0: none, seconds",
  },
  webhook: {
    schema: z.url({ protocol: /^https?$/, error: "must be an http or https URL" }),
    description: "URL that alerts are posted to as JSON",
  },
  host: { schema: text, default: "127.0.0.1", description: "address that /metrics listens on" },
  port: { schema: integer(0, 65_535), description: "port of /metrics, 0 for any; absent: none" },
  explorerPort: EXPLORER_PORT_SETTING,
  intakeHost: {
    schema: text,
    default: "127.0.0.1",
    description: "address that POST /v1/signed-claims listens on",
  },
  intakePort: {
    schema: integer(0, 65_535),
    description: "port of POST /v1/signed-claims, 0 for any; absent: none",
  },
  ...CALLER_SETTINGS,
  ratePerMinute: { ...CALLER_SETTINGS.ratePerMinute, default: 600 },
} as const satisfies Settings;

export type Setup = Awaited<ReturnType<typeof openSetup>>;

/** @throws BaseError as loadConfig, openChain and loadModels do */
export async function openSetup(self: Command, log: Logger) {
  const config = chainConfig(self);
  const flags = self.optsWithGlobals();
  const settings = loadConfig(CHALLENGER_SETTINGS, { flags, env: process.env }, "challenger");
  const chain = await openChain(config, log);
  // Nobody can claim without a program, so there is nothing to challenge.
  return { config, settings, chain, log, models: loadModels(settings.models, log, chain).programs };
}

/** Runs the machine as `runChallenger` does, with an engine of its own.
 *  @throws BaseError as runChallenger does */
export async function runMachine(
  { config, settings, chain, log, models }: Setup,
  own: Pick<
    ChallengerOptions,
    "mode" | "scope" | "database" | "divides" | "attentionMs" | "webhook" | "http" | "intake"
  >,
  signal: AbortSignal,
): Promise<void> {
  const { data, pollIntervalMs, maxFee } = config;
  const confirmations = confirmationsOn(chain, config);
  // A command for one claim, or without a database, sends no money elsewhere and asks no workers.
  const isDaemon = own.mode === "defend" && own.scope === undefined;
  const sweep = isDaemon ? sweepTerms(settings, requireAccount(chain)) : undefined;
  if (own.mode === "defend") await warnOfKey(requireAccount(chain), config, log);
  const workers = isDaemon ? await openWorkers(settings, own.database, models, log) : undefined;
  const local = await openEngine(models, settings.processes, log);
  const { fast, canonical } =
    workers === undefined
      ? { fast: local, canonical: local.canonical }
      : confirmedByTwo(
          { workers: workers.runs, fast: local, canonical: local.canonical, asksFor: workers.asksFor },
          settings.workerSample,
          Math.random,
        );
  try {
    const { width } = settings;
    const shared = {
      chain,
      models,
      fast,
      canonical,
      ...(workers === undefined ? {} : { workers }),
      data,
      width,
      limits: settings,
      pollIntervalMs,
      confirmations,
      maxFee,
      ...(sweep === undefined ? {} : { sweep }),
      log,
    };
    await runChallenger({ ...shared, ...own }, signal);
  } finally {
    local.close();
  }
}
