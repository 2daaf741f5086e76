/** How the explorer itself is. */
import { VERSION } from "../../base/version.ts";
import type { Health } from "../api/types.ts";
import { blocksBehind, headOf } from "./overview.ts";
import type { AnswerParts } from "./parts.ts";

/** Blocks that the index may lie behind and still be well. */
const MAX_BEHIND = 10;

/** From what is known: a node that is frozen must not hold up who asks about it. */
export function healthOf(parts: AnswerParts): Health {
  const { pulse, chain, nowMs, watcher } = parts;
  const behind = blocksBehind(parts);
  const { silentSinceMs } = pulse;
  const { promises } = chain.deployment.contracts;
  const status = !parts.index.isReachable
    ? "database-unreachable"
    : silentSinceMs !== undefined
      ? "node-unreachable"
      : behind === undefined || behind > MAX_BEHIND
        ? "behind"
        : "ok";
  return {
    status,
    version: VERSION,
    chainId: chain.game.chainId,
    assay: chain.game.assay,
    ...(promises === undefined ? {} : { promises }),
    watched: watcher?.watched.length ?? 0,
    ...headOf(parts),
    ...(behind === undefined ? {} : { blocksBehind: behind }),
    ...(silentSinceMs === undefined ? {} : { silentSeconds: Math.floor((nowMs() - silentSinceMs) / 1_000) }),
  };
}
