/** Makes receipts, with a node that answers `eth_getProof`. */
import type { Hex } from "viem";
import { BaseError } from "../../base/errors.ts";
import { requestIdOf } from "../rules/ids.ts";
import { type Evidence, slotsOf } from "../rules/receipt/evidence.ts";
import { encodeHeader } from "../rules/receipt/header.ts";
import { FORMAT, type Receipt } from "../rules/receipt/receipt.ts";
import { verifyReceipt } from "../rules/receipt/verify.ts";
import type { Chain } from "./connect.ts";
import { withContext } from "./errors.ts";
import { ownPolicy } from "./finality.ts";

export type Provable = Pick<Evidence, "request" | "claim" | "output">;

/** A receipt at one block. Nodes keep the state of old blocks for a while only, most of them 128 blocks.
 *  @throws BaseError RECEIPT_UNPROVABLE (retryable) if what the node gave does not verify: the output is not final at
 *  this block, or the chain moved; BLOCK_UNKNOWN; faults of the node */
export async function makeReceipt(chain: Chain, provable: Provable, blockHash: Hex): Promise<Receipt> {
  const receipt: Receipt = { format: FORMAT, ...(await makeEvidence(chain, provable, blockHash)) };
  const trust = { ...chain.game, ...chain.constants, blockHash };
  const verdict = verifyReceipt(receipt, trust, ownPolicy(provable.request));
  if (verdict.valid) return receipt;
  throw unprovable(blockHash, `request ${requestIdOf(chain.game, provable.request)} is final`, verdict.error);
}

/** What the node says of the words at one block, unverified.
 *  @throws BaseError BLOCK_UNKNOWN (retryable); faults of the node */
export async function makeEvidence(
  { client, game }: Chain,
  { request, claim, output }: Provable,
  blockHash: Hex,
): Promise<Evidence> {
  const provable = { request, ...(claim === undefined ? {} : { claim }), output };
  const [block, proof] = await withContext(`prove request ${requestIdOf(game, request)}`, async () => {
    const found = await client.request({ method: "eth_getBlockByHash", params: [blockHash, false] });
    if (found?.number == null) throw gone(blockHash);
    const params = [game.assay, slotsOf(game, provable), found.number] as [Hex, Hex[], Hex];
    return [found, await client.request({ method: "eth_getProof", params })] as const;
  });
  const nodes = [...proof.accountProof, ...proof.storageProof.flatMap((word) => word.proof)];
  return { ...provable, header: encodeHeader(block), nodes: [...new Set(nodes)] };
}

/** @param what the block should show */
export const unprovable = (blockHash: Hex, what: string, cause: BaseError) =>
  new BaseError({
    code: "RECEIPT_UNPROVABLE",
    shortMessage: `Block ${blockHash} does not show that ${what}: ${cause.shortMessage}`,
    nextStep: "Ask again at a newer block, or of a node whose headers have the form of Ethereum's.",
    retryable: true,
    cause,
  });

const gone = (blockHash: Hex) =>
  new BaseError({
    code: "BLOCK_UNKNOWN",
    shortMessage: `The node has no block ${blockHash}.`,
    nextStep: "Take the hash of a block that is on the chain now.",
    retryable: true,
  });
