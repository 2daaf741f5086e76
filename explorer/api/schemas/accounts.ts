/** What an account has, owes, earned and lost. */
import { z } from "zod";
import { address, count, day, fallReason, time, wei } from "./common.ts";

const record = z.object({
  requests: count,
  claims: count,
  finalClaims: count,
  fallenClaims: count,
  liveClaims: count,
  tickets: count,
  ticketsWon: count.meta({ description: "on claims that fell" }),
  ticketsLost: count.meta({ description: "on claims that became final" }),
  ticketsLive: count,
  settled: count.meta({ description: "requests that it settled by a truth" }),
  falls: z.partialRecord(fallReason, count).meta({ description: "of its claims, by reason" }),
  lastFallAt: time.optional(),
});

export const accountSummary = z.object({
  account: address,
  roles: z.array(z.enum(["requester", "prover", "challenger", "operator", "submitter"])),
  credit: wei,
  exposure: wei.meta({ description: "bonds of its live claims and tickets" }),
  result: wei.meta({ description: "profit above 0, loss below; transaction fees included" }),
  lastSeenAt: time,
  record,
});

export const account = z.object({
  ...accountSummary.shape,
  balance: wei
    .optional()
    .meta({ description: "outside of the contract, now; absent while the node is silent" }),
  money: z.object({
    paidFees: wei.meta({ description: "of its requests, less what came back" }),
    feesHeld: wei.meta({ description: "of its requests that are not over" }),
    bondsHeld: wei,
    ticketsHeld: wei,
    uncollected: wei.meta({ description: "of fallen claims on which it holds tickets" }),
    paidIn: wei.meta({ description: "ever: fees, bonds and tickets" }),
    credited: wei.meta({ description: "ever" }),
    withdrawn: wei,
    transactionFees: wei.meta({ description: "of its transactions that made events here" }),
    transactions: count,
  }),
  promises: z
    .object({
      stake: wei.meta({ description: "behind its promises: free, leaving, away and slots together" }),
      split: z
        .object({
          free: wei,
          leaving: wei,
          exitAt: time.optional().meta({ description: "of what is leaving" }),
          away: wei.meta({ description: "bonds of claims in Assay" }),
          slots: wei.meta({ description: "set aside for leaves of running batches" }),
        })
        .optional()
        .meta({ description: "now; absent while the node is silent" }),
      credit: wei.meta({ description: "in Promises, to withdraw" }),
      deposits: wei.meta({ description: "of promises that it opened" }),
      opened: count.meta({ description: "promises that it opened" }),
      waiting: count.meta({ description: "its signed claims that wait for stake" }),
      batches: count,
      batchesFallen: count,
      leaves: count.meta({ description: "of its batches" }),
      signed: count.meta({ description: "its signed claims that somebody opened" }),
      signedFell: count,
    })
    .optional()
    .meta({ description: "absent: it never had to do with promises" }),
  days: z
    .array(
      z.object({
        day,
        paidIn: wei,
        credited: wei,
        transactionFees: wei,
        claims: count,
        falls: count,
        result: wei.meta({ description: "that this day's endings and transactions made" }),
        total: wei.meta({ description: "of all days up to this one" }),
      }),
    )
    .meta({ description: "oldest first; at most 366 days with events" }),
});
