/** Batches and their leaves. */
import { getAddress, type Hex } from "viem";
import { fromHex, toHex } from "../../base/bytes.ts";
import { proveLeaf } from "../../protocol/chain/promises/prove-leaf.ts";
import type { BatchId, Batch as PostedBatch } from "../../protocol/rules/promises/batch.ts";
import { expandLeaf, type LeafModel, splitBatch } from "../../protocol/rules/promises/leaf.ts";
import { decodeModelWord } from "../../protocol/rules/words.ts";
import type {
  Batch,
  BatchesQuery,
  BatchPage,
  BatchSummary,
  Leaf,
  LeafPage,
  LeafSummary,
  OpenedLeaf,
} from "../api/types.ts";
import type { BatchRow, LeafRow } from "../index/batch-life.ts";
import { blockOf } from "../index/moves.ts";
import { inputView, outputView } from "./data.ts";
import { promiseTimelineOf } from "./events.ts";
import { type Condition, claimSummary, nameOf, rowsOf, timesOf } from "./lists.ts";
import { type PageQuery, pageOf } from "./paging.ts";
import { chainNow, type ReadParts } from "./parts.ts";
import { batchUnknown, leafUnknown } from "./unknown.ts";

/** By the columns of the table and the newest second: as the contract decides whether a batch is final. */
function stateIs(state: BatchSummary["state"], now: number): Condition[] {
  if (state === "FALLEN") return [["is_fallen = ?", 1]];
  const isFinal: Condition = ["final_at <= ?", now];
  const isRunning: Condition = [`coalesce(final_at, ${Number.MAX_SAFE_INTEGER}) > ?`, now];
  return [["is_fallen = ?", 0], state === "FINAL" ? isFinal : isRunning];
}

export async function batchPage(
  parts: ReadParts,
  query: Omit<BatchesQuery, "limit" | "before"> & PageQuery,
): Promise<BatchPage> {
  const rows = await rowsOf<BatchRow>(parts, "batches", query, [
    ["model = ?", query.model],
    ["prover = ?", query.prover && getAddress(query.prover)],
    ...(query.state === undefined ? [] : stateIs(query.state, chainNow(parts))),
    ...(await timesOf(parts, query)),
  ]);
  return pageOf(rows, query.limit, (row) => batchSummary(parts, row));
}

/** Leaves of batches that are final, by the newest second. */
export async function finalLeaves(parts: ReadParts): Promise<number> {
  const row = await parts.index.tables.sql.get<{ n: number | null }>(
    "SELECT CAST(sum(leaves) AS BIGINT) AS n FROM batches WHERE is_fallen = 0 AND final_at <= ?",
    chainNow(parts),
  );
  return row?.n ?? 0;
}

async function batchSummary(parts: ReadParts, row: BatchRow): Promise<BatchSummary> {
  const { batchId, modelId, prover, count, bond, postedAt, windowEnd, finalAt, fellAt, leaves } = row;
  const gasPerLeaf = await gasPerLeafOf(parts, row.tx);
  return {
    batchId,
    modelId,
    ...nameOf(parts, modelId),
    state: stateOf(parts, row),
    prover,
    count,
    opened: leaves.length,
    open: leaves.filter(({ status }) => status === "OPEN" || status === "QUEUED").length,
    bond,
    postedAt,
    block: blockOf(row.seq),
    windowEnd,
    ...(finalAt === undefined ? {} : { finalAt }),
    ...(fellAt === undefined ? {} : { fellAt }),
    ...(gasPerLeaf === undefined ? {} : { gasPerLeaf }),
  };
}

function stateOf(parts: ReadParts, { finalAt, fellAt }: BatchRow): BatchSummary["state"] {
  if (fellAt !== undefined) return "FALLEN";
  return finalAt !== undefined && finalAt <= chainNow(parts) ? "FINAL" : "RUNNING";
}

/** One transaction may post several batches. */
async function gasPerLeafOf({ index }: ReadParts, tx: Hex): Promise<number | undefined> {
  const [transaction, all] = await Promise.all([
    index.tables.transaction(tx),
    index.tables.sql.get<{ n: number | null }>(
      "SELECT CAST(sum(leaves) AS BIGINT) AS n FROM batches WHERE tx = ?",
      tx,
    ),
  ]);
  return transaction === undefined || !all?.n ? undefined : transaction.gasUsed / all.n;
}

/** @throws BaseError BATCH_UNKNOWN */
export async function batchView(parts: ReadParts, id: Hex): Promise<Batch> {
  const row = await batchRow(parts, id);
  const { window, root, bytes, tx, leaves } = row;
  return {
    ...(await batchSummary(parts, row)),
    ...{ window, root, bytes, transaction: tx },
    openedLeaves: await Promise.all(leaves.map((leaf) => openedView(parts, leaf))),
    timeline: await promiseTimelineOf(parts.index.tables, { batch: id }),
  };
}

/** In the order of the data. @param before index of the first @throws BaseError BATCH_UNKNOWN */
export async function leafPage(
  parts: ReadParts,
  id: Hex,
  { limit, before = 0 }: PageQuery,
): Promise<LeafPage> {
  const row = await batchRow(parts, id);
  const model = await modelOf(parts, row);
  const payloads = splitBatch(model, await dataOf(parts, row));
  const shown = payloads.slice(before, before + limit);
  const next = before + shown.length;
  return {
    items: await Promise.all(
      shown.map((payload, i) => {
        const { input, output } = expandLeaf(model, payload);
        return leafSummary(parts, row, before + i, toHex(input), toHex(output));
      }),
    ),
    ...(next < payloads.length ? { next: `${next}` } : {}),
  };
}

/** @throws BaseError BATCH_UNKNOWN, LEAF_UNKNOWN */
export async function leafView(parts: ReadParts, id: Hex, index: number): Promise<Leaf> {
  const row = await batchRow(parts, id);
  if (index >= row.count) throw leafUnknown(`${index} of batch ${id}`);
  const { prover, modelId, window, count, root } = row;
  const batch = { prover, modelId, window, count, root } as PostedBatch;
  const proof = proveLeaf(await modelOf(parts, row), batch, await dataOf(parts, row), index);
  return {
    ...(await leafSummary(parts, row, index, proof.input, proof.output)),
    batch: await batchSummary(parts, row),
    proof: {
      ...proof,
      path: [...proof.path],
      policy: { ...proof.policy, minBond: `${proof.policy.minBond}` },
      // Promises has a reader wherever it is: a batch came from it.
      reader: parts.chain.deployment.contracts.promiseReader as Hex,
    },
  };
}

async function leafSummary(
  parts: ReadParts,
  row: BatchRow,
  index: number,
  input: Hex,
  output: Hex,
): Promise<LeafSummary> {
  const opened = row.leaves.find((leaf) => leaf.index === index);
  return {
    index,
    state: stateOf(parts, row),
    input: await inputView(parts, row.modelId, input),
    output: await outputView(parts, row.modelId, output),
    ...(opened === undefined ? {} : { opened: await openedView(parts, opened) }),
  };
}

async function openedView(parts: ReadParts, { claimId, ...leaf }: LeafRow): Promise<OpenedLeaf> {
  const claim = claimId && (await parts.index.tables.claim(claimId));
  return { ...leaf, ...(claim === undefined ? {} : { claim: claimSummary(parts, claim) }) };
}

async function batchRow({ index }: ReadParts, id: Hex): Promise<BatchRow> {
  const row = await index.tables.batch(id);
  if (row === undefined) throw batchUnknown(id);
  return row;
}

async function modelOf({ index }: ReadParts, { modelId }: BatchRow): Promise<LeafModel> {
  const word = decodeModelWord((await index.tables.model(modelId))?.word ?? 0n);
  if (word === undefined) throw new TypeError(`Model ${modelId} of a batch was never registered.`);
  return word;
}

async function dataOf({ index }: ReadParts, { batchId }: BatchRow): Promise<Uint8Array> {
  const [posted] = await index.events.promised(batchId as BatchId, "Posted");
  if (posted === undefined) throw new TypeError(`The data of batch ${batchId} are not kept.`);
  return fromHex(posted.args.data);
}
