/** Batches with their leaves, and signed claims that somebody opened. */
import { z } from "zod";
import { address, count, data, event, hash, hex, id, seconds, time, wei } from "./common.ts";
import { claimSummary, deadline } from "./requests.ts";

export const batchState = z.enum(["RUNNING", "FINAL", "FALLEN"]);
export const signedState = z.enum(["QUEUED", "OPEN", "STOOD", "FELL", "TAKEN_BACK"]);

export const batchSummary = z.object({
  batchId: id,
  modelId: id,
  modelName: z.string().optional(),
  state: batchState.meta({ description: "of every leaf, by the chain's newest indexed second" }),
  prover: address,
  count: count.meta({ description: "leaves" }),
  opened: count.meta({ description: "leaves that somebody ever opened" }),
  open: count.meta({ description: "leaves that are opened or wait, now" }),
  bond: wei.meta({ description: "behind each leaf that is opened" }),
  postedAt: time,
  block: count,
  windowEnd: time.meta({ description: "first second in which no leaf can be opened" }),
  finalAt: time.optional().meta({
    description: "first second in which it is final unless a leaf is opened; absent while one is open",
  }),
  fellAt: time.optional(),
  gasPerLeaf: z.number().optional().meta({ description: "of the transaction that posted it" }),
});

const openedLeaf = z.object({
  index: count,
  status: z
    .enum(["QUEUED", "OPEN", "STOOD", "FELL", "DROPPED"])
    .meta({ description: "QUEUED: it waits for stake; DROPPED: its batch fell while it waited" }),
  opener: address,
  deposit: wei,
  shownAt: time,
  claim: claimSummary.optional().meta({ description: "that it became" }),
  endedAt: time.optional(),
});

export const batch = z.object({
  ...batchSummary.shape,
  window: seconds,
  root: hash,
  bytes: count.meta({ description: "of its data" }),
  transaction: hash,
  openedLeaves: z
    .array(openedLeaf)
    .meta({ description: "in the order in which they were opened; at most 1,024" }),
  timeline: z.array(event),
});

export const leafSummary = z.object({
  index: count,
  state: batchState,
  input: data,
  output: data,
  opened: openedLeaf.optional(),
});

export const leaf = z.object({
  ...leafSummary.shape,
  batch: batchSummary,
  proof: z
    .object({
      batch: z.object({ prover: address, modelId: id, window: seconds, count, root: hash }),
      index: count,
      payload: hex.meta({ description: "the leaf's bytes in the batch's data" }),
      path: z.array(hash).meta({ description: "siblings up to the root, bottom up" }),
      policy: z.object({ modelId: id, inputHash: hash, lanes: count, minBond: wei, minWindow: seconds }),
      reader: address.meta({ description: "the contract to call" }),
      calldata: hex,
      input: hex,
      output: hex,
    })
    .meta({ description: "what requireFinalLeaf takes" }),
});

export const signedSummary = z.object({
  digest: id,
  modelId: id,
  modelName: z.string().optional(),
  state: signedState.meta({
    description: "QUEUED: it waits for stake; STOOD, FELL: its claim is over and booked",
  }),
  prover: address,
  opener: address,
  shownAt: time.meta({ description: "when somebody opened it first" }),
  block: count,
  ahead: count.optional().meta({ description: "of one that waits: how many wait before it" }),
  claim: claimSummary.optional().meta({ description: "that it became" }),
});

export const signedClaim = z.object({
  ...signedSummary.shape,
  requester: address.optional().meta({ description: "who asked, if anybody was named" }),
  issuedAt: time,
  expiry: time,
  end: time.meta({ description: "last second in which it could be shown first" }),
  minBond: wei,
  salt: z.string(),
  inputHash: hash,
  outputHash: hash,
  deposit: wei,
  passes: count.meta({ description: "how often it went to the end of its queue" }),
  tooDearSince: time.optional().meta({ description: "it is the head, and all stake is less than its bond" }),
  endedAt: time.optional(),
  input: data,
  output: data,
  deadlines: z.array(deadline).meta({ description: "of its claim" }),
  timeline: z.array(event).meta({ description: "of the signed claim and its claim, oldest first" }),
});
