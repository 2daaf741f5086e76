/** Whether a leaf stands in its batch, from nothing but the batch's id. */
import { equalBytes, fromHex, type Hex, toHex } from "../../../base/bytes.ts";
import { hashPair, keccak256 } from "../../../inference/commit/keccak.ts";
import type { Program } from "../../../inference/program/form.ts";
import { outputLength } from "../../../inference/program/shape.ts";
import { type Batch, batchIdOf, isInBatch } from "../../../protocol/rules/promises/batch.ts";
import { expandLeaf, type LeafModel } from "../../../protocol/rules/promises/leaf.ts";
import type { PromisesAddress } from "../../../protocol/rules/promises/signed-claim.ts";
import type { Leaf } from "../../api/types.ts";

export type LeafProof = Pick<Leaf["proof"], "batch" | "index" | "payload" | "path">;

export interface LeafPlace {
  /** hashes from the leaf up to what its path folds to */
  readonly nodes: readonly Hex[];
  /** the path leads to the batch's root */
  readonly isInBatch: boolean;
  /** the id commits to prover, model, window, count and root */
  readonly isOfId: boolean;
  /** what the leaf's bytes stand for: calldata, and the return data that the prover stated */
  readonly input: Hex;
  readonly output: Hex;
}

export const leafModelOf = (program: Program, selector: Uint8Array): LeafModel => ({
  selector: new DataView(selector.buffer, selector.byteOffset).getUint32(0),
  inputCodec: program.inputCodec,
  outputCodec: program.outputCodec,
  inputSize: program.inputSize,
  outputLength: outputLength(program),
});

/** @throws BaseError LEAF_LENGTH_WRONG for bytes that are no leaf of this model, LEAF_OUTSIDE */
export function checkPlace(
  at: PromisesAddress,
  batchId: Hex,
  model: LeafModel,
  { batch, index, payload, path }: LeafProof,
): LeafPlace {
  const bytes = fromHex(payload);
  const siblings = path.map(fromHex);
  const { input, output } = expandLeaf(model, bytes);
  const nodes = [keccak256(bytes)];
  for (const [height, sibling] of siblings.entries()) {
    const node = nodes[height] as Uint8Array;
    nodes.push((index >> height) & 1 ? hashPair(sibling, node) : hashPair(node, sibling));
  }
  return {
    nodes: nodes.map(toHex),
    isInBatch: isInBatch(batch as Batch, index, bytes, siblings),
    isOfId: equalBytes(fromHex(batchIdOf(at, batch as Batch)), fromHex(batchId)),
    input: toHex(input),
    output: toHex(output),
  };
}
