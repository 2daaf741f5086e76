/** Models, their files, and the chain's answer to an input. */
import { z } from "zod";
import { address, count, data, hash, hex, id, integer, lane, time, wei } from "./common.ts";
import { gas, waits } from "./overview.ts";

const parameter: z.ZodType = z.looseObject({ name: z.string(), type: z.string() });
const abiFunction = z.looseObject({
  name: z.string(),
  description: z.string().optional(),
  inputs: z.array(parameter),
  outputs: z.array(parameter),
});

/** What the chain has measured in one lane. */
const laneUse = z.object({
  lane,
  final: count.meta({ description: "outputs that became final in it" }),
  seconds: waits.meta({ description: "from request to final output" }),
  gas: gas.meta({ description: "of the transaction that files the claim, or that settles the request" }),
});

const summary = {
  modelId: id,
  name: z
    .string()
    .optional()
    .meta({ description: "of the manifest; absent where this explorer has no folder of it" }),
  folder: z.string().optional().meta({ description: "name of the folder" }),
  description: z.string().optional(),
  lanes: z.array(lane),
  isProofHalted: z.boolean(),
  isPublished: z
    .boolean()
    .optional()
    .meta({ description: "the chain holds the weights: it can run the model" }),
  steps: count.meta({ description: "0: no program, only a proof says what it computes" }),
  depth: count.meta({ description: "most demands that one path needs" }),
  maxCalldata: count.meta({ description: "bytes" }),
  outputLength: count.meta({ description: "bytes" }),
  inputCodec: z.string(),
  outputCodec: z.string(),
  keyOrigin: z.enum(["ceremony", "development"]).optional().meta({ description: "of the proof lane key" }),
  registeredAt: z.object({ block: count, time, transaction: hash }),
  requests: count,
  claims: count,
  falls: count,
  lastRequestAt: time.optional(),
  use: z.array(laneUse).meta({ description: "of the lanes that it has" }),
};
export const modelSummary = z.object(summary);

const file = z.object({ name: z.string(), bytes: count, sha256: z.string().regex(/^[0-9a-f]{64}$/) });

export const model = z.object({
  ...summary,
  selector: hex.meta({ description: "4 bytes" }),
  weightsRoot: hash.optional(),
  vkHash: hash.optional(),
  inputSize: count,
  weightTensors: count,
  function: abiFunction.optional(),
  manifest: z.record(z.string(), z.unknown()).optional(),
  evaluation: z.record(z.string(), z.unknown()).optional().meta({ description: "content of eval.json" }),
  card: z.string().optional().meta({ description: "README.md of the model, Markdown from whoever wrote it" }),
  hasProgram: z.boolean().meta({ description: "files/program.bin can be read here" }),
  hasWeights: z.boolean().meta({ description: "files/weights.bin can be read here" }),
  files: z.array(file).meta({ description: "what files/{name} gives; with the hash that the content has" }),
  executionGas: integer.optional().meta({ description: "estimated for one run on the chain" }),
  bond: z
    .object({ gasPrice: wei, bond: wei, ticketBond: wei })
    .optional()
    .meta({ description: "of a claim now, at the least gas price" }),
  provers: z
    .array(z.object({ account: address, claims: count, falls: count, lastClaimAt: time }))
    .meta({ description: "who claimed, most claims first; at most 100" }),
  challengers: z.array(z.object({ account: address, tickets: count, lastTicketAt: time })),
  askable: z.array(z.string()).meta({
    description: "provers that serve it and that this explorer asks for its callers: host and port",
  }),
});

/** POST /v1/models/{id}/infer: calldata, or arguments by name. */
export const inferBody = z.union([
  z.strictObject({ input: hex.meta({ description: "calldata, selector included" }) }),
  z.strictObject({ arguments: z.record(z.string(), z.unknown()).meta({ description: "by name" }) }),
]);

/** POST /v1/models/{id}/ask: the same, of a prover. */
const asking = {
  prover: z.string().max(80).meta({ description: "one of the model's `askable`" }),
  finality: z
    .enum(["any", "final"])
    .optional()
    .meta({ description: "final: waits for it, or tells its price" }),
};
export const askBody = z.union([
  z.strictObject({ input: hex, ...asking }),
  z.strictObject({ arguments: z.record(z.string(), z.unknown()), ...asking }),
]);

/** What a prover asks for a final output, as pages can show it: anything else is no price. */
export const proverPrice = z.object({
  price: z
    .string()
    .regex(/^\d{1,78}$/)
    .meta({ description: "in units of the token, for one final output" }),
  asset: address,
  network: z
    .string()
    .regex(/^[-a-z0-9]{3,8}:[-\w]{1,32}$/)
    .meta({ description: "CAIP-2" }),
  payTo: address,
});

export const asked = z.object({
  modelId: id,
  prover: z.string(),
  input: hex,
  seconds: z.number().meta({ description: "that the prover took" }),
  status: z
    .enum(["unverified", "pending", "final", "priced"])
    .meta({ description: "what the prover says; priced: it answers when it is paid" }),
  output: data.optional(),
  requestId: id.optional(),
  claimId: id.optional(),
  price: proverPrice.optional(),
});

export const inference = z.object({
  modelId: id,
  input: hex,
  output: data,
  block: count.meta({ description: "at which the chain ran it" }),
  seconds: z.number().meta({ description: "that the node took" }),
  finality: z.literal("unverified").meta({ description: "one node's word: nothing on the chain holds it" }),
  interpreter: address.meta({ description: "what was called" }),
});
