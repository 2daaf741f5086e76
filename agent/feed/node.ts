/** Keeps a feed up to date: records what the series lacks, and brings an output over its newest data onto the chain in the
 *  pace that was set. Everything that it decides by stands on the chain, but for requests that are under way. */
import { encodeFunctionData, type Hex } from "viem";
import { isBaseError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { Action } from "../../protocol/chain/actions.ts";
import type { FinalResult } from "../../protocol/chain/await-result.ts";
import { chainError } from "../../protocol/chain/errors.ts";
import { followRequest } from "../../protocol/chain/follow-request.ts";
import { newRequest } from "../../protocol/chain/new-request.ts";
import type { Sender, SigningChain } from "../../protocol/chain/sender.ts";
import { requireSent } from "../../protocol/chain/sent.ts";
import { dailySeriesAbi, forecastFeedAbi } from "../../protocol/rules/generated/abis.ts";
import { requestIdOf } from "../../protocol/rules/ids.ts";
import { NO_CLAIM } from "../../protocol/rules/types.ts";
import { DAY_SECONDS, dayOf, daysOf, isDue, missingRounds, type Pace, type Reached } from "./bars.ts";
import type { SourceHistory } from "./history.ts";
import { closeAt, type Feed, isAnnounced, type Newest, readBar, readLatest, readNewest } from "./reads.ts";
import type { AskedRound, FeedStore } from "./store.ts";

/** Rounds that one transaction records: some 1.5 million gas. */
const RECORDS_AT_ONCE = 32;
/** Days by which the history is read further back until there are enough with a price. */
const FURTHER_DAYS = 14;

export interface FeedParts {
  readonly chain: SigningChain;
  readonly sender: Sender;
  readonly store: FeedStore;
  readonly history: SourceHistory;
  readonly feed: Feed;
  readonly pace: Pace;
  /** wei that a request offers, and seconds in which it may be claimed */
  readonly fee: bigint;
  readonly expirySeconds: number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export class FeedNode {
  readonly #parts: FeedParts;
  /** days whose bars are over all rounds of the source */
  readonly #complete = new Set<number>();
  /** re-orgs that the history had seen when they were found complete */
  #reorgs = 0;

  constructor(parts: FeedParts) {
    this.#parts = parts;
  }

  /** One look at everything. One part's fault does not keep the others from going on.
   *  @throws never */
  async tick(): Promise<void> {
    await this.#try("record rounds of the source", () => this.#record());
    for (const asked of this.#parts.store.open())
      await this.#try(`follow request ${this.#idOf(asked)}`, () => this.#follow(asked));
    await this.#try("look whether a round is due", () => this.#renew());
  }

  async #try(what: string, work: () => Promise<void>): Promise<void> {
    const { log, signal } = this.#parts;
    try {
      await work();
    } catch (error) {
      if (signal.aborted) return;
      const { code, message } = chainError(error, what);
      log.warn({ code }, message);
    }
  }

  /** Days that are over, as soon as they are: whoever wants to leave something out is late. */
  async #record(): Promise<void> {
    const { chain, feed, history, sender, log, signal } = this.#parts;
    const { address, length, keptDays } = feed.series;
    const last = dayOf(await this.#now()) - 1;
    const oldest = last + 3 - keptDays;
    let rounds = await history.since((last - length + 1) * DAY_SECONDS);
    for (let day = last - length; daysOf(rounds, last, length).length < length && day > oldest; ) {
      day = Math.max(oldest, day - FURTHER_DAYS);
      rounds = await history.since(day * DAY_SECONDS);
    }
    if (history.reorgs !== this.#reorgs) this.#complete.clear();
    this.#reorgs = history.reorgs;
    const missing: bigint[] = [];
    for (const day of daysOf(rounds, last, length)) {
      if (this.#complete.has(day)) continue;
      const ids = missingRounds(
        rounds.filter(({ updatedAt }) => dayOf(updatedAt) === day),
        await readBar(chain, address, day),
      );
      if (ids.length === 0) this.#complete.add(day);
      missing.push(...ids);
    }
    missing.sort((a, b) => (a < b ? -1 : 1));
    for (let i = 0; i < missing.length && !signal.aborted; i += RECORDS_AT_ONCE) {
      const ids = missing.slice(i, i + RECORDS_AT_ONCE);
      const data = encodeFunctionData({ abi: dailySeriesAbi, functionName: "recordRounds", args: [ids] });
      const key = `record:${address}:${ids.join(",")}`;
      requireSent("record", await sender.send({ key, to: address, data, value: 0n, doneBy: [] }, signal));
      log.info({ series: address, rounds: ids.length }, "recorded rounds of the source");
    }
  }

  async #renew(): Promise<void> {
    const { chain, feed, pace, store } = this.#parts;
    const newest = await readNewest(chain, feed);
    if (newest === undefined) return;
    const now = await this.#now();
    if (now > newest.observedAt + feed.maxAge) return;
    const written = await readLatest(chain, feed.address);
    const [last] = [
      ...(written === undefined ? [] : [{ observedAt: written.observedAt, at: written.writtenAt }]),
      ...store.open().map(({ observedAt, askedAt }): Reached => ({ observedAt, at: askedAt })),
    ].sort((a, b) => b.observedAt - a.observedAt);
    const series = feed.series.address;
    const closes = {
      before: last && (await closeAt(chain, series, last.observedAt)),
      now: (await closeAt(chain, series, newest.observedAt)) ?? 0n,
    };
    if (!isDue(newest.observedAt, last, now, closes, pace)) return;
    if (feed.executes) await this.#execute(newest);
    else await this.#ask(newest, now);
  }

  async #execute({ observedAt }: Newest): Promise<void> {
    const { address } = this.#parts.feed;
    const data = encodeFunctionData({ abi: forecastFeedAbi, functionName: "updateExecuted" });
    await this.#send(`execute:${address}:${observedAt}`, data, ["NotNewer"]);
    this.#parts.log.info({ feed: address, observedAt }, "wrote a round that the chain computed");
  }

  /** The input is announced first: what the series gives may change while the output becomes final. */
  async #ask(newest: Newest, now: number): Promise<void> {
    const { input, inputHash, observedAt } = newest;
    const { chain, feed, store, fee, expirySeconds, log } = this.#parts;
    const { address, modelId, lanes, minBond, minWindow } = feed;
    if (!(await isAnnounced(chain, address, newest))) {
      const data = encodeFunctionData({ abi: forecastFeedAbi, functionName: "announce" });
      await this.#send(`announce:${address}:${inputHash}:${observedAt}`, data);
      if (!(await isAnnounced(chain, address, newest))) return; // The series went on: the next look sees it.
    }
    // Prices that did not move make the same input again. Its output, once final, is as new as its last announcement.
    const open = store.open().find(({ request }) => request.inputHash === inputHash);
    if (open !== undefined) {
      store.renew(open, observedAt);
      log.info(
        { requestId: this.#idOf(open), observedAt },
        "the request that is open answers for newer data too",
      );
      return;
    }
    const window = Math.max(minWindow, 4 * chain.constants.answerSeconds);
    const terms = { lanes, fee, minBond, window, expirySeconds };
    const request = await newRequest(chain, chain.account.address, modelId, input, terms);
    const asked: AskedRound = { observedAt, askedAt: now, input, request };
    store.keep(asked);
    await this.#follow(asked);
  }

  async #follow(asked: AskedRound): Promise<void> {
    const { chain, sender, store, log, signal } = this.#parts;
    const requestId = this.#idOf(asked);
    const followed = await followRequest(chain, sender, asked, signal);
    if (followed.state === "final") return this.#write(asked, requestId, followed.result);
    if (followed.state === "waiting") return;
    if (followed.state === "filed") {
      log.info({ requestId, observedAt: asked.observedAt }, "asked for a round");
      return;
    }
    if (followed.state === "unanswered")
      log.warn({ requestId }, "nobody answered; the fee is credit of this account again");
    store.close(asked);
  }

  async #write(asked: AskedRound, requestId: Hex, { output, claim }: FinalResult): Promise<void> {
    const { feed, store, log } = this.#parts;
    const args = [asked.request, claim ?? NO_CLAIM, output] as const;
    const data = encodeFunctionData({ abi: forecastFeedAbi, functionName: "update", args });
    try {
      await this.#send(`update:${feed.address}:${requestId}`, data, ["NotNewer"]);
      log.info({ requestId, observedAt: asked.observedAt }, "wrote a round");
    } catch (error) {
      if (!isBaseError(error, "REFUSED") || error.details.revert !== "Stale") throw error;
      log.warn({ requestId, observedAt: asked.observedAt }, "the output came too late for a round");
    }
    store.close(asked);
  }

  /** @throws BaseError REFUSED with the contract's reason, or what is retryable */
  async #send(key: string, data: Hex, doneBy: readonly string[] = []): Promise<void> {
    const { sender, feed, signal } = this.#parts;
    const action: Action = { key, to: feed.address, data, value: 0n, doneBy };
    requireSent(key.split(":")[0] as string, await sender.send(action, signal));
  }

  #idOf({ request }: AskedRound) {
    return requestIdOf(this.#parts.chain.game, request);
  }

  async #now(): Promise<number> {
    const { timestamp } = await this.#parts.chain.client.getBlock();
    return Number(timestamp);
  }
}
