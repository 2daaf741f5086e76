/** Lists of requests and claims. Filters are answered by an index alone; bodies are read for what is shown. */
import { getAddress, type Hex } from "viem";
import { fromHex } from "../../base/bytes.ts";
import { meaningIfAny } from "../../inference/meaning/read.ts";
import { laneName } from "../../protocol/chain/finality.ts";
import { isFinal } from "../../protocol/rules/machine/rules.ts";
import { LANE, type LaneName } from "../../protocol/rules/types.ts";
import { EMPTY_CLAIM_WORD } from "../../protocol/rules/words.ts";
import type {
  ClaimPage,
  ClaimSummary,
  ClaimsQuery,
  RequestPage,
  RequestSummary,
  RequestsQuery,
} from "../api/types.ts";
import type { ClaimRow, RequestRow } from "../index/life.ts";
import { blockOf } from "../index/moves.ts";
import { type PageQuery, pageOf } from "./paging.ts";
import { chainNow, type ReadParts } from "./parts.ts";

type Condition = readonly [sql: string, value: unknown];
/** Claims with a ticket: few, so that all other filters are looked at there. */
const DISPUTED = "claims INDEXED BY claims_disputed";

export function requestPage(
  parts: ReadParts,
  query: Omit<RequestsQuery, "limit" | "before"> & PageQuery,
): RequestPage {
  const rows = rowsOf<RequestRow>(parts, "requests", query, [
    ["state = ?", query.state],
    ["model = ?", query.model],
    ["requester = ?", query.requester && getAddress(query.requester)],
    ["lane = ?", query.lane && LANE[query.lane]],
    ...timesOf(parts, query),
  ]);
  return pageOf(rows, query.limit, (row) => requestSummary(parts, row));
}

export function claimPage(
  parts: ReadParts,
  query: Omit<ClaimsQuery, "limit" | "before"> & PageQuery,
): ClaimPage {
  const { challenger, disputed } = query;
  const conditions: Condition[] = [
    ["state = ?", query.state],
    ["fall = ?", query.fall],
    ["model = ?", query.model],
    ["prover = ?", query.prover && getAddress(query.prover)],
    ...timesOf(parts, query),
  ];
  if (disputed === "false") conditions.push(["tickets = ?", 0]);
  const rows =
    challenger === undefined
      ? rowsOf<ClaimRow>(parts, disputed === "true" ? DISPUTED : "claims", query, conditions)
      : challengedBy(parts, getAddress(challenger), query, conditions);
  return pageOf(rows, query.limit, (row) => claimSummary(parts, row));
}

/** Blocks come in the order of their times, and so do places. */
function timesOf(
  { index }: ReadParts,
  { since, until }: { readonly since?: unknown; readonly until?: unknown },
): Condition[] {
  if (since === undefined && until === undefined) return [];
  const [first, end] = index.tables.between(since as number | undefined, until as number | undefined);
  return [
    ["seq >= ?", first],
    ["seq < ?", end],
  ];
}

function rowsOf<Row>(
  { index }: ReadParts,
  table: "requests" | "claims" | typeof DISPUTED,
  { limit, before }: PageQuery,
  conditions: readonly Condition[],
): Row[] {
  const given = conditions.filter(([, value]) => value !== undefined);
  const isDisputed = table === DISPUTED ? ["tickets > 0"] : [];
  const where = ["seq < ?", ...isDisputed, ...given.map(([sql]) => sql)].join(" AND ");
  const found = `SELECT id FROM ${table} WHERE ${where} ORDER BY seq DESC LIMIT ?`;
  return index.tables
    .sql<unknown[], { body: string }>(
      `SELECT body FROM ${table === "requests" ? table : "claims"} WHERE id IN (${found}) ORDER BY seq DESC`,
    )
    .all(before ?? Number.MAX_SAFE_INTEGER, ...given.map(([, value]) => value), limit + 1)
    .map(({ body }) => JSON.parse(body) as Row);
}

function challengedBy(
  { index }: ReadParts,
  account: string,
  { limit, before }: PageQuery,
  conditions: readonly Condition[],
): ClaimRow[] {
  const given = conditions.filter(([, value]) => value !== undefined);
  const where = ["t.account = ?", "t.seq < ?", ...given.map(([sql]) => `c.${sql}`)].join(" AND ");
  return index.tables
    .sql<unknown[], { body: string }>(
      `SELECT c.body FROM tickets t JOIN claims c ON c.id = t.claim_id WHERE ${where} ORDER BY t.seq DESC LIMIT ?`,
    )
    .all(account, before ?? Number.MAX_SAFE_INTEGER, ...given.map(([, value]) => value), limit + 1)
    .map(({ body }) => JSON.parse(body) as ClaimRow);
}

export const laneNames = (bits: number): LaneName[] =>
  (Object.keys(LANE) as LaneName[]).filter((name) => (bits & LANE[name]) !== 0);

export function requestSummary(parts: ReadParts, row: RequestRow): RequestSummary {
  const { requestId, modelId, state, requester, fee, requestedAt, expiry, attempt, claimId, finalAt } = row;
  const lane = row.finalLane === undefined ? undefined : laneName(row.finalLane);
  return {
    requestId,
    modelId,
    ...nameOf(parts, modelId),
    state,
    requester,
    lanes: laneNames(row.lanes),
    fee,
    requestedAt,
    block: blockOf(row.seq),
    expiry,
    attempt,
    ...(claimId === undefined ? {} : { claimId }),
    ...(finalAt === undefined ? {} : { finalAt }),
    ...(lane === undefined ? {} : { finalLane: lane }),
    ...textOf(parts, modelId, row.output),
  };
}

export function claimSummary(parts: ReadParts, row: ClaimRow): ClaimSummary {
  const { claimId, requestId, modelId, state, fall, attempt, prover, bond, claimedAt, endedAt, clocks } = row;
  const word = { ...EMPTY_CLAIM_WORD, ...clocks, state };
  return {
    claimId,
    requestId,
    modelId,
    ...nameOf(parts, modelId),
    state,
    isFinalByTime: state === "ACTIVE" && isFinal(word, parts.chain.constants.answerSeconds, chainNow(parts)),
    ...(fall === undefined ? {} : { fall }),
    attempt,
    prover,
    bond,
    claimedAt,
    block: blockOf(row.seq),
    windowEnd: clocks.windowEnd,
    tickets: row.tickets.length,
    demands: row.demands,
    ...(endedAt === undefined ? {} : { endedAt }),
    ...textOf(parts, modelId, row.output),
  };
}

const nameOf = ({ library }: ReadParts, modelId: Hex): { readonly modelName?: string } => {
  const name = library.get(modelId)?.manifest.name;
  return name === undefined ? {} : { modelName: name };
};

function textOf({ library }: ReadParts, modelId: Hex, output: Hex | undefined): { readonly text?: string } {
  if (output === undefined) return {};
  const { meaning } = meaningIfAny(library.get(modelId)?.readable, fromHex(output));
  return meaning === undefined ? {} : { text: meaning.text };
}
