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
  const { modelId, requestId, claimId, account } = move;
  return {
    id: eventId(move),
    name,
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
    ...(account === null ? {} : { account }),
    money: [...money],
    args: { ...args },
  };
}

/** Newest first. */
export function eventPage(tables: Tables, query: Omit<EventsQuery, "limit" | "before"> & PageQuery) {
  const filters = [
    ["name", query.name],
    ["model_id", query.model],
    ["request_id", query.request],
    ["claim_id", query.claim],
    ["account", query.account && getAddress(query.account)],
  ].filter((filter): filter is [string, string] => filter[1] !== undefined);
  const where = ["m.seq < ?", ...filters.map(([column]) => `m.${column} = ?`)].join(" AND ");
  const before = query.before ?? Number.MAX_SAFE_INTEGER;
  const rows = tables.moves(where, "ORDER BY m.seq DESC LIMIT ?", [
    before,
    ...filters.map(([, value]) => value),
    query.limit + 1,
  ]);
  return pageOf(rows, query.limit, eventView);
}

/** Everything about a request or claim, oldest first, with the credits that its transactions made. */
export function timelineOf(
  tables: Tables,
  id: { readonly request: Hex; readonly claim?: Hex },
): ChainEvent[] {
  const [column, value] = id.claim === undefined ? ["request_id", id.request] : ["claim_id", id.claim];
  const own = tables.moves(`m.${column} = ?`, "ORDER BY m.seq LIMIT ?", [value, MAX_TIMELINE]);
  const transactions = [...new Set(own.map(({ tx }) => tx))];
  const isOwn = id.claim === undefined ? "" : " OR +m.claim_id = ?";
  const beside = tables.moves(
    // Found by their transaction: the plus keeps SQLite from going through all events without a request.
    `m.tx IN (SELECT value FROM json_each(?)) AND (+m.request_id IS NULL OR +m.request_id = ?) AND (+m.claim_id IS NULL${isOwn})`,
    "ORDER BY m.seq LIMIT ?",
    [JSON.stringify(transactions), id.request, ...(id.claim === undefined ? [] : [id.claim]), MAX_TIMELINE],
  );
  const all = new Map([...own, ...beside].map((move) => [move.seq, move]));
  return [...all.values()].sort((a, b) => a.seq - b.seq).map(eventView);
}
