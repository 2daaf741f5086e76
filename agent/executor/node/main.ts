/** Wires an executor node together. */
import type { Address } from "viem";
import type { Logger } from "../../../base/log.ts";
import { EventFollower } from "../../../protocol/chain/follower.ts";
import type { SigningChain } from "../../../protocol/chain/sender.ts";
import { openDataFolder } from "../../../protocol/service/data-folder.ts";
import { CHOICE_SCHEMA, ChoiceStore } from "../choice/choice-store.ts";
import { type ChoiceTerms, FinalChoices } from "../choice/final-choices.ts";
import { readFinalExecutor } from "../choice/final-executor.ts";
import { createEngineRegistry } from "../engine/engine.ts";
import type { ModelRegistry } from "../models/language-model.ts";
import { agentEvents } from "./agent-events.ts";
import { ExecutorNode } from "./executor-node.ts";
import { EXECUTOR_SCHEMA, ExecutorStore } from "./store.ts";

export interface ExecutorOptions {
  readonly chain: SigningChain;
  readonly agents: readonly Address[];
  readonly models: ModelRegistry;
  readonly tries: number;
  /** executor contracts whose choices are final outputs, which this node asks for */
  readonly finalExecutors: readonly Address[];
  readonly choiceTerms: ChoiceTerms;
  /** folder of database and journal */
  readonly data: string;
  readonly pollIntervalMs: number;
  readonly confirmations: number;
  readonly maxFee: bigint;
  readonly log: Logger;
}

/** Runs until the signal aborts, then ends what it began.
 *  @throws BaseError as openDataFolder and readFinalExecutor do */
export async function runExecutor(options: ExecutorOptions, signal: AbortSignal): Promise<void> {
  const { chain, agents, models, tries, pollIntervalMs, confirmations, log } = options;
  const executors = await Promise.all(options.finalExecutors.map((each) => readFinalExecutor(chain, each)));
  const folder = openDataFolder(options.data, chain, [EXECUTOR_SCHEMA, CHOICE_SCHEMA], {
    pollIntervalMs,
    maxFeePerGas: options.maxFee,
    log,
  });
  try {
    const store = new ExecutorStore(folder.db, agents);
    const engines = createEngineRegistry();
    const { sender } = folder;
    const choices = {
      chain,
      sender,
      store: new ChoiceStore(folder.db),
      executors,
      log,
      signal,
      ...options.choiceTerms,
    };
    const node = new ExecutorNode({
      finalChoices: new FinalChoices(choices),
      chain,
      sender,
      store,
      models,
      engines,
      tries,
      log,
      nowMs: Date.now,
      signal,
    });
    const follower = new EventFollower(
      chain,
      { pollIntervalMs, confirmations, log, cursor: store.cursor() },
      agentEvents(agents),
    );
    log.info(
      {
        account: chain.account.address,
        agents,
        models: models.ids(),
        finalExecutors: options.finalExecutors,
      },
      "executor is up",
    );
    await follower.run(
      (batch) => node.take(batch),
      signal,
      (now) => node.onTime(now),
    );
    await node.stop();
    log.info({}, "executor stopped");
  } finally {
    await folder.close();
  }
}
