/** Requests and claims. */
import { z } from "zod";
import {
  address,
  claimState,
  count,
  data,
  deliveryState,
  event,
  fallReason,
  hash,
  id,
  lane,
  requestState,
  seconds,
  time,
  wei,
} from "./common.ts";

export const requestSummary = z.object({
  requestId: id,
  modelId: id,
  modelName: z.string().optional(),
  state: requestState,
  requester: address,
  lanes: z.array(lane).meta({ description: "that the requester accepts" }),
  fee: wei,
  requestedAt: time,
  block: count,
  expiry: time,
  attempt: count.meta({ description: "claims that fell before" }),
  claimId: id.optional().meta({ description: "of the live or final claim" }),
  finalAt: time.optional(),
  finalLane: lane.optional(),
  text: z.string().optional().meta({ description: "what the final output means, one line" }),
});

export const claimSummary = z.object({
  claimId: id,
  requestId: id,
  modelId: id,
  modelName: z.string().optional(),
  state: claimState,
  isFinalByTime: z.boolean().meta({
    description: "ACTIVE, and nobody can change it any more: final though nobody has recorded it",
  }),
  fall: fallReason.optional(),
  attempt: count,
  prover: address,
  promisedBy: address.optional().meta({
    description:
      "of a promise that became a claim: whose stake its bond is; `prover` is the contract Promises",
  }),
  bond: wei,
  claimedAt: time,
  block: count,
  windowEnd: time,
  tickets: count,
  demands: count,
  endedAt: time.optional(),
  text: z.string().optional().meta({ description: "what the claimed output means, one line" }),
});

export const request = z.object({
  ...requestSummary.shape,
  terms: z.object({
    requester: address,
    modelId: id,
    inputHash: hash,
    lanes: z.array(lane),
    fee: wei,
    deliveryFee: wei,
    minBond: wei,
    window: seconds,
    expiry: time,
    exclusiveProver: address.optional(),
    exclusiveUntil: time.optional(),
    callback: address.optional(),
    callbackGas: count,
    salt: z.string(),
  }),
  input: data,
  output: data.optional().meta({ description: "the final one" }),
  outputHash: hash.optional(),
  delivery: deliveryState.or(z.literal("NONE")).meta({ description: "NONE: no callback was asked for" }),
  claims: z.array(claimSummary).meta({ description: "oldest first" }),
  timeline: z.array(event).meta({ description: "of the request and its claims, oldest first" }),
});

/** Something that must happen by a second, or that time does by itself. */
export const deadline = z.object({
  kind: z.enum(["window", "trace", "demand", "lastDemand", "hardEnd", "final", "expiry"]),
  at: time,
  by: z
    .enum(["prover", "challenger", "anybody"])
    .meta({ description: "whose turn it is; anybody: time alone decides" }),
  text: z.string(),
  isOver: z.boolean().meta({ description: "met, or without effect any more" }),
  position: z.string().optional().meta({ description: "of a demand" }),
});

export const claim = z.object({
  ...claimSummary.shape,
  operator: address.optional(),
  ticketBond: wei,
  gasPrice: wei.meta({ description: "at which the bonds were computed" }),
  outputHash: hash,
  output: data,
  input: data.meta({ description: "of its request" }),
  traceRoot: hash.optional(),
  challengers: z.array(z.object({ account: address, hasCollected: z.boolean() })),
  finalAt: time
    .optional()
    .meta({ description: "ACTIVE: earliest second in which it is final, if nobody moves any more" }),
  deadlines: z.array(deadline),
  payout: z
    .object({
      prover: wei.meta({ description: "bond, half of each ticket's bond and the fee; 0 after a fall" }),
      ticket: wei.meta({ description: "what each ticket's owner collects" }),
      burned: wei,
    })
    .optional()
    .meta({ description: "of a claim that is over" }),
  promise: z
    .union([z.object({ batch: id, leaf: count }), z.object({ digest: id })])
    .optional()
    .meta({
      description: "that became this claim: Promises is its prover, and the promise's prover its operator",
    }),
  request: requestSummary,
  others: z.array(claimSummary).meta({ description: "other claims on its request, oldest first" }),
  hasDispute: z.boolean(),
  timeline: z.array(event),
});
