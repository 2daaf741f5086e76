/** Batches of leaves: their ids, roots and paths (docs/PROMISES.md). Leaves themselves are in leaf.ts. */
import { type Address, encodeAbiParameters, type Hex, keccak256, parseAbiParameters } from "viem";
import { concatBytes, equalBytes, fromHex } from "../../../base/bytes.ts";
import { BaseError } from "../../../base/errors.ts";
import { keccak256 as hash, hashPair, ZERO_ROOTS } from "../../../inference/commit/keccak.ts";
import { ceilLog2 } from "../../../inference/program/shape.ts";
import type { ModelId } from "../types.ts";
import { PROMISE_LIMITS } from "./limits.ts";
import type { PromisesAddress } from "./signed-claim.ts";

declare const brand: unique symbol;
/** keccak256 of chain, contract and batch. */
export type BatchId = Hex & { readonly [brand]: "BatchId" };

/** Many claims whose data were posted at once. */
export interface Batch {
  readonly prover: Address;
  readonly modelId: ModelId;
  /** seconds in which leaves can be opened */
  readonly window: number;
  /** leaves, 1 to 1,024 */
  readonly count: number;
  readonly root: Hex;
}

const BATCH_ID = parseAbiParameters([
  "uint256 chainId, address promises, Batch batch",
  "struct Batch { address prover; bytes32 modelId; uint32 window; uint16 count; bytes32 root; }",
]);

export const batchIdOf = ({ chainId, promises }: PromisesAddress, batch: Batch): BatchId =>
  keccak256(encodeAbiParameters(BATCH_ID, [BigInt(chainId), promises, batch])) as BatchId;

/** The tree over the leaves of a batch: of ⌈log2 count⌉ levels, missing leaves being 32 zero bytes. */
export interface BatchTree {
  readonly root: Uint8Array;
  /** Hash of each leaf. */
  readonly leaves: readonly Uint8Array[];
  /** Siblings of a leaf up to the root, bottom up. @throws BaseError LEAF_OUTSIDE */
  readonly pathOf: (index: number) => readonly Uint8Array[];
}

/** What stands for a missing node. */
const zeroAt = (height: number): Uint8Array => ZERO_ROOTS[height] as Uint8Array;

/** @param payloads bytes of each leaf
 *  @throws BaseError LEAF_COUNT_OUT_OF_RANGE unless there are 1 to 1,024 */
export function batchTree(payloads: readonly Uint8Array[]): BatchTree {
  const count = payloads.length;
  const limit = PROMISE_LIMITS.maxLeaves;
  if (count < 1 || count > limit) {
    throw new BaseError({
      code: "LEAF_COUNT_OUT_OF_RANGE",
      shortMessage: `The batch has ${count} leaves, must have 1 to ${limit}.`,
      nextStep: "Post more batches of fewer leaves.",
      details: { count, limit },
    });
  }
  const leaves = payloads.map(hash);
  let nodes = leaves;
  const levels: (readonly Uint8Array[])[] = [];
  for (let height = 0; height < ceilLog2(count); height++) {
    const below = nodes;
    levels.push(below);
    nodes = Array.from({ length: Math.ceil(below.length / 2) }, (_, i) =>
      hashPair(below[2 * i] as Uint8Array, below[2 * i + 1] ?? zeroAt(height)),
    );
  }
  const pathOf = (index: number) => {
    requireInside(index, count);
    return levels.map((nodes, height) => nodes[(index >> height) ^ 1] ?? zeroAt(height));
  };
  return { root: nodes[0] as Uint8Array, leaves, pathOf };
}

/** True if these bytes are the leaf of this index.
 *  @throws BaseError LEAF_OUTSIDE */
export function isInBatch(
  { count, root }: Pick<Batch, "count" | "root">,
  index: number,
  payload: Uint8Array,
  path: readonly Uint8Array[],
): boolean {
  requireInside(index, count);
  // All leaves are equally deep, so no node passes as a leaf.
  if (path.length !== ceilLog2(count)) return false;
  const folded = path.reduce(
    (node, sibling, height) => ((index >> height) & 1 ? hashPair(sibling, node) : hashPair(node, sibling)),
    hash(payload),
  );
  return equalBytes(folded, fromHex(root));
}

function requireInside(index: number, count: number): void {
  if (Number.isInteger(index) && index >= 0 && index < count) return;
  throw new BaseError({
    code: "LEAF_OUTSIDE",
    shortMessage: `Leaf ${index} is outside of a batch of ${count}.`,
    nextStep: `Ask for a leaf from 0 to ${count - 1}.`,
    details: { index, limit: count },
  });
}

/** The data that a batch is posted with. */
export const joinLeaves = (payloads: readonly Uint8Array[]): Uint8Array => concatBytes(...payloads);
