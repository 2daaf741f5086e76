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

export async function overviewOf(parts: ReadParts): Promise<Overview> {
  const { index, chain, reads } = parts;
  const gasPrice = await reads.gasPrice();
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
    ...(gasPrice === undefined ? {} : { gasPrice: `${gasPrice}` }),
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
  const total = index.sums.get("total", "");
  const counts = <Name extends string>(kind: string, names: readonly Name[]) =>
    Object.fromEntries(names.map((name) => [name, Number(amountIn(total, `${kind}:${name}`))])) as Record<
      Name,
      number
    >;
  const reasons = FALL_REASONS.slice(1) as Exclude<(typeof FALL_REASONS)[number], "NONE">[];
  return {
    requests: counts("request", ["OPEN", "BUSY", "DONE", "REFUNDED"]),
    claims: counts("claim", ["ACTIVE", "FINAL", "FALLEN"]),
    falls: counts("fall", reasons),
    finalByLane: byLane((lane) => Number(amountIn(index.sums.get("lane", lane), "finals"))),
  };
}

/** From request to final output, in one lane. @param model absent: of all */
export function waitsOf({ index }: ReadParts, lane: LaneName, model?: string): Waits {
  const sum =
    model === undefined ? index.sums.get("lane", lane) : index.sums.get("modelLane", `${model}:${lane}`);
  const count = Number(amountIn(sum, "finals"));
  if (count === 0) return null;
  const where = model === undefined ? "lane = ?" : "model = ? AND lane = ?";
  const middle = index.tables
    .sql<unknown[], { seconds: number }>(
      `SELECT seconds FROM requests WHERE ${where} ORDER BY seconds LIMIT 1 OFFSET ?`,
    )
    .get(...(model === undefined ? [] : [model]), LANE[lane], Math.floor((count - 1) / 2));
  const least = Number(amountIn(sum, "least:seconds"));
  return {
    count,
    least,
    median: middle?.seconds ?? least,
    mean: Number(amountIn(sum, "seconds")) / count,
    greatest: Number(amountIn(sum, "greatest:seconds")),
  };
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
