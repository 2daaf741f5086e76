/** Claims as the chain alone tells them, for commands that look once. */
import { BaseError } from "../../base/errors.ts";
import type { ClaimId } from "../rules/types.ts";
import { type ClaimEntry, ClaimIndex, type RequestEntry } from "./claim-index.ts";
import type { Chain } from "./connect.ts";
import type { ChainEvent } from "./events.ts";
import { EventFollower } from "./follower.ts";
import { historyOf, inOrder } from "./history.ts";

/** Every request and claim of the deployment, at the newest block.
 *  @throws BaseError RPC_UNREACHABLE, RPC_FAULT, CHAIN_MOVED (retryable) */
export async function readIndex(chain: Chain): Promise<ClaimIndex> {
  const follower = new EventFollower(chain);
  const index = new ClaimIndex();
  for (;;) {
    const batch = await follower.next();
    if (batch === undefined) return index;
    // An index takes nothing back.
    if (batch.kind === "rollback") return readIndex(chain);
    for (const event of batch.events) index.apply(event);
    if (batch.to.number === batch.head.number) return index;
    follower.advance(batch);
  }
}

/** One claim with its request.
 *  @throws BaseError CLAIM_UNKNOWN; RPC_UNREACHABLE, RPC_FAULT (retryable) */
export async function readClaim(
  chain: Chain,
  id: ClaimId,
): Promise<{ readonly claim: ClaimEntry; readonly request: RequestEntry }> {
  const own = await historyOf(chain, id);
  const claimed = own.find((event) => event.name === "Claimed");
  const others = claimed?.name === "Claimed" ? await historyOf(chain, claimed.args.requestId) : [];
  const events = new Map<string, ChainEvent>();
  for (const event of [...own, ...others]) events.set(`${event.block.number}/${event.logIndex}`, event);
  const index = new ClaimIndex();
  for (const event of inOrder([...events.values()])) index.apply(event);
  const found = index.claimAndRequest(id);
  if (found !== undefined) return found;
  throw claimUnknown(id);
}

export const claimUnknown = (id: ClaimId): BaseError =>
  new BaseError({
    code: "CLAIM_UNKNOWN",
    shortMessage: `The chain has no claim ${id}.`,
    nextStep: "Check the id, the RPC URL and the deployment.",
  });
