/** The leaves of batches, as their events posted them: what is opened must be one of these. */
import { type Hex, keccak256 } from "viem";
import { concatBytes, equalBytes, fromHex, toHex } from "../../../base/bytes.ts";
import { isBaseError } from "../../../base/errors.ts";
import { type BatchId, batchTree } from "../../rules/promises/batch.ts";
import { compactLeaf, type LeafModel, splitBatch } from "../../rules/promises/leaf.ts";
import { ZERO_HASH } from "../../rules/types.ts";

const HASH_BYTES = 32;

/** Of a batch's data. */
export interface ReadLeaves {
  readonly count: number;
  /** zero where a batch may not have so many leaves */
  readonly root: Hex;
  /** of each leaf, one after another */
  readonly hashes: Uint8Array;
}

export class PostedLeaves {
  /** hashes of each batch, one after another: data of many batches would not fit into memory */
  readonly #hashes = new Map<BatchId, Uint8Array>();

  /** @returns undefined for data that are no leaves of the model */
  read(model: LeafModel, data: Hex): ReadLeaves | undefined {
    const payloads = unlessInvalid(() => splitBatch(model, fromHex(data)));
    if (payloads === undefined) return undefined;
    const tree = unlessInvalid(() => batchTree(payloads));
    const root = tree === undefined ? ZERO_HASH : toHex(tree.root);
    return { count: payloads.length, root, hashes: concatBytes(...(tree?.leaves ?? [])) };
  }

  keep(id: BatchId, { hashes }: ReadLeaves): void {
    this.#hashes.set(id, hashes);
  }

  /** Whether the payload is that leaf. */
  has(id: BatchId, index: number, payload: Hex): boolean {
    const leaf = this.#hashes.get(id)?.subarray(HASH_BYTES * index, HASH_BYTES * (index + 1));
    return leaf !== undefined && equalBytes(leaf, fromHex(keccak256(payload)));
  }

  /** Whether input and output are what that leaf stands for. */
  standsFor(id: BatchId, index: number, model: LeafModel, input: Hex, output: Hex): boolean {
    const content = { input: fromHex(input), output: fromHex(output) };
    const payload = unlessInvalid(() => compactLeaf(model, content));
    return payload !== undefined && this.has(id, index, toHex(payload));
  }

  /** No leaf of the batch can be opened any more. */
  forget(id: BatchId): void {
    this.#hashes.delete(id);
  }
}

function unlessInvalid<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!isBaseError(error)) throw error;
    return undefined;
  }
}
