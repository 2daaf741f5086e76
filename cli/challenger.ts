/** `assay challenger watch|dry-run|defend` */
import type { Command } from "commander";
import { z } from "zod";
import { MODES, type Mode, runChallenger } from "../challenger/main.ts";
import { integer, loadConfig, type Settings, text, wei } from "../protocol/config.ts";
import { chainConfig, openChain, withChain, withSettings } from "./chain.ts";
import { createLogger, loadModels, MODELS_SETTING, stopSignal } from "./daemon.ts";
import { openEngine } from "./engine.ts";

export const CHALLENGER_SETTINGS = {
  models: MODELS_SETTING,
  width: { schema: integer(1, 256), default: 4, description: "claims that are re-executed at the same time" },
  processes: { schema: integer(1, 64), default: 1, description: "child processes that run onnxruntime" },
  maxExposure: {
    schema: wei,
    default: "10000000000000000000",
    description: "most wei in tickets that are not over",
  },
  withdrawAbove: {
    schema: wei,
    default: "100000000000000000",
    description: "credit from which it is withdrawn, wei",
  },
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
} as const satisfies Settings;

const DESCRIPTIONS: Readonly<Record<Mode, string>> = {
  watch: "re-execute claims and report wrong ones",
  "dry-run": "also simulate the transactions and print what they would put at risk",
  defend: "challenge and convict wrong claims",
};

/** @returns the command, for its other parts */
export function addChallengerCommand(program: Command): Command {
  const parent = program.command("challenger").description("re-execute claims and dispute wrong ones");
  for (const mode of MODES) {
    const command = parent.command(mode).description(DESCRIPTIONS[mode]);
    withSettings(withChain(command), CHALLENGER_SETTINGS).action(async (_options: object, self: Command) => {
      const config = chainConfig(self);
      const settings = loadConfig(
        CHALLENGER_SETTINGS,
        { flags: self.optsWithGlobals(), env: process.env },
        "challenger",
      );
      const log = createLogger("challenger");
      const signal = stopSignal(log);
      // Nobody can claim without a program, so there is nothing to challenge.
      const { programs: models } = loadModels(settings.models, log);
      const fast = await openEngine(models, settings.processes, log);
      try {
        await runChallenger(
          {
            mode,
            chain: await openChain(config),
            models,
            fast,
            data: config.data,
            width: settings.width,
            limits: settings,
            pollIntervalMs: config.pollIntervalMs,
            confirmations: config.confirmations,
            maxFee: config.maxFee,
            ...(settings.attentionSeconds === 0 ? {} : { attentionMs: 1_000 * settings.attentionSeconds }),
            ...(settings.webhook === undefined ? {} : { webhook: settings.webhook }),
            ...(settings.port === undefined ? {} : { http: { host: settings.host, port: settings.port } }),
            log,
          },
          signal,
        );
      } finally {
        fast.close();
      }
    });
  }
  return parent;
}
