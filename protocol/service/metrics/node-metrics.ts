/** What every daemon shows of its chain, its clock and its account. */
import type { Address, PublicClient } from "viem";
import type { ChainClock } from "./chain-clock.ts";
import type { Metrics } from "./metrics.ts";

export interface NodeSource {
  readonly client: Pick<PublicClient, "getBlockNumber" | "getBalance">;
  readonly clock: ChainClock;
  /** absent: a process without a key */
  readonly account?: Address | undefined;
  /** own transactions that are not mined */
  readonly unmined?: (() => number) | undefined;
}

/** Longest wait for the node at one look, ms: whoever asks for metrics waits for a few seconds at most. */
const NODE_TIMEOUT_MS = 3_000;

export function addNodeMetrics(metrics: Metrics, { client, clock, account, unmined }: NodeSource): void {
  metrics.gauges(
    {
      assay_rpc_up: "1 if the node answered just now, else 0.",
      assay_chain_head_block: "Newest block of the node.",
      assay_chain_lag_blocks: "Blocks of the node that are not followed yet, confirmations included.",
      assay_account_balance_wei: "Balance of the account that signs.",
    },
    async () => {
      const newest = await inTime(client.getBlockNumber());
      const address = account;
      const balance =
        address && newest !== undefined ? await inTime(client.getBalance({ address })) : undefined;
      const followed = clock.head?.number;
      const isKnown = newest !== undefined && followed !== undefined;
      return {
        assay_rpc_up: newest === undefined ? 0 : 1,
        assay_chain_head_block: newest,
        assay_chain_lag_blocks: isKnown ? (newest > followed ? newest - followed : 0n) : undefined,
        assay_account_balance_wei: balance,
      };
    },
  );
  metrics.gauge("assay_followed_block", "Newest block that was looked at.", () => clock.head?.number);
  metrics.gauge(
    "assay_chain_idle_seconds",
    "Time since the newest block was first seen.",
    () => clock.idleSeconds,
  );
  metrics.gauge(
    "assay_clock_difference_seconds",
    "Local clock less the newest block's time when it was first seen.",
    () => clock.differenceSeconds,
  );
  if (unmined !== undefined) {
    metrics.gauge("assay_transactions_unmined", "Own transactions that are signed and not mined.", unmined);
  }
}

/** @returns undefined for an answer that failed or came too late */
async function inTime<T>(answer: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), NODE_TIMEOUT_MS);
  });
  try {
    return await Promise.race([answer.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}
