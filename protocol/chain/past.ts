/** Claims as the chain alone tells them, for commands that look once. */
import { BaseError } from "../../base/errors.ts";
import type { ClaimId, RequestId } from "../rules/types.ts";
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

/** One claim with its request, and the events that tell of both, in order.
 *  @param from first block to look at: not above the request's; default: the deployment's
 *  @throws BaseError CLAIM_UNKNOWN; RPC_UNREACHABLE, RPC_FAULT (retryable) */
export async function readClaim(
  chain: Chain,
  id: ClaimId,
  from?: bigint,
): Promise<{
  readonly claim: ClaimEntry;
  readonly request: RequestEntry;
  readonly events: readonly ChainEvent[];
}> {
  const own = await historyOf(chain, id, from);
  const claimed = own.find((event) => event.name === "Claimed");
  const others = claimed === undefined ? [] : await historyOf(chain, claimed.args.requestId, from);
  const known = new Map<string, ChainEvent>();
  for (const event of [...own, ...others]) known.set(`${event.block.number}/${event.logIndex}`, event);
  const events = inOrder([...known.values()]);
  const found = indexOf(events).claimAndRequest(id);
  if (found !== undefined) return { ...found, events };
  throw claimUnknown(id);
}

/** One request as its events tell it, undefined if the chain has none with this id.
 *  @throws BaseError RPC_UNREACHABLE, RPC_FAULT (retryable) */
export const readRequest = async (chain: Chain, id: RequestId): Promise<RequestEntry | undefined> =>
  indexOf(await historyOf(chain, id)).requests.get(id);

function indexOf(events: readonly ChainEvent[]): ClaimIndex {
  const index = new ClaimIndex();
  for (const event of events) index.apply(event);
  return index;
}

export const claimUnknown = (id: ClaimId): BaseError =>
  new BaseError({
    code: "CLAIM_UNKNOWN",
    shortMessage: `The chain has no claim ${id}.`,
    nextStep: "Check the id, the RPC URL and the deployment.",
  });
