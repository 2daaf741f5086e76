/** Reads of the chain for a caller: a node that is frozen keeps nobody waiting. */
import { BaseError } from "../../base/errors.ts";
import type { HttpParts } from "./parts.ts";

/** Longest that a read may take, ms: a busy node answers in less. */
const READ_TIMEOUT_MS = 5_000;

/** @throws BaseError NODE_SILENT, at once where that is known; what the work throws */
export async function readChain<T>(
  { node, pulse, nowMs }: Pick<HttpParts, "node" | "pulse" | "nowMs">,
  work: () => Promise<T>,
): Promise<T> {
  // One of which nothing is known yet is asked.
  if (node.head !== undefined && pulse.silentSinceMs !== undefined)
    throw nodeSilent(pulse.silentSinceMs, nowMs());
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(nodeSilent(pulse.silentSinceMs, nowMs())), READ_TIMEOUT_MS);
  });
  try {
    return await Promise.race([late, work()]);
  } finally {
    clearTimeout(timer);
  }
}

const nodeSilent = (sinceMs: number | undefined, nowMs: number): BaseError => {
  const seconds = sinceMs === undefined ? READ_TIMEOUT_MS / 1_000 : Math.floor((nowMs - sinceMs) / 1_000);
  return new BaseError({
    code: "NODE_SILENT",
    shortMessage: `The chain's node has given no answer for ${seconds} seconds: this cannot be read now.`,
    nextStep: "Ask again later; GET /healthz says when the node is back.",
    details: { silentSeconds: seconds },
    retryable: true,
  });
};
