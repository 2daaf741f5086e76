/** Waits for finality, in whatever lane comes first. */

import { fromHex } from "../../base/bytes.ts";
import { meaningOf, type Reading } from "../../inference/meaning/read.ts";
import { awaitResult, type FinalResult, type WaitOptions } from "../../protocol/chain/await-result.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { laneName } from "../../protocol/chain/finality.ts";
import { makeReceipt } from "../../protocol/chain/make-receipt.ts";
import { decodeReturn } from "../../protocol/rules/abi.ts";
import type { Receipt } from "../../protocol/rules/receipt/receipt.ts";
import type { LaneName, Policy, RequestId } from "../../protocol/rules/types.ts";
import type { Values } from "./model.ts";
import type { Asked } from "./request.ts";

export type FinalityTerms = Omit<WaitOptions, "pollIntervalMs" | "policy"> & {
  /** default 1,000 */
  readonly pollIntervalMs?: number;
  /** what the output must be final by; default: the request's own terms */
  readonly policy?: Partial<Omit<Policy, "modelId" | "inputHash">>;
};

export interface Final extends Omit<FinalResult, "lane"> {
  readonly requestId: RequestId;
  readonly lane: LaneName | undefined;
  /** the output by name */
  readonly values: Values;
  /** what it says, by the model's manifest; for display only */
  readonly meaning?: Reading;
}

/** @throws BaseError REQUEST_UNANSWERED, REQUEST_REFUNDED, POLICY_UNMET; when the signal aborts NOT_FINAL, naming the
 *  claim, or the fault of a node that cannot be read */
export async function wait(chain: Chain, asked: Asked, terms: FinalityTerms = {}): Promise<Final> {
  const { request, requestId, model } = asked;
  const { pollIntervalMs = 1_000, policy, ...options } = terms;
  const result = await awaitResult(chain, request, {
    ...options,
    pollIntervalMs,
    policy: policyOf(asked, policy),
  });
  const values = decodeReturn(model.function, result.output);
  const read = meaningOf(model.readable, fromHex(result.output));
  return { ...result, requestId, lane: laneName(result.lane), values, ...read };
}

/** The request's own terms, with what is demanded besides. */
export const policyOf = (
  { request }: Pick<Asked, "request">,
  more: FinalityTerms["policy"] = {},
): Policy => ({
  modelId: request.modelId,
  inputHash: request.inputHash,
  lanes: more.lanes ?? request.lanes,
  minBond: more.minBond ?? request.minBond,
  minWindow: more.minWindow ?? request.window,
});

/** A receipt of a final output at the block in which it was found final, for whoever trusts that block's hash.
 *  @throws BaseError as makeReceipt does */
export function receiptOf(chain: Chain, { request }: Asked, final: Final): Promise<Receipt> {
  return makeReceipt(chain, { request, ...pick(final), output: final.output }, final.block.hash);
}

const pick = ({ claim }: Final) => (claim === undefined ? {} : { claim });
