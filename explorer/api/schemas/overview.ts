/** The deployment as a whole, and its stream. */
import { z } from "zod";
import { FALL_REASONS, LANE, REQUEST_STATES } from "../../../protocol/rules/types.ts";
import { address, claimState, count, day, event, hash, head, id, integer, seconds, wei } from "./common.ts";

const states = <Name extends string>(names: readonly Name[]) =>
  z.object(Object.fromEntries(names.map((name) => [name, count])) as Record<Name, typeof count>);
const lanes = Object.keys(LANE) as (keyof typeof LANE)[];
const byLane = <Value extends z.ZodType>(value: Value) =>
  z.object(Object.fromEntries(lanes.map((name) => [name, value])) as Record<keyof typeof LANE, Value>);

/** Of many waits, seconds; null while there are none. */
export const waits = z
  .object({ count, least: seconds, median: seconds, mean: z.number(), greatest: seconds })
  .nullable();
/** Of many transactions; null while there are none. */
export const gas = z.object({ count, mean: z.number(), least: count, greatest: count }).nullable();

export const overview = z.object({
  chainId: z.int(),
  chainName: z.string().optional(),
  blockExplorer: z.url().optional().meta({ description: "a public one, where the chain has it" }),
  isDevelopment: z.boolean().meta({ description: "a local chain, whose keys everybody knows" }),
  contracts: z.record(z.string(), address),
  constants: z.object({
    answerSeconds: seconds.meta({ description: "T" }),
    gasPriceFloor: wei,
    gasBase: integer,
    gasPerDemand: integer,
  }),
  gasPrice: wei
    .optional()
    .meta({ description: "of a unit of gas, by the node; left out while it is silent" }),
  deployedAt: z.object({ number: count, hash }),
  head: head.optional().meta({ description: "newest block that is indexed; absent at the start" }),
  blocksBehind: count.meta({ description: "of the chain's newest block" }),
  requests: states(REQUEST_STATES.slice(1) as Exclude<(typeof REQUEST_STATES)[number], "NONE">[]),
  claims: states(claimState.options),
  falls: states(FALL_REASONS.slice(1) as Exclude<(typeof FALL_REASONS)[number], "NONE">[]),
  finalByLane: byLane(count),
  finalitySeconds: byLane(waits).meta({ description: "from request to final output" }),
  gasByLane: byLane(gas).meta({
    description: "of the transaction that files the claim, or that settles the request",
  }),
  models: count,
  accounts: count,
  events: count,
  holds: z
    .object({
      fees: wei.meta({ description: "of requests that are not over, and of deliveries" }),
      bonds: wei.meta({ description: "of live claims" }),
      tickets: wei.meta({ description: "bonds of tickets on live claims" }),
      uncollected: wei.meta({
        description: "of fallen claims: tickets and shares that nobody collected yet",
      }),
      credits: wei.meta({ description: "not withdrawn yet" }),
      burned: wei.meta({ description: "not sent away yet" }),
      total: wei,
    })
    .meta({ description: "what the contract holds by its events" }),
  promises: z
    .object({
      batches: z.object({ posted: count, fallen: count }),
      leaves: z.object({ posted: count, final: count }),
      gasPerLeaf: gas.meta({ description: "of the transactions that posted batches, by leaf" }),
      signed: z
        .object({ opened: count, fell: count })
        .meta({ description: "signed claims that somebody opened: the others are on no chain" }),
      stake: wei.meta({ description: "behind promises; bonds in Assay included" }),
      deposits: wei.meta({ description: "on promises that are opened" }),
      credits: wei,
      burned: wei.meta({ description: "not sent away yet" }),
    })
    .optional()
    .meta({ description: "absent: the deployment has no promises" }),
  flows: z.object({ received: wei, withdrawn: wei, burned: wei.meta({ description: "ever" }) }),
  days: z
    .array(
      z.object({
        day,
        requests: count,
        claims: count,
        falls: count,
        finalByLane: byLane(count),
        leaves: count.meta({ description: "of the batches that were posted on this day" }),
        fees: wei.meta({ description: "offered by the requests of this day" }),
        bonds: wei.meta({ description: "of the claims of this day" }),
        burned: wei,
        transactions: count,
        gasUsed: integer,
        transactionFees: wei,
      }),
    )
    .meta({ description: "oldest first; days on which nothing happened are left out; at most 366" }),
});

/** Data of the server-sent event `event`. */
export const streamEvent = event;
/** Data of the server-sent event `head`: a block was indexed. */
export const streamHead = head;
/** Data of the server-sent event `rollback`: everything above this block is gone; read again what you show. */
export const streamRollback = z.object({ ancestor: count });
/** Data of the server-sent event `reset`: events since yours are too many or gone; read again what you show. */
export const streamReset = z.object({ head: head.optional() });

export const searchResult = z.object({
  query: z.string(),
  hits: z.array(
    z.object({
      kind: z.enum(["model", "request", "claim", "batch", "signed claim", "account", "transaction", "block"]),
      id: z.string().meta({ description: "what its page is asked for with" }),
      label: z.string(),
      model: id.optional(),
    }),
  ),
});

export const transaction = z.object({
  hash,
  block: count,
  time: z.int(),
  sender: address,
  to: address.optional(),
  gasUsed: count,
  fee: wei,
  events: z.array(event),
});

export const glossary = z.object({
  terms: z.array(
    z.object({ term: z.string(), meaning: z.string().meta({ description: "Markdown, one line" }) }),
  ),
});

export const health = z.object({
  status: z.enum(["ok", "behind", "node-unreachable", "database-unreachable"]),
  version: z.string(),
  chainId: z.int(),
  assay: address,
  promises: address.optional().meta({ description: "absent: the deployment has no promises" }),
  head: head.optional(),
  blocksBehind: count.optional(),
  silentSeconds: count.optional().meta({ description: "since the chain's node last answered" }),
  watched: count.meta({ description: "daemons of the operator that are watched" }),
});
export const alive = z.object({ status: z.literal("alive"), version: z.string() });
