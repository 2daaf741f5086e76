/** Runs all leaves of a batch again. */

import type { Hex } from "viem";
import { viewOf } from "../../base/bytes.ts";
import { runsLike } from "../../inference/executor/quick.ts";
import { outputLength } from "../../inference/program/shape.ts";
import type { Batch, BatchId } from "../../protocol/rules/promises/batch.ts";
import { batchTree } from "../../protocol/rules/promises/batch.ts";
import { expandLeaf, type LeafModel, splitBatch } from "../../protocol/rules/promises/leaf.ts";
import {
  type CoveredModel,
  compare,
  compareWith,
  type EngineOutcome,
  type Engines,
  type StatedOutput,
  type Verdict,
} from "../reexecute.ts";

/** Of all leaves of a batch. */
export interface LeafVerdicts {
  readonly right: number;
  readonly wrong: readonly WrongLeaf[];
  /** leaves that nobody here could check, and why the first of them */
  readonly unchecked: { readonly count: number; readonly reason?: string };
  /** on whose word leaves are right */
  readonly workers: ReadonlySet<string>;
}

export interface WrongLeaf {
  readonly index: number;
  readonly payload: Uint8Array;
  /** siblings up to the root, bottom up */
  readonly path: readonly Uint8Array[];
  /** what the canonical executor gives; absent as in Verdict */
  readonly honest?: Hex;
}

/** Leaves of one batch that are run at the same time: the child processes never wait, and no more is held in memory. */
const AT_ONCE = 128;
/** Leaves that are run in one go, at most, and bytes of their inputs or outputs. */
const MOST_TOGETHER = { leaves: 32, bytes: 2 ** 19 } as const;

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
    return { ...NONE_CHECKED, unchecked: { count, reason: String(error) } };
  }
  if (payloads.length !== count) {
    return { ...NONE_CHECKED, unchecked: { count, reason: `the data hold ${payloads.length} leaves` } };
  }
  const found: Pick<WrongLeaf, "index" | "honest">[] = [];
  let [right, unchecked, next] = [0, 0, 0];
  let reason: string | undefined;
  const workers = new Set<string>();
  const isSent = model.isQuick !== true && engines.fast.runAll !== undefined;
  const together = isSent ? leavesTogether(model, payloads) : 1;
  const check = async () => {
    for (let from = next; from < count; from = next) {
      signal?.throwIfAborted();
      next = Math.min(count, from + together);
      const stated = payloads.slice(from, next).map((payload, at) => ({
        ...expandLeaf(leafModel, payload),
        facts: { batch: id, leaf: from + at },
      }));
      const verdicts = await compareAll(model, stated, engines, onEngine);
      for (const [at, verdict] of verdicts.entries()) {
        if (verdict.kind === "right") {
          right += 1;
          for (const worker of verdict.workers ?? []) workers.add(worker);
        } else if (verdict.kind === "wrong") {
          const { honest } = verdict;
          found.push({ index: from + at, ...(honest === undefined ? {} : { honest }) });
        } else {
          unchecked += 1;
          reason ??= verdict.reason;
        }
      }
    }
  };
  await Promise.all(Array.from({ length: Math.ceil(AT_ONCE / together) }, check));
  signal?.throwIfAborted();
  const tree = found.length === 0 ? undefined : batchTree(payloads);
  const wrong = found
    .sort((a, b) => a.index - b.index)
    .map((leaf) => ({
      ...{ ...leaf, payload: payloads[leaf.index] as Uint8Array },
      path: tree?.pathOf(leaf.index) ?? [],
    }));
  const reasons = reason === undefined ? {} : { reason };
  return { right, wrong, unchecked: { count: unchecked, ...reasons }, workers };
}

const NONE_CHECKED = { right: 0, wrong: [], workers: new Set<string>() } as const;

/** How many leaves of a small model are worth sending. */
function leavesTogether({ prepared: { program } }: CoveredModel, payloads: readonly Uint8Array[]): number {
  const bytes = payloads.reduce((most, { length }) => Math.max(most, length), program.inputSize);
  const fitting = Math.floor(MOST_TOGETHER.bytes / (WORD_BYTES * bytes));
  return Math.max(1, Math.min(fitting, runsLike(program, MOST_TOGETHER.leaves)));
}
/** Bytes of calldata or return data for one of a leaf or of an input, at most. */
const WORD_BYTES = 32;

async function compareAll(
  model: CoveredModel,
  stated: readonly StatedOutput[],
  engines: Engines,
  onEngine?: (outcome: EngineOutcome) => void,
): Promise<readonly Verdict[]> {
  const { fast, signal, leftMs } = engines;
  if (model.isQuick === true || fast.runAll === undefined || stated.length === 1)
    return Promise.all(stated.map((one) => compare(model, one, engines, onEngine)));
  const inputs = stated.map(({ input }) => input);
  const quick = await fast.runAll(model.id, inputs, signal, leftMs?.());
  return Promise.all(stated.map((one, at) => compareWith(quick[at], model, one, engines, onEngine)));
}
