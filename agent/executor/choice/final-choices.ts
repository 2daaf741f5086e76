/** Iterations whose choice is a final output: asks for the output, waits until it is final, and posts it. */
import { type Address, encodeFunctionData } from "viem";
import { formatAmount } from "../../../base/amounts.ts";
import { BaseError } from "../../../base/errors.ts";
import type { Logger } from "../../../base/log.ts";
import type { FinalResult } from "../../../protocol/chain/await-result.ts";
import { withContext } from "../../../protocol/chain/errors.ts";
import { followRequest } from "../../../protocol/chain/follow-request.ts";
import { newRequest } from "../../../protocol/chain/new-request.ts";
import type { Sender, SigningChain } from "../../../protocol/chain/sender.ts";
import { requireSent } from "../../../protocol/chain/sent.ts";
import { finalChoiceExecutorAbi } from "../../../protocol/rules/generated/abis.ts";
import { requestIdOf } from "../../../protocol/rules/ids.ts";
import { NO_CLAIM } from "../../../protocol/rules/types.ts";
import type { RunHistory } from "../node/run-history.ts";
import type { AskedChoice, ChoiceStore } from "./choice-store.ts";
import { type ChoiceHistory, choiceHistory, type FinalExecutor, inputOf } from "./final-executor.ts";

const DAY_SECONDS = 86_400;
/** Errors by which an agent says that the iteration is not asked for any more. Another history is none of them: it may be
 *  this node's own fault. */
const OVER = ["AlreadyPosted", "WrongIteration", "WrongState"] as const;

/** What a node pays for outputs. Anybody can begin a run, and so have it ask. */
export interface ChoiceTerms {
  /** wei that a request offers, and seconds in which it may be claimed */
  readonly fee: bigint;
  readonly expirySeconds: number;
  /** most wei for requests of any 24 hours, but those that nobody answered */
  readonly dayBudget: bigint;
  /** most requests that wait for an output */
  readonly mostOpen: number;
}

export interface FinalChoiceParts extends ChoiceTerms {
  readonly chain: SigningChain;
  readonly sender: Sender;
  readonly store: ChoiceStore;
  /** those that this node serves */
  readonly executors: readonly FinalExecutor[];
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
   *  @param id of the iteration on its history @param deadline last second before somebody may end the run
   *  @returns false if there is nothing left to wait for: the deadline is over, and no request is open
   *  @throws BaseError for what could not be read or sent, or is refused; CHOICE_BUDGET, CHOICE_TOO_LATE, HISTORY_FOREIGN */
  async advance(id: string, run: RunHistory, address: Address, deadline: number): Promise<boolean> {
    const { chain, log } = this.#parts;
    const executor = this.#parts.executors.find((each) => each.address === address);
    if (executor === undefined) throw new TypeError(`${address} is not served here.`);
    const { timestamp } = await withContext("read the newest block", () => chain.client.getBlock());
    const now = Number(timestamp);
    const isLate = now > deadline;
    let found: { readonly history: ChoiceHistory; readonly asked: AskedChoice | undefined };
    try {
      found = await this.#asked(executor, run, deadline, now);
    } catch (error) {
      // What cannot be asked for before the deadline is not worth waiting for behind it.
      if (isLate && error instanceof BaseError && !error.retryable) return false;
      throw error;
    }
    const { history, asked } = found;
    if (asked === undefined) return false;
    const facts = { agent: run.agent, runId: run.runId, requestId: requestIdOf(chain.game, asked.request) };
    const result = await this.#follow(asked, facts);
    if (result === undefined) return true;
    await this.#post(id, run, history, asked, result);
    log.info(facts, "posted a choice that is final");
    return true;
  }

  /** Takes back fees of requests that nobody answered, also where their run is over. */
  async sweep(): Promise<void> {
    const { chain, store } = this.#parts;
    const open = store.open();
    if (open.length === 0) return;
    const { timestamp } = await withContext("read the newest block", () => chain.client.getBlock());
    for (const asked of open) {
      if (Number(timestamp) <= asked.request.expiry) continue;
      await this.#follow(asked, { requestId: requestIdOf(chain.game, asked.request) });
    }
  }

  /** @returns its output, once it is final */
  async #follow(asked: AskedChoice, facts: object): Promise<FinalResult | undefined> {
    const { chain, sender, store, log, signal } = this.#parts;
    const followed = await followRequest(chain, sender, asked, signal);
    if (followed.state === "final") {
      store.close(asked);
      return followed.result;
    }
    if (followed.state === "filed") log.info(facts, "asked for a choice");
    if (followed.state === "unanswered" || followed.state === "gone") {
      log.warn(facts, "nobody answered the request for a choice");
      store.forget(asked);
    }
    return undefined;
  }

  /** The request for a run's prompt; a new one if there is none, unless the deadline is over. */
  async #asked(executor: FinalExecutor, run: RunHistory, deadline: number, now: number) {
    const { chain, store, fee, expirySeconds } = this.#parts;
    const { address, modelId, policy } = executor;
    const history = await choiceHistory(chain, run, executor);
    const input = await inputOf(chain, executor, history);
    const kept = store.asked(address, input);
    if (kept !== undefined || now > deadline) return { history, asked: kept };
    const window = Math.max(policy.minWindow, 4 * chain.constants.answerSeconds);
    if (now + window > deadline) throw tooLate(run, window, deadline - now);
    this.#requireBudget(now);
    const { lanes, minBond } = policy;
    const terms = { lanes, fee, minBond, window, expirySeconds };
    const request = await newRequest(chain, chain.account.address, modelId, input, terms);
    const asked = { executor: address, request, input };
    store.keep(asked, now);
    return { history, asked };
  }

  /** @throws BaseError CHOICE_BUDGET */
  #requireBudget(now: number): void {
    const { store, fee, dayBudget, mostOpen } = this.#parts;
    const open = store.open().length;
    const paid = store.paidSince(now - DAY_SECONDS);
    if (open < mostOpen && paid + fee <= dayBudget) return;
    throw new BaseError({
      code: "CHOICE_BUDGET",
      shortMessage: `${open} requests for choices are open, of at most ${mostOpen}, and ${formatAmount(paid)} were paid in 24 hours, of at most ${formatAmount(dayBudget)}; none is filed.`,
      nextStep: "It goes on when some have ended; --most-open and --day-budget set the limits.",
      retryable: true,
    });
  }

  async #post(
    id: string,
    { agent, runId }: RunHistory,
    history: ChoiceHistory,
    { executor, request }: AskedChoice,
    { output, claim }: FinalResult,
  ): Promise<void> {
    const args = [agent, runId, history, request, claim ?? NO_CLAIM, output] as const;
    const data = encodeFunctionData({ abi: finalChoiceExecutorAbi, functionName: "post", args });
    const action = { key: `choice:${id}`, to: executor, data, value: 0n, doneBy: OVER };
    requireSent("post a choice", await this.#parts.sender.send(action, this.#parts.signal));
  }
}

const tooLate = ({ agent, runId }: RunHistory, window: number, left: number): BaseError =>
  new BaseError({
    code: "CHOICE_TOO_LATE",
    shortMessage: `Run ${runId} of ${agent} waits ${left} s more, and a claim's window is ${window} s; no output is asked for.`,
    nextStep: "The agent's iterationSeconds must be enough for a claim and its window.",
  });
