/** The deployment as a whole. */
import { presetOf } from "../../protocol/chain/presets.ts";
import { hasPromises } from "../../protocol/chain/promises/place.ts";
import { FALL_REASONS, LANE, type LaneName } from "../../protocol/rules/types.ts";
import type { Gas, Overview, Waits } from "../api/types.ts";
import { BATCHED } from "../index/deltas.ts";
import { amountIn, type Values } from "../index/sums.ts";
import { finalLeaves } from "./batches.ts";
import { type AnswerParts, atOneBlock, type ReadParts } from "./parts.ts";

/** Days that are shown, the newest. */
const MAX_DAYS = 366;
const LANES = Object.keys(LANE) as LaneName[];

async function byLane<Value>(of: (lane: LaneName) => Promise<Value>): Promise<Record<LaneName, Value>> {
  const entries = await Promise.all(LANES.map(async (lane) => [lane, await of(lane)] as const));
  return Object.fromEntries(entries) as Record<LaneName, Value>;
}

export async function overviewOf(parts: AnswerParts): Promise<Overview> {
  const gasPrice = await parts.reads.gasPrice();
  return atOneBlock(parts, (own) => overviewAt(own, gasPrice));
}

async function overviewAt(parts: ReadParts, gasPrice: bigint | undefined): Promise<Overview> {
  const { index, chain } = parts;
  const { sums } = index;
  const [total, accounts, days, finalitySeconds, gasByLane, finals, promises] = await Promise.all([
    sums.get("total", ""),
    sums.count("account"),
    sums.days("day", "", MAX_DAYS),
    byLane((lane) => waitsOf(parts, lane)),
    byLane(async (lane) => gasOf(await sums.get("lane", lane))),
    byLane(async (lane) => Number(amountIn(await sums.get("lane", lane), "finals"))),
    promisesOf(parts),
  ]);
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
    ...countsOf(total),
    finalByLane: finals,
    finalitySeconds,
    gasByLane,
    models: Number(amount("models")),
    accounts,
    events: Number(amount("events")),
    holds: {
      ...(Object.fromEntries(holds.map((kind) => [kind, `${amount(kind)}`])) as Record<
        (typeof holds)[number],
        string
      >),
      total: `${holds.reduce((sum, kind) => sum + amount(kind), 0n)}`,
    },
    ...promises,
    flows: {
      received: `${amount("received")}`,
      withdrawn: `${amount("withdrawn")}`,
      burned: `${amount("burnedEver")}`,
    },
    days: days.reverse().map(({ day, values }) => ({
      day,
      requests: Number(amountIn(values, "requests")),
      claims: Number(amountIn(values, "claims")),
      falls: Number(amountIn(values, "falls")),
      finalByLane: finalsOf(values),
      leaves: Number(amountIn(values, "leaves")),
      fees: `${amountIn(values, "fees")}`,
      bonds: `${amountIn(values, "bonds")}`,
      burned: `${amountIn(values, "burned")}`,
      transactions: Number(amountIn(values, "transactions")),
      gasUsed: `${amountIn(values, "gasUsed")}`,
      transactionFees: `${amountIn(values, "transactionFees")}`,
    })),
  };
}

const finalsOf = (values: Values): Record<LaneName, number> =>
  Object.fromEntries(LANES.map((lane) => [lane, Number(amountIn(values, `final:${lane}`))])) as Record<
    LaneName,
    number
  >;

async function promisesOf(parts: ReadParts): Promise<Pick<Overview, "promises">> {
  if (!hasPromises(parts.chain.deployment)) return {};
  const { sums } = parts.index;
  const [total, batched, final] = await Promise.all([
    sums.get("total", ""),
    sums.get("lane", BATCHED),
    finalLeaves(parts),
  ]);
  const amount = (name: string): bigint => amountIn(total, `promise:${name}`);
  const count = (name: string): number => Number(amount(name));
  return {
    promises: {
      batches: { posted: count("batches"), fallen: count("batchesFallen") },
      leaves: { posted: count("leaves"), final },
      gasPerLeaf: gasOf(batched),
      signed: { opened: count("signed"), fell: count("signedFell") },
      stake: `${amount("stake")}`,
      deposits: `${amount("deposits")}`,
      credits: `${amount("credits")}`,
      burned: `${amount("burned")}`,
    },
  };
}

/** An index, or a state of it. */
export interface WithHead {
  readonly index: Pick<ReadParts["index"], "head">;
}

export function headOf({ index }: WithHead): Pick<Overview, "head"> {
  const { head } = index;
  return head === undefined
    ? {}
    : { head: { number: Number(head.number), hash: head.hash, timestamp: head.timestamp } };
}

/** undefined while the node is silent, or before the first block */
export function blocksBehind({ index, pulse }: WithHead & Pick<ReadParts, "pulse">): number | undefined {
  if (pulse.newest === undefined || index.head === undefined) return undefined;
  return Math.max(0, Number(pulse.newest - index.head.number));
}

function countsOf(total: Values): Pick<Overview, "requests" | "claims" | "falls"> {
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
  };
}

/** From request to final output, in one lane. @param model absent: of all */
export async function waitsOf({ index }: ReadParts, lane: LaneName, model?: string): Promise<Waits> {
  const sum = await (model === undefined
    ? index.sums.get("lane", lane)
    : index.sums.get("modelLane", `${model}:${lane}`));
  const count = Number(amountIn(sum, "finals"));
  if (count === 0) return null;
  const where = model === undefined ? "lane = ?" : "model = ? AND lane = ?";
  const middle = await index.tables.sql.get<{ seconds: number }>(
    `SELECT seconds FROM requests WHERE ${where} ORDER BY seconds LIMIT 1 OFFSET ?`,
    ...[...(model === undefined ? [] : [model]), LANE[lane], Math.floor((count - 1) / 2)],
  );
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
