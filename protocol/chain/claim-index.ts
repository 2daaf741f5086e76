/** What a deployment's events tell about requests and claims, rebuilt in memory by anybody from the chain alone. */
import type { Address, Hex } from "viem";
import {
  type Claim,
  type ClaimId,
  FALL_REASONS,
  type FallReason,
  type Request,
  type RequestId,
} from "../rules/types.ts";
import type { BlockRef } from "./connect.ts";
import type { ChainEvent, EventOf } from "./events.ts";

export interface RequestEntry {
  readonly id: RequestId;
  readonly request: Request;
  readonly input: Hex;
  readonly block: BlockRef;
  /** number of the block with the newest event about it or its claims */
  changedAt: bigint;
  status: "open" | "busy" | "done" | "refunded";
  /** claims that fell before */
  attempt: number;
  /** the live or final claim */
  claimId?: ClaimId;
  /** truth came, from whom */
  settled?: { readonly submitter: Address; readonly output: Hex };
  result?: { readonly lane: number; readonly outputHash: Hex; readonly output: Hex };
  /** brought to its callback, or its delivery fee reclaimed: no more can be done */
  delivered: boolean;
}

export interface DemandEntry {
  readonly by: Address;
  readonly deadline: number;
  /** present once revealed */
  content?: readonly Hex[];
}

export interface FallEntry {
  readonly reason: FallReason;
  readonly step: bigint;
  readonly element: bigint;
  readonly expected: bigint;
  readonly claimed: bigint;
}

const CLAIM_STATUSES = ["active", "final", "fallen"] as const;
export type ClaimEntryStatus = (typeof CLAIM_STATUSES)[number];
export const isClaimStatus = (text: string): text is ClaimEntryStatus =>
  (CLAIM_STATUSES as readonly string[]).includes(text);

export interface ClaimEntry {
  readonly id: ClaimId;
  readonly claim: Claim;
  readonly output: Hex;
  readonly windowEnd: number;
  readonly block: BlockRef;
  status: ClaimEntryStatus;
  readonly challengers: Set<Address>;
  readonly collected: Set<Address>;
  trace?: { readonly root: Hex; readonly tops: readonly Hex[] };
  /** by encoded position */
  readonly demands: Map<bigint, DemandEntry>;
  fall?: FallEntry;
}

export class ClaimIndex {
  readonly requests = new Map<RequestId, RequestEntry>();
  readonly claims = new Map<ClaimId, ClaimEntry>();
  /** Of each request, in chain order. */
  readonly #claimsOf = new Map<RequestId, ClaimId[]>();

  /** Every claim that was made on a request, in chain order. */
  claimsOf(id: RequestId): ClaimEntry[] {
    return (this.#claimsOf.get(id) ?? []).map((claim) => this.claims.get(claim) as ClaimEntry);
  }

  /** A claim with its request; undefined if the index has no such claim. */
  claimAndRequest(id: ClaimId): { readonly claim: ClaimEntry; readonly request: RequestEntry } | undefined {
    const claim = this.claims.get(id);
    const request = claim && this.requests.get(claim.claim.requestId);
    return claim === undefined || request === undefined ? undefined : { claim, request };
  }

  /** Requests that nobody can claim any more, without a claim that is not over, and of which nothing was heard since
   *  this block. One that expired is among them: who asked may leave the fee there for ever.
   *  @param now seconds */
  overSince(block: bigint, now: number): RequestEntry[] {
    return [...this.requests.values()].filter(
      ({ id, status, changedAt, request }) =>
        (status === "done" || status === "refunded" || (status === "open" && now > request.expiry)) &&
        changedAt <= block &&
        this.claimsOf(id).every((claim) => claim.status !== "active"),
    );
  }

  /** Takes the next event in chain order. Events of requests that the index never saw are left out.
   *  @returns the request that it is about, undefined for an event of something else */
  apply(event: ChainEvent): RequestId | undefined {
    const id = this.#change(event);
    const entry = id && this.requests.get(id);
    if (entry !== undefined) entry.changedAt = event.block.number;
    return id;
  }

  /** Forgets a request and its claims. */
  forget(id: RequestId): void {
    this.requests.delete(id);
    for (const claim of this.#claimsOf.get(id) ?? []) this.claims.delete(claim);
    this.#claimsOf.delete(id);
  }

  #change(event: ChainEvent): RequestId | undefined {
    switch (event.name) {
      case "Requested":
        return this.#requested(event);
      case "Claimed":
        return this.#claimed(event);
      case "Fell":
        return this.#fell(event);
      case "Finalized":
        return this.#finalized(event);
      case "Settled":
        return this.#onRequest(event.args.requestId, (entry) => {
          entry.settled = { submitter: event.args.submitter, output: event.args.output };
        });
      case "Refunded":
        return this.#onRequest(event.args.requestId, (entry) => {
          entry.status = "refunded";
        });
      case "Delivered":
        return this.#onRequest(event.args.requestId, (entry) => {
          entry.delivered ||= event.args.success;
        });
      case "DeliveryReclaimed":
        return this.#onRequest(event.args.requestId, (entry) => {
          entry.delivered = true;
        });
      case "Challenged":
        return this.#onClaim(event.args.claimId, ({ challengers }) => challengers.add(event.args.challenger));
      case "TraceCommitted":
        return this.#onClaim(event.args.claimId, (entry) => {
          entry.trace = { root: event.args.traceRoot, tops: event.args.tops };
        });
      case "Demanded": {
        const { claimId, challenger, position, deadline } = event.args;
        return this.#onClaim(claimId, ({ demands }) => demands.set(position, { by: challenger, deadline }));
      }
      case "Revealed": {
        const { claimId, position, content } = event.args;
        return this.#onClaim(claimId, ({ demands }) => {
          const demand = demands.get(position);
          if (demand !== undefined) demand.content = content;
        });
      }
      case "Collected":
        return this.#onClaim(event.args.claimId, ({ collected }) => collected.add(event.args.owner));
      default:
        return undefined;
    }
  }

  #requested({ args, block }: EventOf<"Requested">): RequestId {
    const { requestId: id, request, input } = args;
    const changedAt = block.number;
    this.requests.set(id, {
      id,
      request,
      input,
      block,
      changedAt,
      status: "open",
      attempt: 0,
      delivered: false,
    });
    return id;
  }

  #claimed({ args, block }: EventOf<"Claimed">): RequestId | undefined {
    const { claimId: id, requestId, claim, windowEnd, output } = args;
    return this.#onRequest(requestId, (entry) => {
      entry.status = "busy";
      entry.claimId = id;
      const made = this.#claimsOf.get(requestId);
      if (made === undefined) this.#claimsOf.set(requestId, [id]);
      else made.push(id);
      this.claims.set(id, {
        id,
        claim,
        output,
        windowEnd,
        block,
        status: "active",
        challengers: new Set(),
        collected: new Set(),
        demands: new Map(),
      });
    });
  }

  #fell({ args }: EventOf<"Fell">): RequestId | undefined {
    const { claimId, requestId, reason, step, element, expected, claimed } = args;
    return this.#onRequest(requestId, (request) => {
      const entry = this.claims.get(claimId);
      if (entry !== undefined) {
        entry.status = "fallen";
        entry.fall = { reason: FALL_REASONS[reason] ?? "NONE", step, element, expected, claimed };
      }
      delete request.claimId;
      request.attempt += 1;
      if (request.status === "busy") request.status = "open";
    });
  }

  #finalized({ args }: EventOf<"Finalized">): RequestId | undefined {
    const { requestId, claimId, lane, outputHash } = args;
    return this.#onRequest(requestId, (entry) => {
      const claim = this.claims.get(claimId);
      entry.status = "done";
      // The contract says Settled before it says Finalized.
      entry.result = { lane, outputHash, output: claim?.output ?? entry.settled?.output ?? "0x" };
      if (claim !== undefined) claim.status = "final";
    });
  }

  #onRequest(id: RequestId, change: (entry: RequestEntry) => void): RequestId | undefined {
    const entry = this.requests.get(id);
    if (entry === undefined) return undefined;
    change(entry);
    return id;
  }

  #onClaim(id: ClaimId, change: (entry: ClaimEntry) => void): RequestId | undefined {
    const entry = this.claims.get(id);
    if (entry === undefined) return undefined;
    change(entry);
    return entry.claim.requestId;
  }
}
