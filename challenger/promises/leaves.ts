/** Runs all leaves of a batch again. */

import { viewOf } from "../../base/bytes.ts";
import { outputLength } from "../../inference/program/shape.ts";
import type { Batch, BatchId } from "../../protocol/rules/promises/batch.ts";
import { batchTree } from "../../protocol/rules/promises/batch.ts";
import { expandLeaf, type LeafModel, splitBatch } from "../../protocol/rules/promises/leaf.ts";
import { type CoveredModel, compare, type EngineOutcome, type Engines } from "../reexecute.ts";

/** Of all leaves of a batch. */
export interface LeafVerdicts {
  readonly right: number;
  readonly wrong: readonly WrongLeaf[];
  /** leaves that nobody here could check, and why the first of them */
  readonly unchecked: { readonly count: number; readonly reason?: string };
}

export interface WrongLeaf {
  readonly index: number;
  readonly payload: Uint8Array;
  /** siblings up to the root, bottom up */
  readonly path: readonly Uint8Array[];
  /** what the canonical executor gives */
  readonly honest: string;
}

/** Leaves of one batch that are run at the same time: the child processes never wait, and no more is held in memory. */
const AT_ONCE = 64;

export interface PostedBatch {
  readonly id: BatchId;
  readonly batch: Pick<Batch, "count">;
  /** the leaves, one after another */
  readonly data: Uint8Array;
}

/** How the leaves of a model read. */
export const leafModelOf = ({ prepared: { program, selector } }: CoveredModel): LeafModel => ({
  selector: viewOf(selector).getUint32(0),
  inputCodec: program.inputCodec,
  outputCodec: program.outputCodec,
  inputSize: program.inputSize,
  outputLength: outputLength(program),
});

/** Compares each leaf as a claim is compared. Data that are no leaves of this model could not be checked.
 *  @throws what the signal aborts with */
export async function checkLeaves(
  model: CoveredModel,
  { id, batch, data }: PostedBatch,
  engines: Engines,
  onEngine?: (outcome: EngineOutcome) => void,
): Promise<LeafVerdicts> {
  const { signal } = engines;
  const { count } = batch;
  const leafModel = leafModelOf(model);
  let payloads: readonly Uint8Array[];
  try {
    payloads = splitBatch(leafModel, data);
  } catch (error) {
    return { right: 0, wrong: [], unchecked: { count, reason: String(error) } };
  }
  if (payloads.length !== count) {
    return { right: 0, wrong: [], unchecked: { count, reason: `the data hold ${payloads.length} leaves` } };
  }
  const found: { readonly index: number; readonly honest: string }[] = [];
  let [right, unchecked, next] = [0, 0, 0];
  let reason: string | undefined;
  const worker = async () => {
    for (let index = next++; index < count; index = next++) {
      signal?.throwIfAborted();
      const { input, output } = expandLeaf(leafModel, payloads[index] as Uint8Array);
      const stated = { input, output, facts: { batch: id, leaf: index } };
      const verdict = await compare(model, stated, engines, onEngine);
      if (verdict.kind === "right") right += 1;
      else if (verdict.kind === "wrong") found.push({ index, honest: verdict.honest });
      else {
        unchecked += 1;
        reason ??= verdict.reason;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, count) }, worker));
  signal?.throwIfAborted();
  const tree = found.length === 0 ? undefined : batchTree(payloads);
  const wrong = found
    .sort((a, b) => a.index - b.index)
    .map(({ index, honest }) => ({
      ...{ index, honest, payload: payloads[index] as Uint8Array },
      path: tree?.pathOf(index) ?? [],
    }));
  return { right, wrong, unchecked: { count: unchecked, ...(reason === undefined ? {} : { reason }) } };
}
