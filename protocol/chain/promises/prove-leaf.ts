/** What `requireFinalLeaf` takes to read a leaf as a final one. */
import { encodeFunctionData, type Hex, keccak256 } from "viem";
import { toHex } from "../../../base/bytes.ts";
import { iPromiseReaderAbi } from "../../rules/generated/abis.ts";
import { type Batch, batchTree } from "../../rules/promises/batch.ts";
import { expandLeaf, type LeafModel, splitBatch } from "../../rules/promises/leaf.ts";
import { LANE } from "../../rules/types.ts";
import type { LeafPolicy } from "./reads.ts";

export interface LeafProof {
  readonly batch: Batch;
  readonly index: number;
  /** the leaf's bytes in the batch's data */
  readonly payload: Hex;
  /** siblings up to the root, bottom up */
  readonly path: readonly Hex[];
  /** the strictest under which it is final without a least bond */
  readonly policy: LeafPolicy;
  /** of the call, for the contract PromiseReader */
  readonly calldata: Hex;
  /** what the leaf stands for: the model's calldata and return data */
  readonly input: Hex;
  readonly output: Hex;
}

/** @param data leaves of the batch, one after another
 *  @throws BaseError LEAF_OUTSIDE, LEAF_LENGTH_WRONG */
export function proveLeaf(model: LeafModel, batch: Batch, data: Uint8Array, index: number): LeafProof {
  const payloads = splitBatch(model, data);
  // Refuses an index that is outside.
  const path = batchTree(payloads).pathOf(index).map(toHex);
  const bytes = payloads[index] as Uint8Array;
  const { input, output } = expandLeaf(model, bytes);
  const payload = toHex(bytes);
  const policy: LeafPolicy = {
    ...{ modelId: batch.modelId, inputHash: keccak256(input), lanes: LANE.BOND, minBond: 0n },
    minWindow: batch.window,
  };
  const calldata = encodeFunctionData({
    abi: iPromiseReaderAbi,
    functionName: "requireFinalLeaf",
    args: [batch, BigInt(index), payload, path, policy],
  });
  return { batch, index, payload, path, policy, calldata, input: toHex(input), output: toHex(output) };
}
