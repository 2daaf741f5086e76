/** Claims as the chain alone tells them, for commands that look once. */
import { BaseError } from "../../base/errors.ts";
import type { ClaimId } from "../rules/types.ts";
import { Book, type ClaimEntry, type RequestEntry } from "./book.ts";
import type { Chain } from "./connect.ts";
import type { ChainEvent } from "./events.ts";
import { EventFollower } from "./follower.ts";
import { historyOf, inOrder } from "./history.ts";

/** Every request and claim of the deployment, at the newest block.
 *  @throws BaseError RPC_UNREACHABLE, RPC_FAULT, CHAIN_MOVED (retryable) */
export async function readBook(chain: Chain): Promise<Book> {
  const follower = new EventFollower(chain);
  const book = new Book();
  for (;;) {
    const batch = await follower.next();
    if (batch === undefined) return book;
    // A book takes nothing back.
    if (batch.kind === "rollback") return readBook(chain);
    for (const event of batch.events) book.apply(event);
    if (batch.to.number === batch.head.number) return book;
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
  const book = new Book();
  for (const event of inOrder([...events.values()])) book.apply(event);
  const found = book.claimAndRequest(id);
  if (found !== undefined) return found;
  throw claimUnknown(id);
}

export const claimUnknown = (id: ClaimId): BaseError =>
  new BaseError({
    code: "CLAIM_UNKNOWN",
    shortMessage: `The chain has no claim ${id}.`,
    nextStep: "Check the id, the RPC URL and the deployment.",
  });
