/** What of Assay's storage a block's hash shows to whoever trusts it: a request's word, a claim's word, a result.
 *
 *  What this cannot show, and the verifier therefore states: that the block is the chain's and stays it; that the
 *  contract is Assay with answer time T (`codeHash` pins its code). */
import { fromRlp, type Hex, hexToBigInt, keccak256 } from "viem";
import { BaseError } from "../../../base/errors.ts";
import { claimIdOf, type GameAddress, requestIdOf } from "../ids.ts";
import { claimSlot, REQUEST_WORD_BITS, requestSlot, resultSlot } from "../storage-slots.ts";
import type { Claim, ClaimId, Request, RequestId } from "../types.ts";
import { type ClaimWord, decodeClaimWord, decodeRequestWord, type RequestWord } from "../words.ts";
import { type Header, readHeader } from "./header.ts";
import { malformed, unproven } from "./refusal.ts";
import { listOf, Witness } from "./trie.ts";

export interface Evidence {
  readonly request: Request;
  /** absent after truth without a claim that agreed */
  readonly claim?: Claim | undefined;
  /** return data */
  readonly output: Hex;
  /** RLP */
  readonly header: Hex;
  /** RLP of nodes of the state tries, from the header's state root down to the words */
  readonly nodes: readonly Hex[];
}

/** What a verifier knows from elsewhere. */
export interface Trust extends GameAddress {
  /** T, which the contract's constructor fixed */
  readonly answerSeconds: number;
  /** of a block that is the chain's */
  readonly blockHash: Hex;
  /** keccak256 of the code at `assay`; absent: whoever named the address answers for it */
  readonly codeHash?: Hex;
}

/** The storage at the trusted block. Each word is read when it is asked for, and throws RECEIPT_UNPROVEN if the nodes do
 *  not lead to it, RECEIPT_MALFORMED if what they lead to is no word. */
export interface Shown {
  readonly block: Header;
  readonly requestId: RequestId;
  readonly claimId: ClaimId | undefined;
  requestWord(): RequestWord;
  /** hash of what truth settled without a claim that agreed; else undefined */
  settled(): Hex | undefined;
  /** of the claim in the evidence */
  claimWord(): ClaimWord;
}

/** Slots of the words around a request, for `eth_getProof`. */
export function slotsOf(game: GameAddress, { request, claim }: Pick<Evidence, "request" | "claim">): Hex[] {
  const requestId = requestIdOf(game, request);
  const slots = [requestSlot(requestId), resultSlot(requestId)];
  return claim === undefined ? slots : [...slots, claimSlot(claimIdOf(game, claim))];
}

/** @throws BaseError RECEIPT_UNPROVEN for another block, contract or code; RECEIPT_MALFORMED */
export function openEvidence(evidence: Evidence, trust: Trust): Shown {
  const { request, claim } = evidence;
  const block = readHeader(evidence.header);
  if (block.hash !== trust.blockHash) {
    throw unproven(`its header is of block ${block.hash}, the trusted block is ${trust.blockHash}`);
  }
  const read = storageOf(evidence, trust, block);
  const requestId = requestIdOf(trust, request);
  const claimId = claim === undefined ? undefined : claimIdOf(trust, claim);
  return {
    block,
    requestId,
    claimId,
    requestWord: () => decodeRequestWord(BigInt.asUintN(REQUEST_WORD_BITS, read(requestSlot(requestId)))),
    settled: () => {
      const word = read(resultSlot(requestId));
      return word === 0n ? undefined : `0x${word.toString(16).padStart(64, "0")}`;
    },
    claimWord: () => {
      if (claimId === undefined) throw new TypeError("The evidence has no claim.");
      return decodeClaimWord(read(claimSlot(claimId)));
    },
  };
}

/** A check's verdict on what others wrote: never throws, whatever is in it. */
export function verdictOf<Result extends object>(
  check: () => Result,
): ({ readonly valid: true } & Result) | { readonly valid: false; readonly error: BaseError } {
  try {
    return { valid: true, ...check() };
  } catch (error) {
    if (error instanceof BaseError) return { valid: false, error };
    // Fields of another type than the form's: its parser would have named them.
    return { valid: false, error: malformed(error instanceof Error ? error.message : String(error), error) };
  }
}

/** @returns reads a word of the contract's storage at the block */
function storageOf({ nodes }: Evidence, { assay, codeHash }: Trust, { stateRoot }: Header) {
  const witness = new Witness(nodes);
  const account = witness.read(stateRoot, keccak256(assay));
  if (account === undefined) throw unproven(`there is no account ${assay} at the block`);
  const [, , storageRoot, code] = listOf(account, "the account");
  if (typeof storageRoot !== "string" || typeof code !== "string")
    throw malformed("the account has other fields");
  if (codeHash !== undefined && code !== codeHash) {
    throw unproven(`the code at ${assay} has hash ${code}, trusted is ${codeHash}`);
  }
  return (slot: Hex): bigint => {
    const value = witness.read(storageRoot, keccak256(slot));
    if (value === undefined) return 0n;
    const bytes = fromRlp(value);
    if (typeof bytes !== "string" || bytes.length > 66) throw malformed("a storage word is no word");
    return bytes === "0x" ? 0n : hexToBigInt(bytes);
  };
}
