/** A request and its claims as rows, from the events that tell of them. Pure: the same events give the same rows. */
import type { Address, Hex } from "viem";
import { type ClaimEntry, ClaimIndex, type RequestEntry } from "../../protocol/chain/claim-index.ts";
import { type FallReason, type RequestStatus, ZERO_ADDRESS } from "../../protocol/rules/types.ts";
import { type ClaimWord, EMPTY_CLAIM_WORD } from "../../protocol/rules/words.ts";
import { type Delta, deltasOf } from "./deltas.ts";
import { seqOf, type TimedEvent } from "./moves.ts";

/** What a claim's clocks need; the rest of its word stands elsewhere. */
export type Clocks = Pick<ClaimWord, "windowEnd" | "lastEvent" | "hardEnd" | "traceDeadline" | "pending">;

export interface RequestRow {
  readonly requestId: Hex;
  readonly seq: number;
  readonly modelId: Hex;
  readonly state: Exclude<RequestStatus, "NONE">;
  readonly requester: Address;
  readonly lanes: number;
  /** wei, decimal */
  readonly fee: string;
  readonly requestedAt: number;
  readonly expiry: number;
  readonly attempt: number;
  readonly claimId?: Hex;
  readonly finalAt?: number;
  readonly finalLane?: number;
  /** the final one, if it is short */
  readonly output?: Hex;
}

export interface ClaimRow {
  readonly claimId: Hex;
  readonly seq: number;
  readonly requestId: Hex;
  readonly modelId: Hex;
  readonly state: "ACTIVE" | "FINAL" | "FALLEN";
  readonly fall?: Exclude<FallReason, "NONE">;
  readonly attempt: number;
  readonly prover: Address;
  /** absent: none is named */
  readonly operator?: Address;
  /** wei, decimal */
  readonly bond: string;
  readonly claimedAt: number;
  readonly endedAt?: number;
  readonly tickets: readonly Address[];
  readonly demands: number;
  readonly clocks: Clocks;
  /** if it is short */
  readonly output?: Hex;
}

export interface Life {
  /** absent: there is no such request, or no more */
  readonly request?: RequestRow;
  readonly claims: readonly ClaimRow[];
  readonly deltas: readonly Delta[];
}

/** Longest output that a row repeats, bytes: lists say what it means. */
const MAX_OUTPUT = 1_024;
const STATES = { open: "OPEN", busy: "BUSY", done: "DONE", refunded: "REFUNDED" } as const;
const CLAIM_STATES = { active: "ACTIVE", final: "FINAL", fallen: "FALLEN" } as const;

/** @param events of one request and its claims, in chain order
 *  @param isNew whether an event's counts and amounts are wanted: it was not seen before */
export function lifeOf(
  events: readonly TimedEvent[],
  isNew: (event: TimedEvent) => boolean = () => true,
): Life {
  const index = new ClaimIndex();
  const clocks = new Map<Hex, Clocks>();
  const ended = new Map<Hex, number>();
  let finalAt: number | undefined;
  const requestedAt = events.find(({ event }) => event.name === "Requested")?.time ?? 0;
  const deltas: Delta[] = [];
  for (const timed of events) {
    const { event, time } = timed;
    index.apply(event);
    if (event.name === "Finalized") finalAt = time;
    if ((event.name === "Finalized" || event.name === "Fell") && BigInt(event.args.claimId) !== 0n)
      ended.set(event.args.claimId, time);
    runClocks(clocks, timed);
    if (isNew(timed)) deltas.push(...deltasOf(timed, index, requestedAt));
  }
  const timeOf = new Map(events.map(({ event, time }) => [event.block.number, time]));
  const seqs = new Map(
    events.flatMap(({ event }) => {
      const seq = seqOf(event.block.number, event.logIndex);
      if (event.name === "Requested") return [[event.args.requestId as Hex, seq] as const];
      return event.name === "Claimed" ? [[event.args.claimId as Hex, seq] as const] : [];
    }),
  );
  const [entry] = index.requests.values();
  if (entry === undefined) return { claims: [], deltas };
  const timeAt = (block: bigint): number => timeOf.get(block) as number;
  return {
    request: requestRow(entry, seqs.get(entry.id) as number, timeAt(entry.block.number), finalAt),
    claims: index
      .claimsOf(entry.id)
      .map((claim) =>
        claimRow(
          claim,
          seqs.get(claim.id) as number,
          timeAt(claim.block.number),
          ended.get(claim.id),
          clocks.get(claim.id) as Clocks,
        ),
      ),
    deltas,
  };
}

/** As the contract keeps a claim's word. Source: docs/PROTOCOL.md, section 4. */
function runClocks(clocks: Map<Hex, Clocks>, { event, time }: TimedEvent): void {
  const change = (id: Hex, make: (now: Clocks) => Partial<Clocks>): void => {
    const now = clocks.get(id);
    if (now !== undefined) clocks.set(id, { ...now, ...make(now) });
  };
  switch (event.name) {
    case "Claimed": {
      const { lastEvent, hardEnd, traceDeadline, pending } = EMPTY_CLAIM_WORD;
      const { windowEnd, claimId } = event.args;
      clocks.set(claimId, { windowEnd, lastEvent, hardEnd, traceDeadline, pending });
      break;
    }
    case "Challenged": {
      const { claimId, traceDeadline, hardEnd } = event.args;
      change(claimId, (now) => {
        // Only the first ticket makes the prover owe a trace; one on a trace that is there gets its own time.
        if (now.traceDeadline === 0) return { traceDeadline, hardEnd, pending: now.pending + 1 };
        return { hardEnd, ...(now.lastEvent === 0 ? {} : { lastEvent: time }) };
      });
      break;
    }
    case "TraceCommitted":
    case "Revealed":
      change(event.args.claimId, ({ pending }) => ({ pending: pending - 1, lastEvent: time }));
      break;
    case "Demanded":
      change(event.args.claimId, ({ pending }) => ({ pending: pending + 1 }));
      break;
    default:
  }
}

const short = (output: Hex | undefined): { readonly output?: Hex } =>
  output === undefined || output.length > 2 + 2 * MAX_OUTPUT ? {} : { output };

function requestRow(
  entry: RequestEntry,
  seq: number,
  requestedAt: number,
  finalAt: number | undefined,
): RequestRow {
  const { id, request, status, attempt, claimId, result } = entry;
  return {
    requestId: id,
    seq,
    modelId: request.modelId,
    state: STATES[status],
    requester: request.requester,
    lanes: request.lanes,
    fee: `${request.fee}`,
    requestedAt,
    expiry: request.expiry,
    attempt,
    ...(claimId === undefined ? {} : { claimId }),
    ...(finalAt === undefined || result === undefined ? {} : { finalAt, finalLane: result.lane }),
    ...short(result?.output),
  };
}

function claimRow(
  entry: ClaimEntry,
  seq: number,
  claimedAt: number,
  endedAt: number | undefined,
  clocks: Clocks,
): ClaimRow {
  const { id, claim, output, status, fall, challengers, demands } = entry;
  return {
    claimId: id,
    seq,
    requestId: claim.requestId,
    modelId: claim.modelId,
    state: CLAIM_STATES[status],
    ...(fall === undefined || fall.reason === "NONE" ? {} : { fall: fall.reason }),
    attempt: claim.attempt,
    prover: claim.prover,
    ...(claim.operator === ZERO_ADDRESS ? {} : { operator: claim.operator }),
    bond: `${claim.bond}`,
    claimedAt,
    ...(endedAt === undefined ? {} : { endedAt }),
    tickets: [...challengers],
    demands: demands.size,
    clocks,
    ...short(output),
  };
}
