/** Iterations whose choice is a final output: asks for the output, waits until it is final, and posts it. */
import { type Address, encodeFunctionData } from "viem";
import type { Logger } from "../../../base/log.ts";
import type { FinalResult } from "../../../protocol/chain/await-result.ts";
import { followRequest } from "../../../protocol/chain/follow-request.ts";
import { newRequest } from "../../../protocol/chain/new-request.ts";
import type { Sender, SigningChain } from "../../../protocol/chain/sender.ts";
import { requireSent } from "../../../protocol/chain/sent.ts";
import { finalChoiceExecutorAbi } from "../../../protocol/rules/generated/abis.ts";
import { requestIdOf } from "../../../protocol/rules/ids.ts";
import { NO_CLAIM } from "../../../protocol/rules/types.ts";
import { ITERATION_OVER } from "../node/decide.ts";
import type { RunHistory } from "../node/run-history.ts";
import type { AskedChoice, ChoiceStore } from "./choice-store.ts";
import { type ChoiceHistory, choiceHistory, type FinalExecutor, inputOf } from "./final-executor.ts";

export interface FinalChoiceParts {
  readonly chain: SigningChain;
  readonly sender: Sender;
  readonly store: ChoiceStore;
  /** those that this node serves */
  readonly executors: readonly FinalExecutor[];
  /** wei that a request offers, and seconds in which it may be claimed */
  readonly fee: bigint;
  readonly expirySeconds: number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export class FinalChoices {
  readonly #parts: FinalChoiceParts;

  constructor(parts: FinalChoiceParts) {
    this.#parts = parts;
  }

  get addresses(): readonly Address[] {
    return this.#parts.executors.map(({ address }) => address);
  }

  /** Takes an iteration one step on: asks, waits, or posts.
   *  @param id of the iteration on its history
   *  @throws BaseError for what could not be read or sent, or is refused; it goes on from there */
  async advance(id: string, run: RunHistory, address: Address): Promise<void> {
    const { chain, store, log } = this.#parts;
    const executor = this.#parts.executors.find((each) => each.address === address);
    if (executor === undefined) throw new TypeError(`${address} is not served here.`);
    const history = choiceHistory(run, executor);
    const asked = await this.#asked(executor, history);
    const facts = { agent: run.agent, runId: run.runId, requestId: requestIdOf(chain.game, asked.request) };
    const followed = await followRequest(chain, this.#parts.sender, asked, this.#parts.signal);
    if (followed.state === "final") {
      await this.#post(id, run, executor, history, asked, followed.result);
      return log.info(facts, "posted a choice that is final");
    }
    if (followed.state === "filed") return log.info(facts, "asked for a choice");
    if (followed.state === "waiting") return;
    log.warn(facts, "nobody answered the request for a choice; it is asked for again");
    store.forget(executor.address, asked);
  }

  /** The request for this prompt; a new one if there is none. */
  async #asked(executor: FinalExecutor, history: ChoiceHistory): Promise<AskedChoice> {
    const { chain, store, fee, expirySeconds } = this.#parts;
    const { address, modelId, policy } = executor;
    const input = await inputOf(chain, executor, history);
    const kept = store.asked(address, input);
    if (kept !== undefined) return kept;
    const window = Math.max(policy.minWindow, 4 * chain.constants.answerSeconds);
    const { lanes, minBond } = policy;
    const terms = { lanes, fee, minBond, window, expirySeconds };
    const request = await newRequest(chain, chain.account.address, modelId, input, terms);
    store.keep(address, { request, input });
    return { request, input };
  }

  async #post(
    id: string,
    { agent, runId }: RunHistory,
    { address }: FinalExecutor,
    history: ChoiceHistory,
    { request }: AskedChoice,
    { output, claim }: FinalResult,
  ): Promise<void> {
    const args = [agent, runId, history, request, claim ?? NO_CLAIM, output] as const;
    const data = encodeFunctionData({ abi: finalChoiceExecutorAbi, functionName: "post", args });
    const action = { key: `choice:${id}`, to: address, data, value: 0n, doneBy: ITERATION_OVER };
    requireSent("post a choice", await this.#parts.sender.send(action, this.#parts.signal));
  }
}
