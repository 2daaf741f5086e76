/** The forms of the JSON answers, by name: the OpenAPI document is made of them. */
import { z } from "zod";
import { ENDINGS, RECORD_FORMAT } from "../../protocol/rules/receipt/record.ts";
import { CLAIM_STATES, DELIVERY_STATES, FALL_REASONS, REQUEST_STATES } from "../../protocol/rules/types.ts";
import { SIGNED_STATUSES } from "../promises/status.ts";

const hex = z.string().regex(/^0x([0-9a-f]{2})*$/);
const id = z.string().regex(/^0x[0-9a-f]{64}$/);
const hash = id;
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/);
/** Above 53 bits: a decimal string. */
const integer = z.string().regex(/^-?\d+$/);
const seconds = z.int();
const count = z.int().min(0);
/** what a request for the model should ask for, on a public and on a local chain */
const windows = z.object({ default: seconds, local: seconds });

const error = z.object({
  error: z.object({
    code: z.string().meta({ description: "stable: what programs look at" }),
    message: z.string().meta({ description: "one sentence with the value and the limit" }),
    nextStep: z.string(),
    details: z.record(z.string(), z.unknown()).optional(),
    retryable: z.boolean().optional(),
  }),
  requestId: z.string(),
});

const signedTerms = {
  chainId: z.int(),
  promises: address,
  claim: z.object({
    prover: address,
    modelId: id,
    inputHash: hash,
    outputHash: hash,
    requester: address,
    issuedAt: seconds,
    expiry: seconds,
    minBond: integer,
    salt: integer,
  }),
  signature: hex.meta({ description: "r, s and v" }),
};
const leaf = z
  .object({
    batchId: id,
    batch: z.object({ prover: address, modelId: id, window: seconds, count, root: hash }),
    index: count,
    payload: hex,
    path: z.array(hash).meta({ description: "siblings up to the root, bottom up" }),
    windowEnd: seconds.optional().meta({ description: "absent: the batch is not on the chain yet" }),
  })
  .optional()
  .meta({ description: "its place in a batch, as requireFinalLeaf takes it" });
const signedClaim = z.object({
  digest: id,
  status: z.enum(SIGNED_STATUSES),
  claimId: id.optional().meta({ description: "the claim that it became" }),
  ...signedTerms,
  leaf,
});

const finality = {
  status: z.enum(["unverified", "pending", "final", "signed", "batched"]),
  request: id.optional(),
  claim: id.optional(),
  digest: id.optional().meta({ description: "of the signed claim" }),
  signedClaim: z
    .object({ ...signedTerms, input: hex, output: hex })
    .optional()
    .meta({ description: "what opening it takes: what challengers are handed" }),
  leaf,
};
const meaning = z
  .looseObject({
    kind: z.enum(["classes", "quantiles", "numbers"]),
    text: z.string().meta({ description: "one line for people" }),
  })
  .optional()
  .meta({ description: "the output as the model's manifest reads it; for display, nothing commits to it" });
const outputs = {
  result: z.record(z.string(), z.unknown()).meta({ description: "by the name of each output" }),
  meaning,
  text: z.string().optional().meta({ description: "of a language model with text: what its answer says" }),
  ids: z.array(count).optional().meta({ description: "of such a model: the answer's tokens" }),
  output: hex.meta({ description: "return data" }),
  inputHash: hash,
};
const result = z.object({ modelId: id, ...finality, ...outputs });
const signedResults = z.object({
  modelId: id,
  status: z.literal("signed"),
  answers: z.array(
    z.object({
      digest: id,
      signedClaim: z.object({ ...signedTerms, input: hex, output: hex }),
      ...z.object(outputs).partial().shape,
    }),
  ),
});

const parameter: z.ZodType = z.looseObject({ name: z.string(), type: z.string() });
const model = z.object({
  modelId: id,
  name: z.string(),
  description: z.string(),
  version: z.string(),
  image: z.string().optional(),
  selector: hex,
  function: z.looseObject({ name: z.string(), inputs: z.array(parameter), outputs: z.array(parameter) }),
  codec: z.object({ input: z.string(), output: z.string(), inputSize: count }).optional(),
  lanes: z.array(z.string()),
  windowSeconds: windows,
  maxCalldata: count.meta({ description: "bytes" }),
  outputLength: count.meta({ description: "bytes" }),
  steps: count.meta({ description: "0: no program, only a proof says what it computes" }),
  depth: count,
  text: z
    .object({ prompt: count, answer: count })
    .optional()
    .meta({ description: "the model takes messages; most ids of a prompt and of an answer" }),
  pieces: count.optional().meta({ description: "the model takes a text; most ids of its word pieces" }),
});
const models = z.object({ models: z.array(model) });
const files = z.object({
  modelId: id,
  files: z.array(z.object({ name: z.string(), bytes: count, sha256: z.string().regex(/^[0-9a-f]{64}$/) })),
});

const event = z.object({
  event: z.string(),
  time: seconds.optional(),
  block: integer,
  transactionHash: hash,
  args: z.record(z.string(), z.unknown()),
});
const claimTerms = {
  requestId: id,
  modelId: id,
  attempt: count,
  prover: address,
  operator: address,
  outputHash: hash,
  bond: integer,
  ticketBond: integer,
  gasPrice: integer,
};
const claim = z.object({
  claimId: id,
  state: z.enum(CLAIM_STATES),
  fall: z.enum(FALL_REASONS),
  ...claimTerms,
  output: hex,
  meaning,
  windowEnd: seconds,
  finalAt: seconds.meta({ description: "earliest second in which it is final, if nobody moves any more" }),
  tickets: count,
  pending: count,
  traceDeadline: seconds,
  seenByThisNode: z.boolean(),
  timeline: z.array(event),
});
const claimEvent = z
  .object({
    claimId: id,
    state: z.enum(["ACTIVE", "FINAL", "FALLEN"]).meta({ description: "after this event" }),
    event: z.string(),
    block: integer,
    blockHash: hash,
    logIndex: count,
    transactionHash: hash,
    args: z.record(z.string(), z.unknown()),
  })
  .meta({ description: "data of one server-sent event" });
const terms = z.object({
  requester: address,
  modelId: id,
  inputHash: hash,
  lanes: count,
  fee: integer,
  deliveryFee: integer,
  minBond: integer,
  window: seconds,
  expiry: seconds,
  exclusiveProver: address,
  exclusiveUntil: seconds,
  callback: address,
  callbackGas: count,
  salt: integer,
});
const request = z.object({
  requestId: id,
  state: z.enum(REQUEST_STATES),
  attempt: count,
  delivered: z.enum(DELIVERY_STATES),
  request: terms.optional(),
  input: hex.optional(),
  claimId: id.optional(),
  result: z.object({ lane: count, outputHash: hash, output: hex }).optional(),
  decision: z
    .looseObject({ kind: z.enum(["claim", "settle", "skip"]) })
    .optional()
    .meta({ description: "of this node, on an open request" }),
  timeline: z.array(event),
});
const record = z.object({
  format: z.literal(RECORD_FORMAT),
  request: terms,
  claim: z.object(claimTerms).optional(),
  output: hex.meta({ description: "claimed, or settled by truth" }),
  header: hex.meta({ description: "RLP of the block's header" }),
  nodes: z.array(hex).meta({ description: "RLP of nodes of the state tries" }),
  input: hex,
  unproven: z
    .object({
      claimed: hash.optional(),
      ended: z.object({ event: z.enum(ENDINGS), transaction: hash }).optional(),
      fault: z.object({ step: integer, element: integer, expected: integer, claimed: integer }).optional(),
      payment: z.object({ network: z.string(), transaction: hash }).optional(),
    })
    .meta({ description: "what this node says besides; the block shows none of it" }),
});

const game = { chainId: z.int(), assay: address };
const quote = z.object({
  ...game,
  block: integer,
  modelId: id,
  leastFee: integer,
  leastDeliveryFee: integer,
  gasPrice: integer,
  bond: integer,
  ticketBond: integer,
  window: z.object({ least: seconds, most: seconds }),
  suggestedWindow: windows,
});
const health = z.object({
  status: z.enum(["ok", "behind", "node-unreachable", "answer-overdue"]),
  version: z.string().describe("of the node's program"),
  ...game,
  account: address.optional(),
  head: z.object({ number: integer, hash, timestamp: seconds }).optional(),
  blocksBehind: integer.optional(),
  silentSince: seconds.optional().meta({ description: "since 1970, while the chain's node gives no answer" }),
  silentSeconds: count.optional(),
  models: z.array(z.string()),
  jobs: z.record(z.string(), count),
  overdue: z
    .array(z.object({ claim: id, kind: z.enum(["commitTrace", "reveal"]), deadline: seconds, bond: integer }))
    .describe("answers to challengers that are late: the bonds of these claims are as good as lost"),
});

const alive = z.object({ status: z.literal("alive"), version: z.string() });

export const ANSWERS = {
  Error: error,
  Result: result,
  SignedResults: signedResults,
  Model: model,
  Models: models,
  Files: files,
  Claim: claim,
  ClaimEvent: claimEvent,
  Request: request,
  Record: record,
  SignedClaim: signedClaim,
  Quote: quote,
  Health: health,
  Alive: alive,
} as const satisfies Record<string, z.ZodType>;
export type AnswerName = keyof typeof ANSWERS;
