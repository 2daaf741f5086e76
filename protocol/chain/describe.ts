/** Events as lines for people. */
import type { Hex } from "viem";
import { formatAmount } from "../../base/amounts.ts";
import { decodePosition, type Position, TRACE_STEP } from "../../inference/commit/positions.ts";
import { FALL_REASONS } from "../rules/types.ts";
import type { FallEntry } from "./claim-index.ts";
import type { ChainEvent } from "./events.ts";
import { laneName } from "./finality.ts";

/** One line for an event, without its time. */
export function describeEvent(event: ChainEvent): string {
  switch (event.name) {
    case "Requested":
      return `requested by ${event.args.request.requester}, fee ${formatAmount(event.args.request.fee)}`;
    case "Claimed":
      return `claimed by ${event.args.claim.prover}, bond ${formatAmount(event.args.claim.bond)}, output ${short(event.args.output)}`;
    case "Challenged":
      return `challenged by ${event.args.challenger}`;
    case "TraceCommitted":
      return `trace committed, root ${event.args.traceRoot}`;
    case "Demanded":
      return `${event.args.challenger} demands ${describePosition(decodePosition(event.args.position))}`;
    case "Revealed":
      return `revealed ${describePosition(decodePosition(event.args.position))}, ${event.args.content.length} words or hashes`;
    case "Fell":
      return describeFall({ ...event.args, reason: FALL_REASONS[event.args.reason] ?? "NONE" });
    case "Finalized":
      return `final in the ${laneText(event.args.lane)} lane`;
    case "Settled":
      return `settled by ${laneText(event.args.lane)} through ${event.args.submitter}`;
    case "Delivered":
      return `${event.args.success ? "delivered" : "delivery failed"} by ${event.args.by}`;
    case "Collected":
      return `${event.args.owner} collected ${formatAmount(event.args.amount)}`;
    case "DeliveryReclaimed":
      return "the fee of a delivery that nobody made goes back";
    case "Refunded":
      return "expired without an output; the fees go back";
    case "ModelRegistered":
      return `model ${event.args.modelId} registered`;
    case "ProofHalted":
      return `proofs of model ${event.args.modelId} count no more`;
    case "Credited":
      return `${formatAmount(event.args.amount)} credited to ${event.args.account}`;
    case "Withdrawn":
      return `${event.args.account} withdrew ${formatAmount(event.args.amount)}`;
    case "Burned":
      return `${formatAmount(event.args.amount)} burned`;
  }
}

/** A position in words. */
export function describePosition({ step, level, index }: Position): string {
  const tree = step === TRACE_STEP ? "the trace tree" : `step ${step}`;
  return `node ${index} at level ${level} of ${tree}`;
}

/** How a claim fell. */
export function describeFall(fall: FallEntry): string {
  const { reason, step, element, expected, claimed } = fall;
  if (reason === "TRACE_TIMEOUT") return "fell: the trace was not committed in time";
  if (reason === "DEMAND_TIMEOUT")
    return `fell: ${describePosition(decodePosition(element))} was not revealed in time`;
  const where = reason === "ELEMENT" ? ` at step ${step}, element ${element}` : "";
  return `fell by ${reason}${where}: expected ${hex(expected)}, claimed ${hex(claimed)}`;
}

/** A time in seconds since 1970, to the second, UTC. */
export const iso = (seconds: number): string => new Date(1_000 * seconds).toISOString().replace(".000Z", "Z");

export const laneText = (lane: number): string => laneName(lane) ?? String(lane);
const hex = (value: bigint): string => `0x${value.toString(16)}`;
const short = (data: Hex): string =>
  data.length <= 74 ? data : `${data.slice(0, 66)}… (${data.length / 2 - 1} bytes)`;
