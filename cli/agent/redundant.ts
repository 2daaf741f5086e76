/** `assay agent redundant` */
import type { Command } from "commander";
import { z } from "zod";
import { runRedundant } from "../../agent/redundant/main.ts";
import { requireAccount } from "../../protocol/chain/sender.ts";
import { integer, loadConfig, type Settings } from "../../protocol/service/config.ts";
import { chainConfig, confirmationsOn, openChain, withChain, withSettings } from "../chain.ts";
import { stopSignal } from "../daemon.ts";
import { createLogger } from "../log.ts";
import { refuseArgument } from "../output.ts";
import { addressOf } from "./executor.ts";

const REDUNDANT_SETTINGS = {
  agentUrl: {
    schema: z.url({ protocol: /^https?$/, error: "must be an http or https URL" }),
    description: "URL of your own agent or prover, which answers calldata by POST: …/tools/NAME of a prover",
  },
  timeoutMs: {
    schema: integer(100, 600_000),
    default: 30_000,
    description: "longest wait for its answer, ms",
  },
} as const satisfies Settings;

export function addRedundantCommand(agent: Command): void {
  const command = agent
    .command("redundant")
    .description("answer the rounds of a RedundantResults contract: commit, reveal, convict wrong answers")
    .requiredOption("--results <address>", "the contract; its executors include this key");
  withSettings(withChain(command), REDUNDANT_SETTINGS).action(
    async ({ results }: { results: string }, self: Command) => {
      const config = chainConfig(self);
      const settings = loadConfig(REDUNDANT_SETTINGS, { flags: self.optsWithGlobals(), env: {} });
      const { agentUrl = refuseArgument("--agent-url", undefined, "a URL"), timeoutMs } = settings;
      const log = createLogger("redundant", self);
      const signal = stopSignal(log);
      const chain = requireAccount(await openChain(config));
      const { data, pollIntervalMs, maxFee } = config;
      const confirmations = confirmationsOn(chain, config);
      const options = { data, pollIntervalMs, confirmations, maxFee, agentUrl, timeoutMs, log };
      await runRedundant({ chain, results: addressOf("--results", results), ...options }, signal);
    },
  );
}
