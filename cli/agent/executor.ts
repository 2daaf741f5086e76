/** `assay agent executor` and `assay agent run` */
import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { type Address, getAddress, isAddress } from "viem";
import { contractExecutor, localExecutor } from "../../agent/executor/agent-executor.ts";
import { createEngineRegistry } from "../../agent/executor/engine/engine.ts";
import { runExecutor } from "../../agent/executor/node/main.ts";
import { EXECUTOR_SCHEMA } from "../../agent/executor/node/store.ts";
import { agentOnChain, runAgent } from "../../agent/executor/run-agent.ts";
import { requireAccount } from "../../protocol/chain/sender.ts";
import { openDataFolder } from "../../protocol/data-folder.ts";
import { SILENT } from "../../protocol/log.ts";
import { chainConfig, openChain, withChain, withSettings } from "../chain.ts";
import { createLogger, stopSignal } from "../daemon.ts";
import { printResult, refuseArgument, withJson } from "../output.ts";
import { closeModels, MODEL_SETTINGS, modelConfig, openModels } from "./models.ts";

export function addExecutorCommand(agent: Command): void {
  const command = agent
    .command("executor")
    .description("decide iterations that callback agents ask of this key, and post them")
    .requiredOption("--agents <addresses>", "callback agents, separated by commas");
  withSettings(withChain(command), MODEL_SETTINGS).action(
    async ({ agents }: { agents: string }, self: Command) => {
      const config = chainConfig(self);
      const settings = modelConfig(self);
      const log = createLogger("executor");
      const signal = stopSignal(log);
      const addresses = agents.split(",").map((each) => addressOf("--agents", each.trim()));
      const models = await openModels(settings);
      try {
        const chain = requireAccount(await openChain(config));
        const { data, pollIntervalMs, confirmations, maxFee } = config;
        const options = { data, pollIntervalMs, confirmations, maxFee, tries: settings.tries };
        await runExecutor({ chain, agents: addresses, models, log, ...options }, signal);
      } finally {
        await closeModels(models);
      }
    },
  );
}

export function addRunCommand(agent: Command): void {
  const command = agent
    .command("run <agent> <question>")
    .description(
      "run an agent from here: decide each iteration, use its tools with this key, print the answer",
    )
    .option("--executor <address>", "executor contract that decides; default: the configured models");
  withJson(withSettings(withChain(command), MODEL_SETTINGS)).action(
    async (address: string, question: string, flags: { executor?: string }, self: Command) => {
      const config = chainConfig(self);
      const settings = modelConfig(self);
      const chain = requireAccount(await openChain(config));
      const models = flags.executor === undefined ? await openModels(settings) : undefined;
      const folder = openDataFolder(config.data, chain, [EXECUTOR_SCHEMA], {
        pollIntervalMs: config.pollIntervalMs,
        maxFeePerGas: config.maxFee,
        log: SILENT,
      });
      try {
        const run = randomUUID();
        const target = await agentOnChain(chain, folder.sender, addressOf("agent", address), run);
        const executor =
          models === undefined
            ? contractExecutor(chain.client, addressOf("--executor", flags.executor ?? ""))
            : localExecutor({
                client: chain.client,
                models,
                engines: createEngineRegistry(),
                tries: settings.tries,
              });
        const { answer, agentReasoning, toolResults } = await runAgent(target, executor, question);
        const steps = agentReasoning.map((reasoning, i) => ({ reasoning, result: toolResults[i] ?? "" }));
        printResult(self, { answer, steps }, [
          ...steps.flatMap(({ reasoning, result }) => [reasoning, `Observation: ${result}`]),
          answer,
        ]);
      } finally {
        await folder.close();
        if (models !== undefined) await closeModels(models);
      }
    },
  );
}

export function addressOf(name: string, value: string): Address {
  return isAddress(value, { strict: false }) ? getAddress(value) : refuseArgument(name, value, "an address");
}
