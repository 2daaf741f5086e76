/** What became of a signed claim. */
import type { PromiseEvent } from "../../protocol/chain/promises/events.ts";
import type { BatchId } from "../../protocol/rules/promises/batch.ts";
import type { ClaimId } from "../../protocol/rules/types.ts";

export const SIGNED_STATUSES = ["signed", "batched", "opened", "final", "fallen"] as const;
export type SignedStatus = (typeof SIGNED_STATUSES)[number];

export interface StatusOfSigned {
  readonly status: SignedStatus;
  /** the claim that it, or its leaf, became */
  readonly claimId?: ClaimId;
}

/** Pure. @param events of its digest @param leaf where it is in a batch, with the batch's events @param now seconds */
export function statusOf(
  events: readonly PromiseEvent[],
  leaf:
    | { readonly batch: BatchId; readonly index: number; readonly events: readonly PromiseEvent[] }
    | undefined,
  now: number,
): StatusOfSigned {
  return ofOpened(events) ?? (leaf && ofLeaf(leaf.index, leaf.events, now)) ?? { status: "signed" };
}

/** Of one that somebody opened; taken back, it is as before. */
function ofOpened(events: readonly PromiseEvent[]): StatusOfSigned | undefined {
  let found: StatusOfSigned | undefined;
  for (const event of events) {
    if (event.name === "Queued") found = { status: "opened" };
    else if (event.name === "Opened") found = { status: "opened", claimId: event.args.claimId };
    else if (event.name === "TakenBack") found = undefined;
    else if (event.name === "Closed")
      found = { status: event.args.fallen ? "fallen" : "final", claimId: event.args.claimId };
  }
  return found;
}

function ofLeaf(index: number, events: readonly PromiseEvent[], now: number): StatusOfSigned | undefined {
  const posted = events.find((event) => event.name === "Posted");
  if (posted?.name !== "Posted") return undefined;
  const open = new Set<ClaimId>();
  const queued = new Set<number>();
  let own: ClaimId | undefined;
  let hasFallen = false;
  for (const event of events) {
    if (event.name === "LeafQueued") queued.add(Number(event.args.index));
    else if (event.name === "LeafDropped") queued.delete(Number(event.args.index));
    else if (event.name === "LeafOpened") {
      queued.delete(Number(event.args.index));
      open.add(event.args.claimId);
      if (Number(event.args.index) === index) own = event.args.claimId;
    } else if (event.name === "Closed") {
      open.delete(event.args.claimId);
      hasFallen ||= event.args.fallen;
    }
  }
  const claim = own === undefined ? {} : { claimId: own };
  if (hasFallen) return { status: "fallen", ...claim };
  if (now >= posted.args.windowEnd && open.size === 0 && queued.size === 0)
    return { status: "final", ...claim };
  return {
    status: queued.has(index) || (own !== undefined && open.has(own)) ? "opened" : "batched",
    ...claim,
  };
}
