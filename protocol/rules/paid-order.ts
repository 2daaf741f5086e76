/** What a payment of x402 is for, in the nonce that its payer signs: whoever sees the payment can use it for nothing else.
 *  The nonce is a commitment with a salt that stands in the payment's header alone, so the token's chain shows nobody
 *  what was bought. docs/X402.md, Bound payments. */
import {
  type Address,
  encodeAbiParameters,
  type Hex,
  hexToBigInt,
  keccak256,
  parseAbiParameters,
  toHex,
} from "viem";
import * as z from "zod";
import { BaseError } from "../../base/errors.ts";
import type { GameAddress } from "./ids.ts";

/** The extension of x402 in which a prover names the order, and a payer the salt. */
export const ORDER_EXTENSION = "assay-order";

/** What is bought: an output of one input, final, or signed for a requester. */
export interface PaidOrder extends GameAddress {
  readonly kind: "final" | "signed";
  readonly model: Hex;
  readonly inputHash: Hex;
  /** that a signed claim names; zero for a final output, which is everybody's */
  readonly requester: Address;
}

/** The first four bytes of such a nonce, "assy": one that is random has them once in 2^32. */
const MARK = toHex("assy");
const FIELDS = parseAbiParameters(
  "string form, string kind, uint256 chainId, address assay, bytes32 model, bytes32 inputHash, address requester, bytes32 salt",
);

/** The Permit2 nonce of a payment for this order: the mark and 28 bytes of a hash.
 *  @param salt 32 random bytes, which are nobody's but the payer's and the prover's */
export function boundNonce(order: PaidOrder, salt: Hex): bigint {
  const { kind, chainId, assay, model, inputHash, requester } = order;
  const hash = keccak256(
    encodeAbiParameters(FIELDS, [
      ORDER_EXTENSION,
      ...([kind, BigInt(chainId), assay, model, inputHash, requester, salt] as const),
    ]),
  );
  return hexToBigInt(`${MARK}${hash.slice(MARK.length)}`);
}

/** Whether a nonce says that its payment is bound to some order.
 *  @param nonce what a header has: it may be longer than 32 bytes */
export const isBound = (nonce: bigint): boolean =>
  `0x${nonce.toString(16).padStart(64, "0")}`.startsWith(MARK);

/** @param salt as the payment's header has it @param isDemanded whether payments that are bound to nothing are refused
 *  @throws BaseError PAYMENT_OTHER_ORDER, PAYMENT_UNBOUND */
export function requireBound(
  nonce: bigint,
  salt: Hex | undefined,
  order: PaidOrder,
  isDemanded: boolean,
): void {
  if (!isBound(nonce)) {
    if (isDemanded) throw unbound();
    return;
  }
  if (salt === undefined || boundNonce(order, salt) !== nonce) throw otherOrder(order);
}

const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/) as unknown as z.ZodType<Address>;
const word = z.string().regex(/^0x[0-9a-f]{64}$/) as unknown as z.ZodType<Hex>;
const orderForm = z.looseObject({
  info: z.looseObject({
    kind: z.enum(["final", "signed"]),
    chainId: z.number().int().positive(),
    assay: address,
    model: word,
    inputHash: word,
    requester: address,
  }),
});
const saltForm = z.looseObject({ info: z.looseObject({ salt: word }) });
type Extensions = Readonly<Record<string, unknown>> | undefined;

/** The order that a prover's terms name; undefined: none. */
export function orderIn(extensions: Extensions): PaidOrder | undefined {
  const { data } = orderForm.safeParse(extensions?.[ORDER_EXTENSION]);
  return data?.info;
}

/** The salt in a payment's header; undefined: none. */
export const saltIn = (extensions: Extensions): Hex | undefined =>
  saltForm.safeParse(extensions?.[ORDER_EXTENSION]).data?.info.salt;

const otherOrder = ({ kind, model, inputHash, requester }: PaidOrder) =>
  new BaseError({
    code: "PAYMENT_OTHER_ORDER",
    shortMessage: `The payment is bound to another order than the ${kind} output of input ${inputHash} of model ${model} for ${requester}.`,
    nextStep: "Sign a payment for this order by the terms in PAYMENT-REQUIRED; nothing was taken.",
    details: { kind, model, inputHash, requester },
  });

const unbound = () =>
  new BaseError({
    code: "PAYMENT_UNBOUND",
    shortMessage: "The payment's nonce is bound to no order, and this prover takes only payments that are.",
    nextStep: `Sign with boundScheme of @assay/sdk/x402, by the extension ${ORDER_EXTENSION} of PAYMENT-REQUIRED; nothing was taken.`,
  });
