/** Follows callback agents, decides iterations that are asked of this executor, and posts them. */
import { type Address, encodeFunctionData, type Hex } from "viem";
import { BaseError } from "../../../base/errors.ts";
import type { Action } from "../../../protocol/chain/actions.ts";
import { chainError, withContext } from "../../../protocol/chain/errors.ts";
import type { Batch, Head } from "../../../protocol/chain/follower.ts";
import type { Sender } from "../../../protocol/chain/sender.ts";
import { iCallbackAgentAbi } from "../../../protocol/rules/generated/abis.ts";
import { WorkList } from "../../work-list.ts";
import type { FinalChoices } from "../choice/final-choices.ts";
import type { AgentEvent } from "./agent-events.ts";
import { decideRun, ITERATION_OVER, RUN_STATES } from "./decide.ts";
import { type DecisionParts, decideIteration } from "./decide-iteration.ts";
import { historyOfRun, type RunHistory } from "./run-history.ts";
import type { IterationKey } from "./store.ts";

export interface ExecutorParts extends DecisionParts {
  readonly sender: Sender;
  /** iterations that are not decided here, but by final outputs */
  readonly finalChoices: FinalChoices;
  readonly nowMs: () => number;
}

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
    const choices = this.#parts.finalChoices;
    if (choices.addresses.length > 0) this.#work.begin("sweep", {}, "take fees back", () => choices.sweep());
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
    const own = [account.address, ...this.#parts.finalChoices.addresses];
    const move = decideRun({ state, iteration, deadline, admitted, posted }, own, now);
    const begin = (id: string, facts: object, work: () => Promise<void>) =>
      this.#work.begin(id, { agent, runId, ...facts }, "decide an iteration", work);
    if (move.kind === "advance") {
      const id = `${agent}:${runId}:${deadline}`;
      begin(`advance:${id}`, { state: RUN_STATES[state] }, () => this.#advance(history, id));
    } else if (move.kind === "iterate") {
      if (history.historyHash !== run.historyHash) throw historyMismatch(history, run.historyHash);
      const key = { agent, runId, iteration, historyHash: run.historyHash };
      const id = `${agent}:${runId}:${iteration}:${run.historyHash}`;
      const { executor } = move;
      const isAttested = executor === account.address;
      begin(`iteration:${id}`, { iteration, executor }, () =>
        isAttested ? this.#iterate(key, history, head, id) : this.#choose(history, executor, deadline, id),
      );
    }
  }

  async #advance({ agent, runId }: RunHistory, id: string): Promise<void> {
    const data = encodeFunctionData({ abi: iCallbackAgentAbi, functionName: "advance", args: [runId] });
    const key = `advance:${id}`;
    await this.#send({ key, to: agent, data, value: 0n, doneBy: ["WrongState"], tooEarly: "NotYet" });
    this.#parts.log.info({ agent, runId }, "advanced a run whose time was over");
  }

  /** By a final output; a run that has nothing left to wait for is advanced. */
  async #choose(history: RunHistory, executor: Address, deadline: number, id: string): Promise<void> {
    const isWaiting = await this.#parts.finalChoices.advance(id, history, executor, deadline);
    if (!isWaiting) await this.#advance(history, `${history.agent}:${history.runId}:${deadline}`);
  }

  async #iterate(key: IterationKey, history: RunHistory, head: Head, id: string): Promise<void> {
    const { store, log } = this.#parts;
    // A transcript that is there goes out as it is: one iteration never gets two.
    const kept = store.transcript(key) ?? (await decideIteration(this.#parts, key, history, head));
    const call = kept.call;
    const action = { key: `iteration:${id}`, to: key.agent, data: call, value: 0n, doneBy: ITERATION_OVER };
    await this.#send(action);
    const { agent, runId, iteration } = key;
    log.info({ agent, runId, iteration, transcript: kept.signed.hash }, "posted an iteration");
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
