/** How a daemon follows its chain, for GET /healthz: from what is known, since a node that is frozen must not hold up who
 *  asks about it. */
import type { Head } from "../../chain/follower.ts";
import type { NodePulse } from "../metrics/node-pulse.ts";

/** Blocks that the node may lie behind and still be well. */
const MAX_BEHIND = 10n;

/** @param head the newest block that the daemon has dealt with
 *  @returns `status` and what explains it, for JSON */
export function healthOf(
  { newest, silentSinceMs }: Pick<NodePulse, "newest" | "silentSinceMs">,
  head: Head | undefined,
  nowMs: number,
) {
  const blocksBehind = newest === undefined || head === undefined ? undefined : newest - head.number;
  const isFollowing = blocksBehind !== undefined && blocksBehind <= MAX_BEHIND;
  const status = isFollowing ? "ok" : newest === undefined ? "node-unreachable" : "behind";
  const silence =
    silentSinceMs === undefined
      ? {}
      : {
          silentSince: Math.floor(silentSinceMs / 1_000),
          silentSeconds: Math.floor((nowMs - silentSinceMs) / 1_000),
        };
  return { status, head, blocksBehind, ...silence } as const;
}
