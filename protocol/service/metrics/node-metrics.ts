/** What every daemon shows of its chain, its clock and its account. */
import type { Address } from "viem";
import { NODE_FAULTS, type NodeStatus } from "../../chain/quorum/nodes.ts";
import type { ChainClock } from "./chain-clock.ts";
import type { Metrics } from "./metrics.ts";
import type { NodePulse } from "./node-pulse.ts";

export interface NodeSource {
  /** several nodes that have to agree; absent: one is asked */
  readonly nodes?: { status(): readonly NodeStatus[] } | undefined;
  /** that signs; absent: a process without a key */
  readonly account?: Address | undefined;
  readonly pulse: Pick<NodePulse, "newest" | "balance" | "silentSinceMs">;
  readonly clock: ChainClock;
  readonly nowMs: () => number;
  /** own transactions that are not mined */
  readonly unmined?: (() => number) | undefined;
}

export function addNodeMetrics(
  metrics: Metrics,
  { nodes, account, pulse, clock, nowMs, unmined }: NodeSource,
): void {
  metrics.gauge("assay_rpc_up", "1 if the node answered the last question, else 0.", () =>
    pulse.silentSinceMs === undefined ? 1 : 0,
  );
  metrics.gauge("assay_rpc_silent_seconds", "Time since the node's last answer; 0 while it answers.", () =>
    pulse.silentSinceMs === undefined ? 0 : (nowMs() - pulse.silentSinceMs) / 1_000,
  );
  metrics.gauge("assay_chain_head_block", "Newest block of the node.", () => pulse.newest);
  metrics.gauge(
    "assay_chain_lag_blocks",
    "Blocks of the node that are not followed yet, confirmations included.",
    () => {
      const [newest, followed] = [pulse.newest, clock.head?.number];
      if (newest === undefined || followed === undefined) return undefined;
      return newest > followed ? newest - followed : 0n;
    },
  );
  metrics.gauge("assay_account_balance_wei", "Balance of the account that signs.", () => pulse.balance);
  if (account !== undefined) {
    const own = [{ labels: { account }, value: 1 }];
    metrics.gauge("assay_account_info", "1, with the account that signs as its label.", () => own, [
      "account",
    ]);
  }
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
  if (nodes !== undefined) {
    metrics.gauge(
      "assay_node_agrees",
      "1 for a node that agrees with the others, else 0.",
      () =>
        nodes
          .status()
          .map(({ name: node, fault }) => ({ labels: { node }, value: fault === undefined ? 1 : 0 })),
      ["node"],
    );
    metrics.gauge(
      "assay_node_faults",
      "How often a node was silent, behind, forked, or contradicted the others, since the start.",
      () =>
        nodes
          .status()
          .flatMap(({ name: node, counts }) =>
            NODE_FAULTS.map((fault) => ({ labels: { node, fault }, value: counts[fault] })),
          ),
      ["node", "fault"],
    );
  }
  if (unmined !== undefined) {
    metrics.gauge("assay_transactions_unmined", "Own transactions that are signed and not mined.", unmined);
  }
}
