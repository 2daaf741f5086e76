/** Verifies a receipt offline, as `requireFinal` would have decided in the block whose hash is trusted.
 *
 *  What this shows: at that block, the storage of the contract at `assay` says that the output is final, by the policy.
 *  The caller answers for block and contract (evidence.ts), and, as on chain, the assumptions of the lane must hold. */
import { type Hex, keccak256 } from "viem";
import { formatAmount } from "../../../base/amounts.ts";
import type { BaseError } from "../../../base/errors.ts";
import { isFinal } from "../machine.ts";
import { type ClaimId, LANE, type Policy, type RequestId } from "../types.ts";
import { openEvidence, type Trust, verdictOf } from "./evidence.ts";
import type { Header } from "./header.ts";
import type { Receipt } from "./receipt.ts";
import { unmet } from "./refusal.ts";

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
export const verifyReceipt = (receipt: Receipt, trust: Trust, policy: Demands): Verdict =>
  verdictOf(() => check(receipt, trust, policy));

/** In the order of `requireFinal`, after the way to the storage. */
function check(receipt: Receipt, trust: Trust, policy: Demands) {
  const { request, claim, output } = receipt;
  const shown = openEvidence(receipt, trust);
  const { block, requestId, claimId } = shown;
  if (request.modelId !== policy.modelId) {
    throw unmet("WRONG_MODEL", `it is about model ${request.modelId}, not ${policy.modelId}`);
  }
  if (request.inputHash !== policy.inputHash) {
    throw unmet("WRONG_INPUT", `it is about the input ${request.inputHash}, not ${policy.inputHash}`);
  }
  const word = shown.requestWord();
  if (word.state !== "BUSY" && word.state !== "DONE") {
    throw unmet("NOT_FINAL", `request ${requestId} is ${word.state}`);
  }
  const lane = word.state === "BUSY" ? LANE.BOND : word.lane;
  // None while the request is BUSY.
  const settled = shown.settled();
  let outputHash = settled;
  if (outputHash === undefined) {
    if (claim === undefined || claimId === undefined || claim.requestId !== requestId) {
      throw unmet("WRONG_CLAIM", `request ${requestId} needs a claim of its own`);
    }
    const claimWord = shown.claimWord();
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
  const named = settled === undefined && claimId !== undefined ? { claimId } : {};
  return { requestId, ...named, lane, output, block };
}
