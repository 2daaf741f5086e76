/** What answers are made from. */
import type { Chain } from "../../protocol/chain/connect.ts";
import type { NodePulse } from "../../protocol/service/metrics/node-pulse.ts";
import type { ExplorerIndex } from "../index/explorer-index.ts";
import type { Library } from "../library.ts";
import type { Watcher } from "../operator/watcher.ts";
import type { Provers } from "../provers.ts";
import type { NodeReads } from "./node-reads.ts";

export interface ReadParts {
  readonly index: ExplorerIndex;
  readonly chain: Chain;
  readonly library: Library;
  readonly reads: NodeReads;
  readonly pulse: Pick<NodePulse, "newest" | "silentSinceMs">;
  readonly provers: Pick<Provers, "serving" | "ask">;
  /** absent: no daemon is watched */
  readonly watcher?: Pick<Watcher, "watched" | "alerts"> | undefined;
  readonly nowMs: () => number;
}

/** Second of the newest indexed block: what is final or overdue is judged by it. */
export const chainNow = ({ index }: Pick<ReadParts, "index">): number => index.head?.timestamp ?? 0;
