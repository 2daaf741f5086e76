/** Receipts: that an output is final, with all that shows it to whoever trusts one block's hash.
 *
 *  It holds the request, the claim and the output, the block's header, and nodes of the state tries from the header's
 *  state root down to the words of Assay's storage that `requireFinal` reads. As JSON, integers above 53 bits are
 *  decimal text. */
import { type Address, getAddress, type Hex, isAddress } from "viem";
import * as z from "zod";
import { jsonOf } from "../../../base/json.ts";
import type { Claim, Request } from "../../../protocol/rules/types.ts";
import { malformed } from "./refusal.ts";

export interface Receipt {
  readonly format: typeof FORMAT;
  readonly request: Request;
  /** absent after truth without a claim that agreed */
  readonly claim?: Claim | undefined;
  /** return data */
  readonly output: Hex;
  /** RLP */
  readonly header: Hex;
  /** RLP of each */
  readonly nodes: readonly Hex[];
}

export const FORMAT = "assay-receipt-1";
/** Hexadecimal digits. Two paths of a state trie have some 20 nodes of at most 532 bytes; headers have some 600. */
const MAX_NODES = 256;
const MAX_NODE_DIGITS = 4_096;
const MAX_HEADER_DIGITS = 16_384;
const MAX_OUTPUT_DIGITS = 1 << 20;

const bytes = (digits: number) =>
  z
    .string()
    .max(2 + digits)
    .regex(/^0x([0-9a-f]{2})*$/, "is no bytes as lower-case hex")
    .transform((text) => text as Hex);
const hash = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/, "is no hash (32 bytes as lower-case hex)")
  // The ids' brands are names of what the hash is of.
  .transform((text) => text as never);
const address = z
  .string()
  .refine((text) => isAddress(text), "is no address")
  .transform((text): Address => getAddress(text));
const amount = (bits: number) =>
  z
    .string()
    .regex(/^(0|[1-9]\d{0,38})$/, "is no decimal integer in quotes")
    .transform((text) => BigInt(text))
    .refine((value) => value < 1n << BigInt(bits), `has more than ${bits} bits`);
const count = (bits: number) =>
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
const receipt = z.strictObject({
  format: z.literal(FORMAT),
  request,
  claim: claim.optional(),
  output: bytes(MAX_OUTPUT_DIGITS),
  header: bytes(MAX_HEADER_DIGITS),
  nodes: z.array(bytes(MAX_NODE_DIGITS)).max(MAX_NODES),
});

export const renderReceipt = (value: Receipt): string => jsonOf(value);

/** @throws BaseError RECEIPT_MALFORMED with the first field that is wrong */
export function parseReceipt(text: string): Receipt {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw malformed("it is not JSON", cause);
  }
  const parsed = receipt.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw malformed(`${issue?.path.join(".") || "it"}: ${issue?.message}`, parsed.error);
}
