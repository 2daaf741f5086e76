/** Events as answers show them. */
import { getAddress, type Hex } from "viem";
import type { ChainEvent, EventsQuery } from "../api/types.ts";
import { blockOf, logIndexOf } from "../index/moves.ts";
import type { KeptMove, Tables } from "../index/tables.ts";
import { type PageQuery, pageOf } from "./paging.ts";

/** Events of one life that are shown at once; `/v1/events` has the others. */
const MAX_TIMELINE = 500;

/** Where an event stands, and in which chain: after a re-org another event may stand there. */
export const eventId = ({ seq, blockHash }: Pick<KeptMove, "seq" | "blockHash">): string =>
  `${blockOf(seq)}-${logIndexOf(seq)}-${blockHash.slice(2, 18)}`;

export function eventView(move: KeptMove): ChainEvent {
  const { seq, name, text, time, tx, sender, gasUsed, fee, money, args } = move;
  const { modelId, requestId, claimId, batchId, digest, account, contract } = move;
  return {
    id: eventId(move),
    name,
    ...(contract === undefined ? {} : { contract }),
    text,
    time,
    block: blockOf(seq),
    logIndex: logIndexOf(seq),
    transaction: tx,
    sender,
    gasUsed,
    transactionFee: fee,
    ...(modelId === null ? {} : { model: modelId }),
    ...(requestId === null ? {} : { request: requestId }),
    ...(claimId === null ? {} : { claim: claimId }),
    ...(batchId === null ? {} : { batch: batchId }),
    ...(digest === null ? {} : { digest }),
    ...(account === null ? {} : { account }),
    money: [...money],
    args: { ...args },
  };
}

/** Newest first. */
export async function eventPage(tables: Tables, query: Omit<EventsQuery, "limit" | "before"> & PageQuery) {
  const filters = [
    ["name", query.name],
    ["model_id", query.model],
    ["request_id", query.request],
    ["claim_id", query.claim],
    ["batch_id", query.batch],
    ["digest", query.digest],
    ["account", query.account && getAddress(query.account)],
  ].filter((filter): filter is [string, string] => filter[1] !== undefined);
  const where = ["m.seq < ?", ...filters.map(([column]) => `m.${column} = ?`)].join(" AND ");
  const before = query.before ?? Number.MAX_SAFE_INTEGER;
  const rows = await tables.moves(where, "ORDER BY m.seq DESC LIMIT ?", [
    before,
    ...filters.map(([, value]) => value),
    query.limit + 1,
  ]);
  return pageOf(rows, query.limit, eventView);
}

/** What is kept of a promise, oldest first: of a batch, or of a signed claim and the claim that it became. */
export async function promiseTimelineOf(
  tables: Tables,
  promise: { readonly batch: Hex } | { readonly digest: Hex; readonly claim?: Hex },
): Promise<ChainEvent[]> {
  const [column, id] = "batch" in promise ? ["batch_id", promise.batch] : ["digest", promise.digest];
  const own = await tables.moves(`m.${column} = ?`, "ORDER BY m.seq LIMIT ?", [id, MAX_TIMELINE]);
  const claim = "batch" in promise ? undefined : promise.claim;
  const ofClaim =
    claim === undefined
      ? []
      : await tables.moves("m.claim_id = ?", "ORDER BY m.seq LIMIT ?", [claim, MAX_TIMELINE]);
  const all = new Map([...own, ...ofClaim].map((move) => [move.seq, move]));
  return [...all.values()].sort((a, b) => a.seq - b.seq).map(eventView);
}

/** Everything about a request or claim, oldest first, with the credits that its transactions made. */
export async function timelineOf(
  tables: Tables,
  id: { readonly request: Hex; readonly claim?: Hex },
): Promise<ChainEvent[]> {
  const [column, value] = id.claim === undefined ? ["request_id", id.request] : ["claim_id", id.claim];
  const isOwn = id.claim === undefined ? "" : " OR (m.claim_id || '') = ?";
  const [own, beside] = await Promise.all([
    tables.moves(`m.${column} = ?`, "ORDER BY m.seq LIMIT ?", [value, MAX_TIMELINE]),
    tables.moves(
      // Found by their transaction: what is compared is in no index, or all events without a request would be gone through.
      `m.tx IN (SELECT o.tx FROM moves o WHERE o.${column} = ? ORDER BY o.seq LIMIT ?)
        AND ((m.request_id || '') IS NULL OR (m.request_id || '') = ?) AND ((m.claim_id || '') IS NULL${isOwn})`,
      "ORDER BY m.seq LIMIT ?",
      [value, MAX_TIMELINE, id.request, ...(id.claim === undefined ? [] : [id.claim]), MAX_TIMELINE],
    ),
  ]);
  const all = new Map([...own, ...beside].map((move) => [move.seq, move]));
  return [...all.values()].sort((a, b) => a.seq - b.seq).map(eventView);
}
