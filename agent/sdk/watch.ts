/** The life of one request and its claims as it happens, through faults of the node and re-orgs. */

import type { Hex } from "viem";
import { isBaseError } from "../../base/errors.ts";
import { floorOf } from "../../protocol/chain/await-result.ts";
import { ClaimIndex } from "../../protocol/chain/claim-index.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import type { ChainEvent } from "../../protocol/chain/events.ts";
import { EventFollower, pause } from "../../protocol/chain/follower.ts";

export type Life =
  | { readonly kind: "event"; readonly event: ChainEvent }
  /** a re-org took these back, the last one first; what came instead follows */
  | { readonly kind: "undone"; readonly events: readonly ChainEvent[] }
  /** the node cannot be read at present; it is tried again until the signal aborts */
  | { readonly kind: "disconnected"; readonly error: Error };

export interface WatchOptions {
  /** ends the iteration */
  readonly signal: AbortSignal;
  /** block at which to begin; default: the deployment's */
  readonly from?: bigint;
  /** default 1,000 */
  readonly pollIntervalMs?: number;
}

/** Every event of the request and its claims from `from` on, in the chain's order. After a disconnection it goes on
 *  where it stopped: no event is left out and none comes twice, unless a re-org took it back in between.
 *  @throws what is no fault of the node */
export async function* watch(chain: Chain, requestId: Hex, options: WatchOptions): AsyncGenerator<Life> {
  const { signal, pollIntervalMs = 1_000 } = options;
  const from = options.from === undefined ? {} : { from: floorOf(options.from) };
  const follower = new EventFollower(chain, from);
  let index = new ClaimIndex();
  let seen: ChainEvent[] = [];
  let isConnected = true;
  while (!signal.aborted) {
    const batch = await follower.next().catch((error: unknown) => {
      if (isBaseError(error) && error.retryable) return error;
      throw error;
    });
    if (batch instanceof Error) {
      if (isConnected) yield { kind: "disconnected", error: batch };
      isConnected = false;
      await pause(pollIntervalMs, signal);
      continue;
    }
    isConnected = true;
    if (batch === undefined) {
      await pause(pollIntervalMs, signal);
      continue;
    }
    if (batch.kind === "rollback") {
      const gone = seen.filter(({ block }) => block.number > batch.ancestor);
      seen = seen.filter(({ block }) => block.number <= batch.ancestor);
      index = new ClaimIndex();
      for (const event of seen) index.apply(event);
      follower.advance(batch);
      if (gone.length > 0) yield { kind: "undone", events: gone.reverse() };
      continue;
    }
    const isOther = (event: ChainEvent) => event.name === "Requested" && event.args.requestId !== requestId;
    // The index leaves out claims on requests that it never saw.
    const own = batch.events.filter((event) => !isOther(event) && index.apply(event) !== undefined);
    seen.push(...own);
    follower.advance(batch);
    for (const event of own) yield { kind: "event", event };
  }
}
