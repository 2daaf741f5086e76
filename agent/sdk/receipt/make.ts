/** Makes receipts, with a node that answers `eth_getProof`. */
import type { Hex } from "viem";
import { BaseError } from "../../../base/errors.ts";
import type { Chain } from "../../../protocol/chain/connect.ts";
import { withContext } from "../../../protocol/chain/errors.ts";
import { ownPolicy } from "../../../protocol/chain/finality.ts";
import { claimIdOf, requestIdOf } from "../../../protocol/rules/ids.ts";
import { claimSlot, requestSlot, resultSlot } from "../../../protocol/rules/storage-slots.ts";
import type { Claim, Request } from "../../../protocol/rules/types.ts";
import { encodeHeader } from "./header.ts";
import { FORMAT, type Receipt } from "./receipt.ts";
import { verifyReceipt } from "./verify.ts";

export interface Provable {
  readonly request: Request;
  /** absent after truth without a claim that agreed */
  readonly claim?: Claim;
  readonly output: Hex;
}

/** A receipt at one block. Nodes keep the state of old blocks for a while only, most of them 128 blocks.
 *  @throws BaseError RECEIPT_UNPROVABLE (retryable) if what the node gave does not verify: the output is not final at
 *  this block, or the chain moved; faults of the node */
export async function makeReceipt(
  { client, game, constants }: Chain,
  { request, claim, output }: Provable,
  blockHash: Hex,
): Promise<Receipt> {
  const requestId = requestIdOf(game, request);
  const slots = [requestSlot(requestId), resultSlot(requestId)];
  if (claim !== undefined) slots.push(claimSlot(claimIdOf(game, claim)));
  const [block, proof] = await withContext(`prove request ${requestId}`, async () => {
    const found = await client.request({ method: "eth_getBlockByHash", params: [blockHash, false] });
    if (found?.number == null) throw gone(blockHash);
    const params = [game.assay, slots, found.number] as [Hex, Hex[], Hex];
    return [found, await client.request({ method: "eth_getProof", params })] as const;
  });
  const nodes = [...proof.accountProof, ...proof.storageProof.flatMap((word) => word.proof)];
  const receipt: Receipt = {
    format: FORMAT,
    request,
    ...(claim === undefined ? {} : { claim }),
    output,
    header: encodeHeader(block),
    nodes: [...new Set(nodes)],
  };
  const verdict = verifyReceipt(receipt, { ...game, ...constants, blockHash }, ownPolicy(request));
  if (verdict.valid) return receipt;
  throw new BaseError({
    code: "RECEIPT_UNPROVABLE",
    shortMessage: `Block ${blockHash} does not show that request ${requestId} is final: ${verdict.error.shortMessage}`,
    nextStep: "Ask again at a newer block, or of a node whose headers have the form of Ethereum's.",
    retryable: true,
    cause: verdict.error,
  });
}

const gone = (blockHash: Hex) =>
  new BaseError({
    code: "BLOCK_UNKNOWN",
    shortMessage: `The node has no block ${blockHash}.`,
    nextStep: "Take the hash of a block that is on the chain now.",
    retryable: true,
  });
