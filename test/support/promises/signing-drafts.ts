/** Answers that nobody computed, to be signed. */
import { keccak256, numberToHex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { fromHex } from "../../../base/bytes.ts";
import { type ModelId, ZERO_ADDRESS } from "../../../protocol/rules/types.ts";
import type { SignerOwner } from "../../../prover/promises/journal/schema.ts";
import type { Draft } from "../../../prover/promises/signing/messages.ts";

export const SIGNER_KEY = `0x${"17".repeat(32)}` as const;
export const SIGNER_OWNER: SignerOwner = {
  ...{ chainId: 31_337, promises: `0x${"22".repeat(20)}`, prover: privateKeyToAddress(SIGNER_KEY) },
  blockHash: `0x${"44".repeat(32)}`,
};
export const SIGNED_MODEL = `0x${"55".repeat(32)}` as ModelId;

/** @param isBatched true: its leaf is its number */
export function draftOf(number: number, isBatched = false): Draft {
  const input = numberToHex(number, { size: 36 });
  const output = numberToHex(number + 1, { size: 32 });
  return {
    claim: {
      ...{ prover: SIGNER_OWNER.prover, modelId: SIGNED_MODEL, requester: ZERO_ADDRESS, minBond: 7n },
      ...{ inputHash: keccak256(input), outputHash: keccak256(output), issuedAt: 1_000, expiry: 2_000 },
    },
    ...{ input: fromHex(input), output: fromHex(output) },
    ...(isBatched ? { payload: fromHex(numberToHex(number, { size: 8 })) } : {}),
  };
}
