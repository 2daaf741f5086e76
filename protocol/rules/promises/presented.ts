/** A signed claim with what opening it takes, as JSON: what a prover answers with, and what challengers are handed.
 *
 *      { "chainId": 31337, "promises": "0x…",
 *        "claim": { "prover": "0x…", "modelId": "0x…", "inputHash": "0x…", "outputHash": "0x…", "requester": "0x…",
 *                   "issuedAt": 1700000000, "expiry": 1700086400, "minBond": "0", "salt": "7" },
 *        "signature": "0x…", "input": "0x…", "output": "0x…" }
 *
 *  Integers above 53 bits are decimal text, bytes lower-case hex. */
import { type Hex, isAddressEqual, keccak256 } from "viem";
import * as z from "zod";
import { BaseError } from "../../../base/errors.ts";
import { address, amount, bytes, count, hash } from "../receipt/form.ts";
import type { PromisesAddress, SignedClaim } from "./signed-claim.ts";

/** Bytes of input and output that a transaction of 128 KB has room to open. */
export const MAX_PRESENTED_BYTES = 90_000;

/** A signed claim with all that opening it takes. */
export interface Presented {
  readonly claim: SignedClaim;
  /** r, s and v, 65 bytes */
  readonly signature: Hex;
  /** calldata, selector included */
  readonly input: Hex;
  /** return data */
  readonly output: Hex;
}

const schema = z.strictObject({
  chainId: z.int().positive(),
  promises: address,
  claim: z.strictObject({
    prover: address,
    modelId: hash,
    inputHash: hash,
    outputHash: hash,
    requester: address,
    issuedAt: count(40),
    expiry: count(40),
    minBond: amount(96),
    salt: amount(64),
  }),
  signature: z
    .string()
    .regex(/^0x[0-9a-f]{130}$/, "is no signature (r, s and v, 65 bytes as lower-case hex)"),
  input: bytes(2 * MAX_PRESENTED_BYTES),
  output: bytes(2 * MAX_PRESENTED_BYTES),
});

/** The form above. */
export interface PresentedJson extends PromisesAddress {
  readonly claim: Omit<SignedClaim, "minBond" | "salt"> & { readonly minBond: string; readonly salt: string };
  readonly signature: Hex;
  readonly input: Hex;
  readonly output: Hex;
}

export const renderPresented = (
  { chainId, promises }: PromisesAddress,
  { claim, signature, input, output }: Presented,
): PresentedJson => ({
  ...{ chainId, promises },
  claim: { ...claim, minBond: `${claim.minBond}`, salt: `${claim.salt}` },
  ...{ signature, input, output },
});

/** Reads the form, and sees that it is for this contract and that the hashes are those of its bytes. What a signature is
 *  worth is asked of the chain.
 *  @param value of JSON
 *  @throws BaseError SIGNED_CLAIM_INVALID naming the field, SIGNED_CLAIM_ELSEWHERE, INPUT_MISMATCH, OUTPUT_MISMATCH,
 *  SIGNED_CLAIM_TOO_LARGE */
export function parsePresented(at: PromisesAddress, value: unknown): Presented {
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw refusal(
      "SIGNED_CLAIM_INVALID",
      `The signed claim cannot be read: ${issue?.path.join(".") || "it"}: ${issue?.message}.`,
      "Hand over the JSON as the prover gave it.",
    );
  }
  const { chainId, promises, claim, signature, input, output } = parsed.data;
  if (chainId !== at.chainId || !isAddressEqual(promises, at.promises)) {
    throw refusal(
      "SIGNED_CLAIM_ELSEWHERE",
      `The signed claim is for ${promises} on chain ${chainId}, not for ${at.promises} on chain ${at.chainId}.`,
      "Hand it to whoever watches that deployment.",
    );
  }
  const presented = { claim, signature: signature as Hex, input, output };
  requireWhole(presented);
  return presented;
}

/** @throws BaseError INPUT_MISMATCH, OUTPUT_MISMATCH, SIGNED_CLAIM_TOO_LARGE */
export function requireWhole({ claim, input, output }: Presented): void {
  const size = (input.length + output.length - 4) / 2;
  if (size > MAX_PRESENTED_BYTES) {
    throw refusal(
      "SIGNED_CLAIM_TOO_LARGE",
      `Input and output have ${size} bytes, of which a transaction has room for ${MAX_PRESENTED_BYTES}.`,
      "Ask for a claim on the chain instead.",
    );
  }
  for (const [code, name, data, named] of [
    ["INPUT_MISMATCH", "input", input, claim.inputHash],
    ["OUTPUT_MISMATCH", "output", output, claim.outputHash],
  ] as const) {
    const actual = keccak256(data);
    if (actual === named) continue;
    throw refusal(
      code,
      `The ${name} has the hash ${actual}, the signed claim names ${named}.`,
      `Hand over the ${name} that was signed.`,
    );
  }
}

const refusal = (code: string, shortMessage: string, nextStep: string): BaseError =>
  new BaseError({ code, shortMessage, nextStep });
