/** Wires the runner of a feed together. */
import type { Address } from "viem";
import type { Logger } from "../../base/log.ts";
import { pause } from "../../protocol/chain/follower.ts";
import type { SigningChain } from "../../protocol/chain/sender.ts";
import { openDataFolder } from "../../protocol/service/data-folder.ts";
import type { Pace } from "./bars.ts";
import { SourceHistory } from "./history.ts";
import { FeedNode } from "./node.ts";
import { readFeed } from "./reads.ts";
import { FEED_SCHEMA, FeedStore } from "./store.ts";

export interface FeedOptions {
  readonly chain: SigningChain;
  readonly feed: Address;
  readonly pace: Pace;
  /** wei that a request offers */
  readonly fee: bigint;
  readonly expirySeconds: number;
  /** folder of database and journal */
  readonly data: string;
  readonly pollIntervalMs: number;
  /** wei a unit of gas */
  readonly maxFee: bigint;
  readonly log: Logger;
}

/** Runs until the signal aborts.
 *  @throws BaseError as readFeed and openDataFolder do */
export async function runFeed(options: FeedOptions, signal: AbortSignal): Promise<void> {
  const { chain, pollIntervalMs, maxFee: maxFeePerGas, log, pace, fee, expirySeconds } = options;
  const feed = await readFeed(chain, options.feed);
  const folder = openDataFolder(options.data, chain, [FEED_SCHEMA], { pollIntervalMs, maxFeePerGas, log });
  try {
    const node = new FeedNode({
      chain,
      sender: folder.sender,
      store: new FeedStore(folder.db, feed.address),
      history: new SourceHistory(chain.client, feed.series.source, feed.series.unit),
      feed,
      pace,
      fee,
      expirySeconds,
      log,
      signal,
    });
    const { address, modelId, description, executes } = feed;
    log.info({ feed: address, modelId, description, executes }, "the feed's runner is up");
    while (!signal.aborted) {
      await node.tick();
      await pause(pollIntervalMs, signal);
    }
    log.info({}, "the feed's runner stopped");
  } finally {
    await folder.close();
  }
}
