/** Makes batches of the answers that wait for one. */
import type { Address } from "viem";
import { fromHex, toHex } from "../../base/bytes.ts";
import type { PromiseEventOf } from "../../protocol/chain/promises/events.ts";
import {
  type Batch,
  type BatchId,
  batchIdOf,
  batchTree,
  joinLeaves,
} from "../../protocol/rules/promises/batch.ts";
import { type LeafModel, splitBatch } from "../../protocol/rules/promises/leaf.ts";
import type { PromisesAddress } from "../../protocol/rules/promises/signed-claim.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import type { WaitingLeaf } from "./journal/journal.ts";
import type { MadeBatch } from "./signing/messages.ts";
import type { SigningTerms } from "./terms.ts";

/** Bytes of leaves that a transaction of 128 KB has room for. */
const MAX_DATA_BYTES = 120_000;

/** The leaves that are posted now: none before the oldest has waited for long enough or there are enough of them.
 *  @param waiting oldest first @param now seconds */
export function dueLeaves(
  waiting: readonly WaitingLeaf[],
  now: number,
  { batchSeconds, batchSize }: Pick<SigningTerms, "batchSeconds" | "batchSize">,
): readonly WaitingLeaf[] {
  if (batchSeconds === undefined) return [];
  const chosen: WaitingLeaf[] = [];
  let bytes = 0;
  for (const leaf of waiting.slice(0, batchSize)) {
    bytes += leaf.payload.length;
    if (bytes > MAX_DATA_BYTES) break;
    chosen.push(leaf);
  }
  const [oldest] = chosen;
  const isFull = chosen.length === batchSize || chosen.length < Math.min(waiting.length, batchSize);
  return oldest !== undefined && (isFull || now >= oldest.issuedAt + batchSeconds) ? chosen : [];
}

/** @param leaves one or more */
export function makeBatch(
  at: PromisesAddress,
  terms: {
    readonly prover: Address;
    readonly modelId: ModelId;
    readonly window: number;
    readonly leafBond: bigint;
  },
  leaves: readonly WaitingLeaf[],
): { readonly id: BatchId; readonly batch: Batch; readonly made: MadeBatch } {
  const { prover, modelId, window, leafBond } = terms;
  const payloads = leaves.map(({ payload }) => payload);
  const { root } = batchTree(payloads);
  const batch: Batch = { prover, modelId, window, count: payloads.length, root: toHex(root) };
  const id = batchIdOf(at, batch);
  const rows = leaves.map(({ row }, leaf) => ({ row, leaf }));
  const common = { id: fromHex(id), modelId: fromHex(modelId), window, root, leafBond, count: batch.count };
  return { id, batch, made: { ...common, data: joinLeaves(payloads), rows, isPosted: false } };
}

/** A batch that the chain has and the journal, restored from a backup, does not: what waits and is in it is not posted
 *  again. If a re-org takes it away it is posted with what stood for each of its leaves, which is all that a contract asks
 *  about. @param waiting of the same model */
export function adoptBatch(
  { args: { batchId, batch, bond, data } }: PromiseEventOf<"Posted">,
  model: LeafModel,
  waiting: readonly WaitingLeaf[],
): MadeBatch {
  const bytes = fromHex(data);
  const places = new Map<string, number[]>();
  for (const [index, payload] of splitBatch(model, bytes).entries()) {
    const key = toHex(payload);
    places.set(key, [...(places.get(key) ?? []), index]);
  }
  const rows = waiting.flatMap(({ row, payload }) => {
    const leaf = places.get(toHex(payload))?.shift();
    return leaf === undefined ? [] : [{ row, leaf }];
  });
  return {
    ...{ id: fromHex(batchId), modelId: fromHex(batch.modelId), window: batch.window },
    ...{
      root: fromHex(batch.root),
      leafBond: bond / BigInt(batch.count),
      count: batch.count,
      data: bytes,
      rows,
      isPosted: true,
    },
  };
}
