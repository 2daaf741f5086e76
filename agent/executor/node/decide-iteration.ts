/** An iteration that a language model decides here: attested by who signs it, and no more. */
import { type Address, encodeFunctionData } from "viem";
import { BaseError } from "../../../base/errors.ts";
import type { Logger } from "../../../base/log.ts";
import { withContext } from "../../../protocol/chain/errors.ts";
import type { Head } from "../../../protocol/chain/follower.ts";
import type { SigningChain } from "../../../protocol/chain/sender.ts";
import { iCallbackAgentAbi } from "../../../protocol/rules/generated/abis.ts";
import { toResult } from "../agent-executor.ts";
import { ENGINES, type ReasoningEngine } from "../engine/engine.ts";
import { iterate } from "../iterate.ts";
import type { ModelRegistry } from "../models/language-model.ts";
import type { Registry } from "../registry.ts";
import type { Tool } from "../tool.ts";
import { readTools } from "../tool-reader.ts";
import { recordIteration, signTranscript } from "../transcript.ts";
import { promptHistory, type RunHistory } from "./run-history.ts";
import type { ExecutorStore, IterationKey, KeptTranscript } from "./store.ts";

export interface DecisionParts {
  readonly chain: SigningChain;
  readonly store: ExecutorStore;
  readonly models: ModelRegistry;
  readonly engines: Registry<ReasoningEngine>;
  /** how often a model may write something that cannot be used */
  readonly tries: number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Asks the language model for an iteration, and keeps the signed transcript.
 *  @throws BaseError of the model and of the last try, TOOL_METADATA_CHANGED, faults of the chain's node */
export async function decideIteration(
  parts: DecisionParts,
  key: IterationKey,
  history: RunHistory,
  head: Head,
): Promise<KeptTranscript> {
  const { chain, store, models, engines, tries, log, signal } = parts;
  const { agent, runId, iteration, historyHash } = key;
  const terms = await termsOf(chain, agent, head);
  const model = models.get(terms.modelId);
  const tools = await readTools(chain.client, terms.tools, head.number);
  requireUnchanged(store, agent, tools);
  const { basePrompt, modelId } = terms;
  const engine = engines.get(tools.length === 0 ? ENGINES.CHAIN_OF_THOUGHT : ENGINES.RE_ACT);
  const lists = promptHistory(history.steps, tools);
  const asked = { basePrompt, tools, ...lists, prompt: history.prompt };
  log.info({ agent, runId, iteration, modelId }, "asking the model");
  const decided = await iterate(asked, { engine, model, tries }, signal);
  const result = toResult(decided.step);
  const subject = {
    chainId: `${chain.game.chainId}`,
    agent,
    runId: `${runId}`,
    iteration: `${iteration}`,
    historyHash,
    executor: chain.account.address,
    modelId,
    engine: engine.id,
    basePrompt,
    tools,
    ...lists,
    question: history.prompt,
  };
  const transcript = recordIteration(subject, decided);
  const signed = await signTranscript(chain.account, transcript);
  const args = [runId, iteration, historyHash, result, signed.hash] as const;
  const call = encodeFunctionData({ abi: iCallbackAgentAbi, functionName: "postIteration", args });
  store.keep(key, { signed, call });
  return { signed, call };
}

async function termsOf({ client }: SigningChain, agent: Address, { number: blockNumber }: Head) {
  const contract = { address: agent, abi: iCallbackAgentAbi, blockNumber } as const;
  const [modelId, basePrompt, tools] = await withContext(`read the agent at ${agent}`, () =>
    Promise.all([
      client.readContract({ ...contract, functionName: "modelId" }),
      client.readContract({ ...contract, functionName: "basePrompt" }),
      client.readContract({ ...contract, functionName: "allTools" }),
    ]),
  );
  return { modelId, basePrompt, tools };
}

/** @throws BaseError TOOL_METADATA_CHANGED */
function requireUnchanged(store: ExecutorStore, agent: Address, tools: readonly Tool[]): void {
  for (const tool of tools) {
    const metadata = JSON.stringify(tool);
    if (store.firstMetadata(agent, tool.address, metadata) === metadata) continue;
    throw new BaseError({
      code: "TOOL_METADATA_CHANGED",
      shortMessage: `The tool at ${tool.address} of the agent ${agent} says something else of itself than at first; it is not used any more.`,
      nextStep: "Look at what changed; a new data folder starts from what it says now.",
      details: { agent, tool: tool.address },
    });
  }
}
