/** Where Assay keeps its words, for proofs of its storage (verifier-contracts/assay/AssayState.sol declares them). */
import { concatHex, type Hex, keccak256, numberToHex } from "viem";
import type { ClaimId, RequestId } from "./types.ts";

/** Slot of each mapping from an id to one word. */
const MAPPING = { requests: 0, claims: 1, results: 5 } as const;

/** The request word, with the contract's own copies above its fields. */
export const requestSlot = (id: RequestId): Hex => slotOf(MAPPING.requests, id);
export const claimSlot = (id: ClaimId): Hex => slotOf(MAPPING.claims, id);
/** Hash of what truth settled without a claim that agreed; else zero. */
export const resultSlot = (id: RequestId): Hex => slotOf(MAPPING.results, id);

const slotOf = (mapping: number, key: Hex): Hex =>
  keccak256(concatHex([key, numberToHex(mapping, { size: 32 })]));

/** Bits of the request word's fields. */
export const REQUEST_WORD_BITS = 136;
