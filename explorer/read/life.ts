/** One request, one claim: all that is known of them. */
import type { Hex } from "viem";
import { decodePosition } from "../../inference/commit/positions.ts";
import { type ClaimEntry, ClaimIndex, type RequestEntry } from "../../protocol/chain/claim-index.ts";
import { describePosition } from "../../protocol/chain/describe.ts";
import { RULES } from "../../protocol/rules/machine/rules.ts";
import { fallPayout, finalPayout } from "../../protocol/rules/money.ts";
import { type ClaimId, type RequestId, ZERO_ADDRESS } from "../../protocol/rules/types.ts";
import { EMPTY_CLAIM_WORD } from "../../protocol/rules/words.ts";
import type { Claim, Deadline, Request } from "../api/types.ts";
import type { Clocks } from "../index/life.ts";
import { inputView, outputView } from "./data.ts";
import { timelineOf } from "./events.ts";
import { claimSummary, laneNames, requestSummary } from "./lists.ts";
import { chainNow, type ReadParts } from "./parts.ts";
import { claimUnknown, requestUnknown } from "./unknown.ts";

/** Everything that the events of a request tell, by the index that the daemons use. */
export async function indexOf({ index }: ReadParts, request: Hex): Promise<ClaimIndex> {
  const own = new ClaimIndex();
  for (const { event } of await index.events.ofRequest(request as RequestId)) own.apply(event);
  return own;
}

/** @throws BaseError REQUEST_UNKNOWN */
export async function requestView(parts: ReadParts, id: Hex): Promise<Request> {
  const { tables } = parts.index;
  const [row, own, claims] = await Promise.all([tables.request(id), indexOf(parts, id), tables.claimsOf(id)]);
  const entry = own.requests.get(id as RequestId);
  if (row === undefined || entry === undefined) throw requestUnknown(id);
  const { request, input, result } = entry;
  const { exclusiveProver, exclusiveUntil, callback, lanes, fee, deliveryFee, minBond, salt } = request;
  return {
    ...requestSummary(parts, row),
    terms: {
      requester: request.requester,
      modelId: request.modelId,
      inputHash: request.inputHash,
      lanes: laneNames(lanes),
      fee: `${fee}`,
      deliveryFee: `${deliveryFee}`,
      minBond: `${minBond}`,
      window: request.window,
      expiry: request.expiry,
      ...(exclusiveProver === ZERO_ADDRESS ? {} : { exclusiveProver, exclusiveUntil }),
      ...(callback === ZERO_ADDRESS ? {} : { callback }),
      callbackGas: request.callbackGas,
      salt: `${salt}`,
    },
    input: await inputView(parts, request.modelId, input),
    ...(result === undefined
      ? {}
      : { output: await outputView(parts, request.modelId, result.output), outputHash: result.outputHash }),
    delivery: await deliveryOf(parts, entry),
    claims: claims.map((claim) => claimSummary(parts, claim)),
    timeline: await timelineOf(tables, { request: id }),
  };
}

async function deliveryOf(
  { index }: ReadParts,
  { id, request, delivered }: RequestEntry,
): Promise<Request["delivery"]> {
  if (request.callback === ZERO_ADDRESS) return "NONE";
  if (!delivered) return "PENDING";
  const [reclaimed] = await index.tables.moves("m.request_id = ? AND m.name = ?", "LIMIT ?", [
    id,
    "DeliveryReclaimed",
    1,
  ]);
  return reclaimed === undefined ? "DELIVERED" : "RECLAIMED";
}

/** @throws BaseError CLAIM_UNKNOWN */
export async function claimView(parts: ReadParts, id: Hex): Promise<Claim> {
  const { tables } = parts.index;
  const row = await tables.claim(id);
  if (row === undefined) throw claimUnknown(id);
  const [own, requestRow, claims, timeline, promise] = await Promise.all([
    indexOf(parts, row.requestId),
    tables.request(row.requestId),
    tables.claimsOf(row.requestId),
    timelineOf(tables, { request: row.requestId, claim: id }),
    promiseOf(parts, id as ClaimId),
  ]);
  const found = own.claimAndRequest(id as ClaimId);
  if (found === undefined || requestRow === undefined) throw claimUnknown(id);
  const { claim: entry, request } = found;
  const { claim } = entry;
  const word = { ...EMPTY_CLAIM_WORD, ...row.clocks };
  const { answerSeconds } = parts.chain.constants;
  const payout = payoutOf(entry, request);
  return {
    ...claimSummary(parts, row),
    ...(claim.operator === ZERO_ADDRESS ? {} : { operator: claim.operator }),
    ticketBond: `${claim.ticketBond}`,
    gasPrice: `${claim.gasPrice}`,
    outputHash: claim.outputHash,
    output: await outputView(parts, claim.modelId, entry.output),
    input: await inputView(parts, claim.modelId, request.input),
    ...(entry.trace === undefined ? {} : { traceRoot: entry.trace.root }),
    challengers: [...entry.challengers].map((account) => ({
      account,
      hasCollected: entry.collected.has(account),
    })),
    ...(entry.status === "active" && row.clocks.pending === 0
      ? { finalAt: RULES.finalAt(word, answerSeconds) }
      : {}),
    deadlines: deadlinesOf(entry, row.clocks, answerSeconds, chainNow(parts)),
    ...(payout === undefined ? {} : { payout }),
    ...promise,
    request: requestSummary(parts, requestRow),
    others: claims.filter(({ claimId }) => claimId !== id).map((other) => claimSummary(parts, other)),
    hasDispute: entry.challengers.size > 0,
    timeline,
  };
}

async function promiseOf({ index }: ReadParts, id: ClaimId): Promise<Pick<Claim, "promise">> {
  const opening = await index.events.openingOf(id);
  if (opening === undefined) return {};
  const { args } = opening;
  return {
    promise: "digest" in args ? { digest: args.digest } : { batch: args.batchId, leaf: Number(args.index) },
  };
}

function payoutOf(
  { claim, challengers, status, fall }: ClaimEntry,
  { request }: RequestEntry,
): Claim["payout"] {
  if (status === "active") return undefined;
  if (status === "final") {
    const { prover, burned } = finalPayout(claim, challengers.size, request.fee);
    return { prover: `${prover}`, ticket: "0", burned: `${burned}` };
  }
  const { ticket, burned } = fallPayout(claim, challengers.size, fall?.reason === "TRUTH");
  return { prover: "0", ticket: challengers.size === 0 ? "0" : `${ticket}`, burned: `${burned}` };
}

/** @param now second of the newest block */
export function deadlinesOf(
  entry: ClaimEntry,
  clocks: Clocks,
  answerSeconds: number,
  now: number,
): Deadline[] {
  const isOver = entry.status !== "active";
  const word = { ...EMPTY_CLAIM_WORD, ...clocks };
  const deadlines: Deadline[] = [
    {
      kind: "window",
      at: clocks.windowEnd,
      by: "challenger",
      text: "last ticket",
      isOver: isOver || now >= clocks.windowEnd,
    },
  ];
  if (clocks.traceDeadline !== 0) {
    deadlines.push({
      kind: "trace",
      at: clocks.traceDeadline,
      by: "prover",
      text: "the trace",
      isOver: isOver || entry.trace !== undefined,
    });
  }
  for (const [position, { deadline, content }] of entry.demands) {
    deadlines.push({
      kind: "demand",
      at: deadline,
      by: "prover",
      text: describePosition(decodePosition(position)),
      isOver: isOver || content !== undefined,
      position: `${position}`,
    });
  }
  if (clocks.hardEnd !== 0) {
    const lastDemand = RULES.lastDemandAt(word, answerSeconds);
    deadlines.push(
      {
        kind: "lastDemand",
        at: lastDemand,
        by: "challenger",
        text: "last demand",
        isOver: isOver || now > lastDemand,
      },
      {
        kind: "hardEnd",
        at: clocks.hardEnd,
        by: "anybody",
        text: "end of the dispute",
        isOver: isOver || now >= clocks.hardEnd,
      },
    );
  }
  // While an answer is owed, nobody knows when it can be final.
  if (clocks.pending === 0) {
    const at = RULES.finalAt(word, answerSeconds);
    deadlines.push({ kind: "final", at, by: "anybody", text: "final by time", isOver: isOver || now >= at });
  }
  return deadlines;
}
