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
import type { SqlValue } from "../store/sql.ts";
import { type PageQuery, pageOf } from "./paging.ts";
import { chainNow, type ReadParts, type Shelved } from "./parts.ts";

/** On columns of one table. */
export type Condition = readonly [sql: string, value: SqlValue | undefined];

export async function requestPage(
  parts: ReadParts,
  query: Omit<RequestsQuery, "limit" | "before"> & PageQuery,
): Promise<RequestPage> {
  const rows = await rowsOf<RequestRow>(parts, "requests", query, [
    ["state = ?", query.state],
    ["model = ?", query.model],
    ["requester = ?", query.requester && getAddress(query.requester)],
    ["lane = ?", query.lane && LANE[query.lane]],
    ...(await timesOf(parts, query)),
  ]);
  return pageOf(rows, query.limit, (row) => requestSummary(parts, row));
}

export async function claimPage(
  parts: ReadParts,
  query: Omit<ClaimsQuery, "limit" | "before"> & PageQuery,
): Promise<ClaimPage> {
  const { challenger, disputed } = query;
  const conditions: Condition[] = [
    ["state = ?", query.state],
    ["fall = ?", query.fall],
    ["model = ?", query.model],
    ["prover = ?", query.prover && getAddress(query.prover)],
    ...(await timesOf(parts, query)),
  ];
  if (disputed === "false") conditions.push(["tickets = ?", 0]);
  const rows =
    challenger !== undefined
      ? await challengedBy(parts, getAddress(challenger), query, conditions)
      : disputed === "true"
        ? await rowsOf<ClaimRow>(parts, "claims", query, amongFew(conditions), ["tickets > 0"])
        : await rowsOf<ClaimRow>(parts, "claims", query, conditions);
  return pageOf(rows, query.limit, (row) => claimSummary(parts, row));
}

/** Claims with a ticket are few, and in an index of their own: all other filters are looked at there. That is what a
 *  database does where no other index has what a condition compares. */
const amongFew = (conditions: readonly Condition[]): Condition[] =>
  conditions.map(([sql, value]) => [
    sql.startsWith("seq ") ? sql : sql.replace(/^(\w+)/, "($1 || '')"),
    value,
  ]);

/** Blocks come in the order of their times, and so do places. */
export async function timesOf(
  { index }: ReadParts,
  { since, until }: { readonly since?: unknown; readonly until?: unknown },
): Promise<Condition[]> {
  if (since === undefined && until === undefined) return [];
  const [first, end] = await index.tables.between(since as number | undefined, until as number | undefined);
  return [
    ["seq >= ?", first],
    ["seq < ?", end],
  ];
}

/** @param also conditions without a value */
export function rowsOf<Row>(
  { index }: ReadParts,
  table: "requests" | "claims" | "batches" | "signed_claims",
  { limit, before }: PageQuery,
  conditions: readonly Condition[],
  also: readonly string[] = [],
): Promise<Row[]> {
  const { where, values } = together(conditions);
  const found = `SELECT id FROM ${table} WHERE ${["seq < ?", ...also, ...where].join(" AND ")} ORDER BY seq DESC LIMIT ?`;
  return index.tables.bodies<Row>(
    `SELECT body FROM ${table} WHERE id IN (${found}) ORDER BY seq DESC`,
    ...[before ?? Number.MAX_SAFE_INTEGER, ...values, limit + 1],
  );
}

/** Those conditions that have a value. */
function together(conditions: readonly Condition[]) {
  const given = conditions.flatMap(([sql, value]) => (value === undefined ? [] : [[sql, value] as const]));
  return { where: given.map(([sql]) => sql), values: given.map(([, value]) => value) };
}

function challengedBy(
  { index }: ReadParts,
  account: string,
  { limit, before }: PageQuery,
  conditions: readonly Condition[],
): Promise<ClaimRow[]> {
  const { where, values } = together(conditions);
  const all = ["t.account = ?", "t.seq < ?", ...where.map((sql) => `c.${sql}`)].join(" AND ");
  return index.tables.bodies<ClaimRow>(
    `SELECT c.body FROM tickets t JOIN claims c ON c.id = t.claim_id WHERE ${all} ORDER BY t.seq DESC LIMIT ?`,
    ...[account, before ?? Number.MAX_SAFE_INTEGER, ...values, limit + 1],
  );
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
  const { constants, deployment } = parts.chain;
  const word = { ...EMPTY_CLAIM_WORD, ...clocks, state };
  return {
    claimId,
    requestId,
    modelId,
    ...nameOf(parts, modelId),
    state,
    isFinalByTime: state === "ACTIVE" && isFinal(word, constants.answerSeconds, chainNow(parts)),
    ...(fall === undefined ? {} : { fall }),
    attempt,
    prover,
    // Promises names as operator who promised.
    ...(prover === deployment.contracts.promises ? { promisedBy: row.operator } : {}),
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

export const nameOf = ({ library }: Shelved, modelId: Hex): { readonly modelName?: string } => {
  const name = library.get(modelId)?.manifest.name;
  return name === undefined ? {} : { modelName: name };
};

function textOf({ library }: Shelved, modelId: Hex, output: Hex | undefined): { readonly text?: string } {
  if (output === undefined) return {};
  const { meaning } = meaningIfAny(library.get(modelId)?.readable, fromHex(output));
  return meaning === undefined ? {} : { text: meaning.text };
}
