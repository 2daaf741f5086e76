/** What a dispute has opened of a claimed trace, down to the arithmetic of a conviction. */
import { z } from "zod";
import { address, count, fallReason, hash, hex, id, integer, time } from "./common.ts";

/** Where a node stands. `step` -1: the tree over the tensor roots. Level 0 nodes are words, or tensor roots. */
const place = { step: z.int().min(-1), level: count, index: count };

const opened = z.object({
  ...place,
  position: integer.meta({ description: "as the contract encodes it" }),
  text: z.string(),
  demandedBy: address,
  demandedAt: time,
  demandTransaction: hash,
  deadline: time,
  isOverdue: z.boolean().meta({ description: "nobody answered in time" }),
  revealedAt: time.optional(),
  revealTransaction: hash.optional(),
  opens: z.enum(["roots", "nodes", "words"]),
  openedLevel: count,
  first: count.meta({ description: "index of the first opened node at its level" }),
  content: z.array(hash).optional().meta({ description: "hashes or words, once revealed" }),
  elements: z
    .object({
      first: count.meta({ description: "row-major index of the first element" }),
      values: z
        .array(z.number().nullable())
        .meta({ description: "of each word 32 bytes' elements; null: padding, or no finite number" }),
    })
    .optional()
    .meta({ description: "of opened words, row by row, where the model's program is known" }),
});

/** A step as its record says. */
const stepView = z.object({
  index: count,
  opcode: z.string(),
  variant: z.string().optional(),
  type: z.enum(["u8", "s8", "s32", "f32", "bool"]),
  dims: z.array(count),
  text: z.string().meta({ description: "as `assay model inspect` prints it" }),
});

/** One operand's words as the convicting transaction opened them. */
const operand = z.object({
  name: z.enum(["output", "a", "b", "c"]),
  source: z.enum(["step", "weights"]),
  index: count.meta({ description: "of the step or weight tensor" }),
  row: count,
  word: count.optional().meta({ description: "absent: all words of the row" }),
  type: z.enum(["u8", "s8", "s32", "f32", "bool"]),
  words: z.array(hash),
  values: z
    .array(z.number().nullable())
    .meta({ description: "of the elements in these words, without padding; null: no finite number" }),
});

/** The parameter word of a channel. */
const channel = z.object({
  bias: z.int(),
  multiplier: count,
  addend: integer,
  shift: count,
  scale: z.number().optional().meta({ description: "binary32; absent: its bits are no finite number" }),
  zeroPoint: z.int().meta({ description: "stored form, as the clamps" }),
  lower: z.int(),
  upper: z.int(),
  weightOffset: z.int(),
});

/** How an accumulator becomes a stored byte. */
const requantization = z.object({
  form: z.enum(["integer", "binary32", "none"]),
  product: integer.optional().meta({ description: "integer: accumulator times multiplier" }),
  sum: integer.optional().meta({ description: "integer: product plus addend, 64 bits" }),
  shifted: integer.optional().meta({ description: "integer: sum >> shift" }),
  scaled: z.number().optional().meta({ description: "binary32: accumulator times scale" }),
  rounded: z.number().optional(),
  withZeroPoint: z.number().optional(),
  bits: count.optional().meta({ description: "u of DOT rescaled: kept between -2^u and 2^u - 1" }),
  clamped: z
    .number()
    .optional()
    .meta({ description: "what is stored; of RESCALE planes the number of which a byte is" }),
});

/** DOT: row of activations times row of weights. */
const dot = z.object({
  kind: z.literal("dot"),
  channel: count,
  activations: z.array(count).meta({ description: "stored bytes; of DOT planes numbers of 16 bits" }),
  weights: z.array(z.int()).meta({ description: "stored bytes less the weight offset" }),
  storedWeights: z.array(count),
  products: z.array(z.int()).meta({ description: "activation times weight, element by element" }),
  sum: z.int().meta({ description: "of the products" }),
  bias: z.int(),
  accumulator: z.int().meta({ description: "sum plus bias, 32 bits" }),
  parameters: channel,
  requantization,
  added: z.int().optional().meta({ description: "of DOT rescaled: added to what is clamped, 32 bits" }),
});

/** DOT activations: row of a times row of b, both computed. */
const rows = z.object({
  kind: z.literal("rows"),
  left: z.array(z.int()).meta({ description: "values of the row of a" }),
  right: z.array(z.int()).meta({ description: "values of the row of b" }),
  products: z.array(z.int()).meta({ description: "left times right, element by element" }),
  sum: z.int().meta({ description: "of the products: the element" }),
});

/** REQUANT and RESCALE: one accumulator by a channel's parameters. */
const rescaled = z.object({
  kind: z.literal("channel"),
  channel: count,
  input: z.int(),
  accumulator: z.int().meta({ description: "input plus bias" }),
  parameters: channel,
  requantization,
});

/** Any other opcode: values of the operands, and the element that they give. */
const plain = z.object({ kind: z.literal("operands") });

const element = z.object({
  kind: z.literal("ELEMENT"),
  step: stepView,
  element: count,
  coordinates: z.array(count).meta({ description: "of the element in the step's tensor" }),
  operands: z.array(operand),
  arithmetic: z.discriminatedUnion("kind", [dot, rows, rescaled, plain]),
  expected: z
    .number()
    .nullable()
    .meta({ description: "the contract's verdict, as a value of the step's type; null: no finite number" }),
  claimed: z.number().nullable(),
  recomputed: z.number().optional().meta({ description: "by this explorer from the same operands" }),
});

const codec = z.object({
  kind: z.literal("CODEC"),
  step: stepView,
  input: hex,
  expectedRoot: hash,
  claimedRoot: hash,
});

const output = z.object({
  kind: z.literal("OUTPUT"),
  element: count,
  output: hex.meta({ description: "that the claim states" }),
  expected: integer.meta({ description: "what the committed trace encodes to, or what its form must be" }),
  claimed: integer,
});

const timeout = z.object({
  kind: z.enum(["TRACE_TIMEOUT", "DEMAND_TIMEOUT"]),
  position: z.object({ ...place, position: integer }).optional(),
  deadline: time.optional(),
});

const truth = z.object({
  kind: z.literal("TRUTH"),
  lane: z.string(),
  output: hex.meta({ description: "that the chain executed, or whose proof it verified" }),
  claimedOutput: hex,
});

export const conviction = z.object({
  reason: fallReason,
  at: time,
  block: count,
  transaction: hash,
  by: address,
  gasUsed: count,
  verdict: z.object({ step: integer, element: integer, expected: integer, claimed: integer }).meta({
    description: "arguments of the event Fell, as the contract wrote them",
  }),
  fault: z
    .union([element, codec, output, timeout, truth])
    .optional()
    .meta({ description: "absent where it cannot be decoded; `undecoded` then says why" }),
  undecoded: z.string().optional(),
});

export const dispute = z.object({
  claimId: id,
  modelId: id,
  isOver: z.boolean(),
  traceRoot: hash.optional(),
  traceDeadline: time.optional(),
  traceCommittedAt: time.optional(),
  traceTransaction: hash.optional(),
  topLevel: count.optional().meta({ description: "level of `tops` in the tree over the tensor roots" }),
  tops: z.array(hash).meta({ description: "as commitTrace published them" }),
  steps: z
    .array(
      z.object({
        ...stepView.shape,
        root: hash.optional().meta({ description: "of its tensor, as claimed, once it is known" }),
        height: count.meta({ description: "of its tree" }),
        rows: count,
        words: count.meta({ description: "of a row" }),
      }),
    )
    .meta({ description: "of the model's program; empty where the model has none" }),
  openings: z.array(opened).meta({ description: "in the order of the demands" }),
  conviction: conviction.optional().meta({ description: "once the claim fell" }),
});
