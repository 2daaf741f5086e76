/** Verifies a receipt offline, as `requireFinal` would have decided in the block whose hash is trusted.
 *
 *  What this shows: at that block, the storage of the contract at `assay` says that the output is final, by the policy.
 *  What it cannot show, and the caller therefore states: that the block is the chain's and stays it; that the contract
 *  is Assay with answer time T (`codeHash` pins its code); and, as on chain, that the assumptions of the lane hold. */
import { fromRlp, type Hex, hexToBigInt, keccak256 } from "viem";
import { formatAmount } from "../../../base/amounts.ts";
import { BaseError } from "../../../base/errors.ts";
import { claimIdOf, type GameAddress, requestIdOf } from "../../../protocol/rules/ids.ts";
import { isFinal } from "../../../protocol/rules/machine.ts";
import {
  claimSlot,
  REQUEST_WORD_BITS,
  requestSlot,
  resultSlot,
} from "../../../protocol/rules/storage-slots.ts";
import { type ClaimId, LANE, type Policy, type RequestId } from "../../../protocol/rules/types.ts";
import { decodeClaimWord, decodeRequestWord } from "../../../protocol/rules/words.ts";
import { type Header, readHeader } from "./header.ts";
import type { Receipt } from "./receipt.ts";
import { malformed, unmet, unproven } from "./refusal.ts";
import { listOf, Witness } from "./trie.ts";

/** What a verifier knows from elsewhere. */
export interface Trust extends GameAddress {
  /** T, which the contract's constructor fixed */
  readonly answerSeconds: number;
  /** of a block that is the chain's */
  readonly blockHash: Hex;
  /** keccak256 of the code at `assay`; absent: whoever named the address answers for it */
  readonly codeHash?: Hex;
}

export type Verdict =
  | {
      readonly valid: true;
      readonly requestId: RequestId;
      readonly claimId?: ClaimId;
      readonly lane: number;
      readonly output: Hex;
      /** the trusted block */
      readonly block: Header;
    }
  | {
      readonly valid: false;
      /** RECEIPT_MALFORMED, RECEIPT_UNPROVEN, or the name of the rule of the policy that is not met */
      readonly error: BaseError;
    };

/** What the caller demands of the output; ids as they come from a manifest. */
export type Demands = Omit<Policy, "modelId"> & { readonly modelId: Hex };

/** Never throws for a receipt, whatever is in it. */
export function verifyReceipt(receipt: Receipt, trust: Trust, policy: Demands): Verdict {
  try {
    return { valid: true, ...check(receipt, trust, policy) };
  } catch (error) {
    if (error instanceof BaseError) return { valid: false, error };
    // Fields of another type than the receipt's: parseReceipt would have named them.
    return { valid: false, error: malformed(error instanceof Error ? error.message : String(error), error) };
  }
}

/** In the order of `requireFinal`, after the way to the storage. */
function check(receipt: Receipt, trust: Trust, policy: Demands) {
  const { request, claim, output } = receipt;
  const block = readHeader(receipt.header);
  if (block.hash !== trust.blockHash) {
    throw unproven(`its header is of block ${block.hash}, the trusted block is ${trust.blockHash}`);
  }
  const read = storageOf(receipt, trust, block);
  if (request.modelId !== policy.modelId) {
    throw unmet("WRONG_MODEL", `it is about model ${request.modelId}, not ${policy.modelId}`);
  }
  if (request.inputHash !== policy.inputHash) {
    throw unmet("WRONG_INPUT", `it is about the input ${request.inputHash}, not ${policy.inputHash}`);
  }
  const requestId = requestIdOf(trust, request);
  const word = decodeRequestWord(BigInt.asUintN(REQUEST_WORD_BITS, read(requestSlot(requestId))));
  if (word.state !== "BUSY" && word.state !== "DONE") {
    throw unmet("NOT_FINAL", `request ${requestId} is ${word.state}`);
  }
  const lane = word.state === "BUSY" ? LANE.BOND : word.lane;
  // Zero while the request is BUSY.
  const settled = read(resultSlot(requestId));
  const claimId = claim === undefined ? undefined : claimIdOf(trust, claim);
  let outputHash = hashOf(settled);
  if (settled === 0n) {
    if (claim === undefined || claimId === undefined || claim.requestId !== requestId) {
      throw unmet("WRONG_CLAIM", `request ${requestId} needs a claim of its own`);
    }
    const claimWord = decodeClaimWord(read(claimSlot(claimId)));
    if (!isFinal(claimWord, trust.answerSeconds, block.timestamp)) {
      const { state, pending } = claimWord;
      throw unmet(
        "NOT_FINAL",
        `claim ${claimId} is ${state} with ${pending} answers owed at ${block.timestamp}`,
      );
    }
    outputHash = claim.outputHash;
  }
  if (keccak256(output) !== outputHash) {
    throw unmet("WRONG_OUTPUT", `the output's hash is ${keccak256(output)}, the final one ${outputHash}`);
  }
  if ((policy.lanes & lane) === 0) {
    throw unmet("WRONG_LANE", `it is final in lane ${lane}, the policy takes ${policy.lanes}`);
  }
  if (lane === LANE.BOND) {
    const bond = claim?.bond ?? 0n;
    if (bond < policy.minBond)
      throw unmet("BOND_TOO_SMALL", `its bond is ${formatAmount(bond)} of ${formatAmount(policy.minBond)}`);
    if (request.window < policy.minWindow) {
      throw unmet("WINDOW_TOO_SHORT", `its window is ${request.window} s of ${policy.minWindow}`);
    }
  }
  // After truth without a claim that agreed, whatever claim the receipt names had no part in it.
  const named = settled === 0n && claimId !== undefined ? { claimId } : {};
  return { requestId, ...named, lane, output, block };
}

/** @returns reads a word of the contract's storage at the block */
function storageOf({ nodes }: Receipt, { assay, codeHash }: Trust, { stateRoot }: Header) {
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

const hashOf = (word: bigint): Hex => `0x${word.toString(16).padStart(64, "0")}`;
