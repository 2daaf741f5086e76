/** The forms of what receipts and records hold, as JSON: integers above 53 bits are decimal text. */
import { type Address, getAddress, type Hex, isAddress } from "viem";
import * as z from "zod";
import { malformed } from "./refusal.ts";

/** Hexadecimal digits. Two paths of a state trie have some 20 nodes of at most 532 bytes; headers have some 600. */
const MAX_NODES = 256;
const MAX_NODE_DIGITS = 4_096;
const MAX_HEADER_DIGITS = 16_384;
const MAX_OUTPUT_DIGITS = 1 << 20;
/** A transaction has at most 128 KB. */
export const MAX_CALLDATA_DIGITS = 1 << 18;

export const bytes = (digits: number) =>
  z
    .string()
    .max(2 + digits)
    .regex(/^0x([0-9a-f]{2})*$/, "is no bytes as lower-case hex")
    .transform((text) => text as Hex);
export const hash = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/, "is no hash (32 bytes as lower-case hex)")
  // The ids' brands are names of what the hash is of.
  .transform((text) => text as never);
export const address = z
  .string()
  .refine((text) => isAddress(text), "is no address")
  .transform((text): Address => getAddress(text));
export const amount = (bits: number) =>
  z
    .string()
    .regex(/^(0|[1-9]\d{0,77})$/, "is no decimal integer in quotes")
    .transform((text) => BigInt(text))
    .refine((value) => value < 1n << BigInt(bits), `has more than ${bits} bits`);
export const count = (bits: number) =>
  z
    .int()
    .min(0)
    .lt(2 ** bits);

const request = z.strictObject({
  requester: address,
  modelId: hash,
  inputHash: hash,
  lanes: count(8),
  fee: amount(96),
  deliveryFee: amount(96),
  minBond: amount(96),
  window: count(32),
  expiry: count(40),
  exclusiveProver: address,
  exclusiveUntil: count(40),
  callback: address,
  callbackGas: count(32),
  salt: amount(64),
});
const claim = z.strictObject({
  requestId: hash,
  modelId: hash,
  attempt: count(32),
  prover: address,
  operator: address,
  outputHash: hash,
  bond: amount(96),
  ticketBond: amount(96),
  gasPrice: amount(64),
});
/** Members of every form that has evidence. */
export const EVIDENCE_FORM = {
  request,
  claim: claim.optional(),
  output: bytes(MAX_OUTPUT_DIGITS),
  header: bytes(MAX_HEADER_DIGITS),
  nodes: z.array(bytes(MAX_NODE_DIGITS)).max(MAX_NODES),
};

/** @throws BaseError RECEIPT_MALFORMED with the first field that is wrong */
export function parseForm<Schema extends z.ZodType>(form: Schema, text: string): z.output<Schema> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw malformed("it is not JSON", cause);
  }
  const parsed = form.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw malformed(`${issue?.path.join(".") || "it"}: ${issue?.message}`, parsed.error);
}
