/** Follows callback agents, decides iterations that are asked of this executor, and posts them. */
import { type Address, encodeFunctionData, type Hex } from "viem";
import { BaseError } from "../../../base/errors.ts";
import type { Logger } from "../../../base/log.ts";
import type { Action } from "../../../protocol/chain/actions.ts";
import { chainError, withContext } from "../../../protocol/chain/errors.ts";
import type { Batch, Head } from "../../../protocol/chain/follower.ts";
import type { Sender, SigningChain } from "../../../protocol/chain/sender.ts";
import { iCallbackAgentAbi } from "../../../protocol/rules/generated/abis.ts";
import { WorkList } from "../../work-list.ts";
import { toResult } from "../agent-executor.ts";
import { ENGINES, type ReasoningEngine } from "../engine/engine.ts";
import { iterate } from "../iterate.ts";
import type { ModelRegistry } from "../models/language-model.ts";
import type { Registry } from "../registry.ts";
import type { Tool } from "../tool.ts";
import { readTools } from "../tool-reader.ts";
import { recordIteration, signTranscript } from "../transcript.ts";
import type { AgentEvent } from "./agent-events.ts";
import { decideRun, RUN_STATES } from "./decide.ts";
import { historyOfRun, promptHistory, type RunHistory } from "./run-history.ts";
import type { ExecutorStore, IterationKey, KeptTranscript } from "./store.ts";

export interface ExecutorParts {
  readonly chain: SigningChain;
  readonly sender: Sender;
  readonly store: ExecutorStore;
  readonly models: ModelRegistry;
  readonly engines: Registry<ReasoningEngine>;
  /** how often a model may write something that cannot be used */
  readonly tries: number;
  readonly log: Logger;
  readonly nowMs: () => number;
  readonly signal: AbortSignal;
}

/** Errors by which the contract says that the iteration is not asked for any more. */
const OVER = ["AlreadyPosted", "WrongIteration", "WrongHistory", "WrongState"] as const;

export class ExecutorNode {
  readonly #parts: ExecutorParts;
  readonly #work: WorkList;
  #head: Head | undefined;

  constructor(parts: ExecutorParts) {
    this.#parts = parts;
    this.#work = new WorkList(parts);
  }

  /** Consumer of an EventFollower. */
  async take(batch: Batch<AgentEvent>): Promise<void> {
    const { store, log } = this.#parts;
    store.take(batch);
    if (batch.kind === "rollback") {
      log.warn({ ancestor: batch.ancestor }, "the chain was re-organized; going on from the common block");
      return;
    }
    if (batch.to.number === batch.head.number) await this.#followSafely(batch.head, batch.head.timestamp);
  }

  /** No block came, but time passed: deadlines end, and failures may be tried again.
   *  @param now seconds */
  async onTime(now: number): Promise<void> {
    if (this.#head !== undefined) await this.#followSafely(this.#head, now);
  }

  /** Waits for what is under way. */
  stop(): Promise<void> {
    return this.#work.stop();
  }

  /** The store holds the batch already, so it must not come again: the next block or second looks again. */
  async #followSafely(head: Head, now: number): Promise<void> {
    this.#head = head;
    const runs = this.#parts.store.runs();
    for (const events of runs) {
      try {
        const history = historyOfRun(this.#parts.chain.game.chainId, events);
        if (history !== undefined && !history.isOver) await this.#follow(history, head, now);
      } catch (error) {
        const { code, message } = chainError(error, `look at block ${head.number}`);
        this.#parts.log.warn({ code }, message);
      }
    }
  }

  async #follow(history: RunHistory, head: Head, now: number): Promise<void> {
    const { client, account } = this.#parts.chain;
    const { agent, runId } = history;
    const contract = {
      address: agent,
      abi: iCallbackAgentAbi,
      args: [runId],
      blockNumber: head.number,
    } as const;
    const [run, admitted] = await withContext(`read run ${runId} of ${agent}`, () =>
      Promise.all([
        client.readContract({ ...contract, functionName: "runOf" }),
        client.readContract({ ...contract, functionName: "admittedOf" }),
      ]),
    );
    const posted = history.posted.get(run.iteration) ?? new Set<Address>();
    const { state, iteration, deadline } = run;
    const move = decideRun({ state, iteration, deadline, admitted, posted }, account.address, now);
    const begin = (id: string, facts: object, work: () => Promise<void>) =>
      this.#work.begin(id, { agent, runId, ...facts }, "decide an iteration", work);
    if (move === "advance") {
      const id = `${agent}:${runId}:${deadline}`;
      begin(`advance:${id}`, { state: RUN_STATES[state] }, () => this.#advance(history, id));
    } else if (move === "iterate") {
      if (history.historyHash !== run.historyHash) throw historyMismatch(history, run.historyHash);
      const key = { agent, runId, iteration, historyHash: run.historyHash };
      const id = `${agent}:${runId}:${iteration}:${run.historyHash}`;
      begin(`iteration:${id}`, { iteration }, () => this.#iterate(key, history, head, id));
    }
  }

  async #advance({ agent, runId }: RunHistory, id: string): Promise<void> {
    const data = encodeFunctionData({ abi: iCallbackAgentAbi, functionName: "advance", args: [runId] });
    const key = `advance:${id}`;
    await this.#send({ key, to: agent, data, value: 0n, doneBy: ["WrongState"], tooEarly: "NotYet" });
    this.#parts.log.info({ agent, runId }, "advanced a run whose time was over");
  }

  async #iterate(key: IterationKey, history: RunHistory, head: Head, id: string): Promise<void> {
    const { store, log } = this.#parts;
    // A transcript that is there goes out as it is: one iteration never gets two.
    const kept = store.transcript(key) ?? (await this.#decide(key, history, head));
    const action = { key: `iteration:${id}`, to: key.agent, data: kept.call, value: 0n, doneBy: OVER };
    await this.#send(action);
    const { agent, runId, iteration } = key;
    log.info({ agent, runId, iteration, transcript: kept.signed.hash }, "posted an iteration");
  }

  async #decide(key: IterationKey, history: RunHistory, head: Head): Promise<KeptTranscript> {
    const { chain, store, models, engines, tries, log, signal } = this.#parts;
    const { agent, runId, iteration, historyHash } = key;
    const terms = await this.#termsOf(agent, head);
    const model = models.get(terms.modelId);
    const tools = await readTools(chain.client, terms.tools, head.number);
    this.#requireUnchanged(agent, tools);
    const { basePrompt, modelId } = terms;
    const engine = engines.get(tools.length === 0 ? ENGINES.CHAIN_OF_THOUGHT : ENGINES.RE_ACT);
    const lists = promptHistory(history.steps, tools);
    const parts = { basePrompt, tools, ...lists, prompt: history.prompt };
    log.info({ agent, runId, iteration, modelId }, "asking the model");
    const decided = await iterate(parts, { engine, model, tries }, signal);
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

  async #termsOf(agent: Address, { number: blockNumber }: Head) {
    const { client } = this.#parts.chain;
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
  #requireUnchanged(agent: Address, tools: readonly Tool[]): void {
    for (const tool of tools) {
      const metadata = JSON.stringify(tool);
      if (this.#parts.store.firstMetadata(agent, tool.address, metadata) === metadata) continue;
      throw new BaseError({
        code: "TOOL_METADATA_CHANGED",
        shortMessage: `The tool at ${tool.address} of the agent ${agent} says something else of itself than at first; it is not used any more.`,
        nextStep: "Look at what changed; a new data folder starts from what it says now.",
        details: { agent, tool: tool.address },
      });
    }
  }

  /** @throws BaseError for what did not get onto the chain */
  async #send(action: Action): Promise<void> {
    const result = await this.#parts.sender.send(action, this.#parts.signal);
    if (result.status === "retryable") throw result.error;
    if (result.status !== "refused") return;
    throw new BaseError({
      code: "MOVE_REFUSED",
      shortMessage: `The contract refuses ${action.key.split(":")[0]}: ${result.revert.message}.`,
      nextStep: "It is tried again while the run waits.",
    });
  }
}

const historyMismatch = ({ agent, runId, historyHash }: RunHistory, actual: Hex): BaseError =>
  new BaseError({
    code: "HISTORY_MISMATCH",
    shortMessage: `The events of run ${runId} of ${agent} give the history ${historyHash}, the contract has ${actual}; nothing is posted.`,
    nextStep: "Check that the node gives all logs.",
    retryable: true,
  });
