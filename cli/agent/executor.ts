/** `assay agent executor` and `assay agent run` */
import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { type Address, getAddress, isAddress, keccak256, stringToHex } from "viem";
import {
  contractExecutor,
  type IterationArguments,
  localExecutor,
} from "../../agent/executor/agent-executor.ts";
import { createEngineRegistry, ENGINES } from "../../agent/executor/engine/engine.ts";
import type { Iteration } from "../../agent/executor/iterate.ts";
import { createModelRegistry } from "../../agent/executor/models/language-model.ts";
import { runExecutor } from "../../agent/executor/node/main.ts";
import { EXECUTOR_SCHEMA, ExecutorStore } from "../../agent/executor/node/store.ts";
import { agentOnChain, runAgent } from "../../agent/executor/run-agent.ts";
import type { Tool } from "../../agent/executor/tool.ts";
import { recordIteration, signTranscript } from "../../agent/executor/transcript.ts";
import { SILENT } from "../../base/log.ts";
import { requireAccount, type SigningChain } from "../../protocol/chain/sender.ts";
import { LIMITS } from "../../protocol/rules/types.ts";
import { integer, loadConfig, type Settings, wei } from "../../protocol/service/config.ts";
import { openDataFolder } from "../../protocol/service/data-folder.ts";
import { chainConfig, confirmationsOn, openChain, withChain, withSettings } from "../chain.ts";
import { stopSignal } from "../daemon.ts";
import { createLogger } from "../log.ts";
import { printResult, refuseArgument, withJson } from "../output.ts";
import { closeModels, MODEL_SETTINGS, modelConfig, openModels } from "./models.ts";

/** What is paid for choices that are final outputs. */
const CHOICE_SETTINGS = {
  fee: {
    schema: wei,
    default: "0.002 ether",
    description: "to the prover, for each output that an executor of --final needs",
  },
  expirySeconds: {
    schema: integer(60, LIMITS.maxExpiryAhead),
    default: 3_600,
    description: "how long a claim of it may be made; then the fee comes back, and it is asked for again",
  },
  dayBudget: {
    schema: wei,
    default: "0.1 ether",
    description:
      "most that requests of any 24 hours may cost: anybody can begin a run, and so have this node ask",
  },
  mostOpen: { schema: integer(1, 1_000), default: 8, description: "most requests that wait for an output" },
} as const satisfies Settings;

const choiceConfig = (command: Command) =>
  loadConfig(CHOICE_SETTINGS, { flags: command.optsWithGlobals(), env: process.env }, "executor");

const addressesOf = (name: string, list: string): Address[] =>
  list.split(",").map((each) => addressOf(name, each.trim()));

export function addExecutorCommand(agent: Command): void {
  const command = agent
    .command("executor")
    .description("decide iterations that callback agents ask of this key, and post them")
    .requiredOption("--agents <addresses>", "callback agents, separated by commas")
    .option(
      "--final <addresses>",
      "executor contracts whose choices are final outputs: asks for these outputs and posts them",
    );
  withSettings(withSettings(withChain(command), MODEL_SETTINGS), CHOICE_SETTINGS).action(
    async ({ agents, final }: { agents: string; final?: string }, self: Command) => {
      const config = chainConfig(self);
      const settings = modelConfig(self);
      const choiceTerms = choiceConfig(self);
      const log = createLogger("executor", self);
      const signal = stopSignal(log);
      const addresses = addressesOf("--agents", agents);
      const finalExecutors = final === undefined ? [] : addressesOf("--final", final);
      // Where all choices are final outputs there is no model to ask here.
      const isModelless = settings.model === undefined && finalExecutors.length > 0;
      const models = isModelless ? createModelRegistry() : await openModels(settings);
      try {
        const chain = requireAccount(await openChain(config, log));
        const { data, pollIntervalMs, maxFee } = config;
        const confirmations = confirmationsOn(chain, config);
        const options = { data, pollIntervalMs, confirmations, maxFee, tries: settings.tries };
        const choices = { finalExecutors, choiceTerms };
        await runExecutor({ chain, agents: addresses, models, log, ...options, ...choices }, signal);
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
        const agentAddress = addressOf("agent", address);
        const target = await agentOnChain(chain, folder.sender, agentAddress, run);
        const executor =
          models === undefined
            ? contractExecutor(chain.client, addressOf("--executor", flags.executor ?? ""))
            : localExecutor({
                client: chain.client,
                models,
                engines: createEngineRegistry(),
                tries: settings.tries,
                onIteration: transcriptKeeper(chain, new ExecutorStore(folder.db), agentAddress, run),
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

/** Signs and keeps a transcript of each iteration of a run that no callback agent keeps: its number is -1, its history
 *  is told from others by the hash of the run's name. */
function transcriptKeeper(chain: SigningChain, store: ExecutorStore, agent: Address, run: string) {
  return async (call: IterationArguments, tools: readonly Tool[], iteration: Iteration): Promise<void> => {
    const number = call.agentReasoning.length;
    const historyHash = keccak256(stringToHex(run));
    const subject = {
      chainId: `${chain.game.chainId}`,
      agent,
      runId: "-1",
      iteration: `${number}`,
      historyHash,
      executor: chain.account.address,
      modelId: call.modelId,
      engine: ENGINES.RE_ACT,
      basePrompt: call.basePrompt,
      tools,
      agentReasoning: [...call.agentReasoning],
      toolResults: [...call.toolResults],
      question: call.prompt,
    };
    const signed = await signTranscript(chain.account, recordIteration(subject, iteration));
    store.keep({ agent, runId: -1n, iteration: number, historyHash }, { signed, call: "0x" });
  };
}

export function addressOf(name: string, value: string): Address {
  return isAddress(value, { strict: false }) ? getAddress(value) : refuseArgument(name, value, "an address");
}
