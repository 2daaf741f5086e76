/** Values that many answers are made of. */
import { z } from "zod";
import {
  CLAIM_STATES,
  DELIVERY_STATES,
  FALL_REASONS,
  LANE,
  type LaneName,
  REQUEST_STATES,
} from "../../../protocol/rules/types.ts";

export const hex = z.string().regex(/^0x([0-9a-f]{2})*$/);
/** Of a model, request or claim; also a hash. */
export const id = z.string().regex(/^0x[0-9a-f]{64}$/);
export const hash = id;
/** With checksum. */
export const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/);
export const wei = z
  .string()
  .regex(/^-?\d+$/)
  .meta({ description: "wei, decimal" });
/** Above 53 bits. */
export const integer = z.string().regex(/^-?\d+$/);
export const count = z.int().min(0);
export const seconds = z.int().meta({ description: "seconds" });
export const time = z.int().meta({ description: "seconds since 1970, by the chain" });
/** A day begins at a multiple of 86,400 seconds. */
export const day = z.int().meta({ description: "first second of the day, UTC" });

const LANE_NAMES = Object.keys(LANE) as [LaneName, ...LaneName[]];
export const lane = z.enum(LANE_NAMES);
export const requestState = z.enum(REQUEST_STATES).exclude(["NONE"]);
export const claimState = z.enum(CLAIM_STATES).exclude(["NONE"]);
export const deliveryState = z.enum(DELIVERY_STATES);
export const fallReason = z.enum(FALL_REASONS).exclude(["NONE"]);

export const head = z.object({ number: count, hash, timestamp: time });

/** A page of a list, newest first unless it says otherwise. */
export const page = <Item extends z.ZodType>(item: Item) =>
  z.object({
    items: z.array(item),
    next: z.string().optional().meta({ description: "`before` of the next page; absent on the last" }),
  });

export const error = z.object({
  error: z.object({
    code: z.string().meta({ description: "stable: what programs look at" }),
    message: z.string().meta({ description: "one sentence with the value and the limit" }),
    nextStep: z.string(),
    details: z.record(z.string(), z.unknown()).optional(),
    retryable: z.boolean().optional(),
  }),
  requestId: z.string(),
});

/** An output as the model's manifest reads it. Nothing commits to it: for display only. */
export const meaning = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("classes"),
    text: z.string(),
    index: count.optional(),
    label: z.string().optional(),
    probability: z.number().optional(),
    classes: z.array(z.object({ label: z.string(), probability: z.number().optional() })),
  }),
  z.object({
    kind: z.literal("quantiles"),
    text: z.string(),
    unit: z.string().optional(),
    quantiles: z.array(z.object({ percent: z.number(), value: z.number(), text: z.string() })),
  }),
  z.object({
    kind: z.literal("numbers"),
    text: z.string(),
    unit: z.string().optional(),
    shown: z.array(z.object({ name: z.string().optional(), value: z.number(), text: z.string() })),
  }),
]);

/** Of a language model's prompt or answer, as the tokenizer of the model's folder reads it. For display only. */
export const token = z.object({
  place: count.meta({ description: "in the prompt or answer; places without an id are left out" }),
  id: count,
  text: z.string().meta({ description: "of a control token its name" }),
  isControl: z.literal(true).optional(),
});

/** Calldata or return data, whole or cut, with what it says. */
export const data = z.object({
  hex: hex.meta({ description: "the first bytes; all of them unless `isCut`" }),
  bytes: count.meta({ description: "length of the whole" }),
  isCut: z.boolean(),
  values: z.record(z.string(), z.unknown()).optional().meta({
    description: "by the name of each argument or output; integers above 53 bits are decimal strings",
  }),
  meaning: meaning.optional(),
  tokens: z.array(token).optional().meta({ description: "of a language model, in their order" }),
});

/** An event of the contract, with the transaction that made it. */
export const event = z.object({
  id: z
    .string()
    .meta({ description: "of the server-sent event: block, log index and part of the block's hash" }),
  name: z.string().meta({ description: "as in the contracts' interfaces" }),
  contract: z.literal("promises").optional().meta({ description: "absent: Assay, or its registry" }),
  text: z.string().meta({ description: "one line for people" }),
  time,
  block: count,
  logIndex: count,
  transaction: hash,
  sender: address.meta({ description: "of the transaction" }),
  gasUsed: count.meta({ description: "by the whole transaction" }),
  transactionFee: wei,
  model: id.optional(),
  request: id.optional(),
  claim: id.optional(),
  batch: id.optional(),
  digest: id.optional().meta({ description: "of a signed claim" }),
  account: address.optional().meta({ description: "who moved, or whose credit it is" }),
  money: z
    .array(
      z.object({
        account: address,
        amount: wei.meta({ description: "above 0: to the account, below 0: from it" }),
        kind: z.enum(["fee", "bond", "ticket", "credit", "withdrawal", "stake", "deposit"]),
      }),
    )
    .meta({ description: "wei that this event moved into or out of the contracts' books" }),
  args: z.record(z.string(), z.unknown()).meta({ description: "without inputs, outputs and contents" }),
});
