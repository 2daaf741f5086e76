/** The deployment as a whole. */
import { presetOf } from "../../protocol/chain/presets.ts";
import { FALL_REASONS, LANE, type LaneName } from "../../protocol/rules/types.ts";
import type { Gas, Overview, Waits } from "../api/types.ts";
import { amountIn, type Values } from "../index/sums.ts";
import type { ReadParts } from "./parts.ts";

/** Days that are shown, the newest. */
const MAX_DAYS = 366;
const LANES = Object.keys(LANE) as LaneName[];

export const byLane = <Value>(of: (lane: LaneName) => Value): Record<LaneName, Value> =>
  Object.fromEntries(LANES.map((lane) => [lane, of(lane)])) as Record<LaneName, Value>;

export function overviewOf(parts: ReadParts): Overview {
  const { index, chain } = parts;
  const { sums } = index;
  const total = sums.get("total", "");
  const { chainId, contracts, constants, block } = chain.deployment;
  const preset = presetOf(chainId);
  const amount = (name: string): bigint => amountIn(total, name);
  const holds = ["fees", "bonds", "tickets", "uncollected", "credits", "burned"] as const;
  return {
    chainId,
    ...(preset === undefined ? {} : { chainName: preset.name }),
    ...(preset?.explorer === undefined ? {} : { blockExplorer: preset.explorer }),
    isDevelopment: preset?.kind === "local",
    contracts: { ...contracts },
    constants: {
      answerSeconds: constants.answerSeconds,
      gasPriceFloor: `${constants.gasPriceFloor}`,
      gasBase: `${constants.gasBase}`,
      gasPerDemand: `${constants.gasPerDemand}`,
    },
    deployedAt: { number: Number(block.number), hash: block.hash },
    ...headOf(parts),
    blocksBehind: blocksBehind(parts) ?? 0,
    ...countsOf(parts),
    finalitySeconds: byLane((lane) => waitsOf(parts, lane)),
    gasByLane: byLane((lane) => gasOf(sums.get("lane", lane))),
    models: Number(amount("models")),
    accounts: sums.count("account"),
    events: Number(amount("events")),
    holds: {
      ...(Object.fromEntries(holds.map((kind) => [kind, `${amount(kind)}`])) as Record<
        (typeof holds)[number],
        string
      >),
      total: `${holds.reduce((sum, kind) => sum + amount(kind), 0n)}`,
    },
    flows: {
      received: `${amount("received")}`,
      withdrawn: `${amount("withdrawn")}`,
      burned: `${amount("burnedEver")}`,
    },
    days: sums
      .days("day", "", MAX_DAYS)
      .reverse()
      .map(({ day, values }) => ({
        day,
        requests: Number(amountIn(values, "requests")),
        claims: Number(amountIn(values, "claims")),
        falls: Number(amountIn(values, "falls")),
        finalByLane: byLane((lane) => Number(amountIn(values, `final:${lane}`))),
        fees: `${amountIn(values, "fees")}`,
        bonds: `${amountIn(values, "bonds")}`,
        burned: `${amountIn(values, "burned")}`,
        transactions: Number(amountIn(values, "transactions")),
        gasUsed: `${amountIn(values, "gasUsed")}`,
        transactionFees: `${amountIn(values, "transactionFees")}`,
      })),
  };
}

export function headOf({ index }: Pick<ReadParts, "index">): Pick<Overview, "head"> {
  const { head } = index;
  return head === undefined
    ? {}
    : { head: { number: Number(head.number), hash: head.hash, timestamp: head.timestamp } };
}

/** undefined while the node is silent, or before the first block */
export function blocksBehind({ index, pulse }: Pick<ReadParts, "index" | "pulse">): number | undefined {
  if (pulse.newest === undefined || index.head === undefined) return undefined;
  return Math.max(0, Number(pulse.newest - index.head.number));
}

function countsOf({ index }: ReadParts): Pick<Overview, "requests" | "claims" | "falls" | "finalByLane"> {
  const grouped = (table: string, column: string): ReadonlyMap<string | number | null, number> =>
    new Map(
      index.tables.db
        .prepare<[], { name: string | number | null; n: number }>(
          `SELECT ${column} AS name, count(*) AS n FROM ${table} GROUP BY ${column}`,
        )
        .all()
        .map(({ name, n }) => [name, n]),
    );
  const [requests, claims] = [grouped("requests", "state"), grouped("claims", "state")];
  const lanes = grouped("requests", "lane");
  const falls = new Map(
    index.tables.db
      .prepare<[], { fall: string; n: number }>(
        "SELECT fall, count(*) AS n FROM claims WHERE state = 'FALLEN' GROUP BY fall",
      )
      .all()
      .map(({ fall, n }) => [fall, n]),
  );
  const counts = <Name extends string>(names: readonly Name[], found: ReadonlyMap<unknown, number>) =>
    Object.fromEntries(names.map((name) => [name, found.get(name) ?? 0])) as Record<Name, number>;
  return {
    requests: counts(["OPEN", "BUSY", "DONE", "REFUNDED"], requests),
    claims: counts(["ACTIVE", "FINAL", "FALLEN"], claims),
    falls: counts(FALL_REASONS.slice(1) as Exclude<(typeof FALL_REASONS)[number], "NONE">[], falls),
    finalByLane: byLane((lane) => lanes.get(LANE[lane]) ?? 0),
  };
}

/** From request to final output, in one lane. @param model absent: of all */
export function waitsOf({ index }: ReadParts, lane: LaneName, model?: string): Waits {
  const where = model === undefined ? "lane = ?" : "model = ? AND lane = ?";
  const values = model === undefined ? [LANE[lane]] : [model, LANE[lane]];
  const { db } = index.tables;
  const all = db
    .prepare<unknown[], { n: number; least: number; mean: number; greatest: number }>(
      `SELECT count(*) AS n, min(seconds) AS least, avg(seconds) AS mean, max(seconds) AS greatest FROM requests WHERE ${where} AND seconds IS NOT NULL`,
    )
    .get(...values);
  if (all === undefined || all.n === 0) return null;
  const middle = db
    .prepare<unknown[], { seconds: number }>(
      `SELECT seconds FROM requests WHERE ${where} AND seconds IS NOT NULL ORDER BY seconds LIMIT 1 OFFSET ?`,
    )
    .get(...values, Math.floor((all.n - 1) / 2));
  const { n: count, least, mean, greatest } = all;
  return { count, least, median: middle?.seconds ?? least, mean, greatest };
}

/** @param values of a sum of lane or of model and lane */
export function gasOf(values: Values): Gas {
  const count = Number(amountIn(values, "count"));
  if (count === 0) return null;
  return {
    count,
    mean: Number(amountIn(values, "gas")) / count,
    least: Number(amountIn(values, "least:gas")),
    greatest: Number(amountIn(values, "greatest:gas")),
  };
}
