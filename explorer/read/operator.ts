/** The operator's own daemons: how they are, what is wrong, and which clocks run for their accounts. */
import type { Address } from "viem";
import type { ClaimSummary, Operator } from "../api/types.ts";
import type { Watched } from "../operator/watcher.ts";
import { deadlinesOf, indexOf } from "./life.ts";
import { claimPage } from "./lists.ts";
import { chainNow, type ReadParts } from "./parts.ts";

type Clock = Operator["clocks"][number];

/** Claims of one account that are looked at, disputed ones besides. */
const MAX_CLAIMS = 50;

export async function operatorView(parts: ReadParts): Promise<Operator> {
  const { watcher, nowMs, chain } = parts;
  if (watcher === undefined) return { daemons: [], alerts: [], clocks: [] };
  const { watched, alerts } = watcher;
  return {
    daemons: watched.map((one) => daemonOf(one, nowMs(), chain.game.assay)),
    alerts: alerts.map(({ sinceMs, ...alert }) => ({
      ...alert,
      forSeconds: Math.round((nowMs() - sinceMs) / 1_000),
    })),
    clocks: await clocksOf(parts, watched),
  };
}

function daemonOf(
  { instance, role, account, isUp, answeredAtMs, values, status, assay }: Watched,
  nowMs: number,
  ownAssay: string,
): Operator["daemons"][number] {
  const count = <Name extends string>(name: Name, metric: string) => {
    const value = values.get(metric);
    return (value === undefined ? {} : { [name]: Math.round(value) }) as { readonly [key in Name]?: number };
  };
  const amount = <Name extends string>(name: Name, metric: string) => {
    const value = values.get(metric);
    return (value === undefined ? {} : { [name]: `${BigInt(Math.trunc(value))}` }) as {
      readonly [key in Name]?: string;
    };
  };
  const rpcUp = values.get("assay_rpc_up");
  return {
    instance,
    isUp,
    isElsewhere: assay !== undefined && assay.toLowerCase() !== ownAssay.toLowerCase(),
    ...(role === undefined ? {} : { role }),
    ...(isUp || answeredAtMs === undefined
      ? {}
      : { silentSeconds: Math.round((nowMs - answeredAtMs) / 1_000) }),
    ...(status === undefined || !isUp ? {} : { status }),
    ...(account === undefined ? {} : { account }),
    ...amount("balance", "assay_account_balance_wei"),
    ...amount("exposure", `assay_${role}_exposure_wei`),
    ...(rpcUp === undefined ? {} : { isNodeUp: rpcUp === 1 }),
    ...count("blocksBehind", "assay_chain_lag_blocks"),
    ...count("claimsActive", "assay_prover_claims_active"),
    ...count(
      "claimsDisputed",
      role === "challenger" ? "assay_challenger_disputes_open" : "assay_prover_claims_disputed",
    ),
    ...count("claimsUnchecked", "assay_challenger_claims_unchecked"),
  };
}

/** Of every claim that is not over, the next deadline: the account's own where it has to move. */
async function clocksOf(parts: ReadParts, watched: readonly Watched[]): Promise<Clock[]> {
  const accounts = new Map(
    watched.flatMap(({ account, role }) => (account && role ? [[account, role]] : [])),
  );
  const clocks = await Promise.all(
    [...accounts].map(async ([account, role]) => {
      const claims = await claimsOf(parts, account, role);
      return Promise.all(claims.map((claim) => clockOf(parts, account, role, claim)));
    }),
  );
  return clocks
    .flat()
    .filter((clock) => clock !== undefined)
    .sort((a, b) => Number(b.isOwnMove) - Number(a.isOwnMove) || a.deadline.at - b.deadline.at);
}

async function claimsOf(parts: ReadParts, account: Address, role: Clock["role"]): Promise<ClaimSummary[]> {
  const query = { state: "ACTIVE", limit: MAX_CLAIMS } as const;
  if (role === "challenger") return (await claimPage(parts, { ...query, challenger: account })).items;
  const { items: disputed } = await claimPage(parts, { ...query, prover: account, disputed: "true" });
  const { items: newest } = await claimPage(parts, { ...query, prover: account });
  return [...new Map([...disputed, ...newest].map((claim) => [claim.claimId, claim])).values()];
}

async function clockOf(
  parts: ReadParts,
  account: Address,
  role: Clock["role"],
  claim: ClaimSummary,
): Promise<Clock | undefined> {
  const row = await parts.index.tables.claim(claim.claimId as `0x${string}`);
  const entry = row && (await indexOf(parts, row.requestId)).claims.get(row.claimId as never);
  if (row === undefined || entry === undefined) return undefined;
  const deadlines = deadlinesOf(entry, row.clocks, parts.chain.constants.answerSeconds, chainNow(parts))
    .filter(({ isOver }) => !isOver)
    .sort((a, b) => a.at - b.at);
  // Before its first ticket a window's end is a challenger's last chance; who holds a ticket has used it.
  const own = deadlines.find(({ by, kind }) => by === role && kind !== "window");
  const deadline = own ?? deadlines[0];
  return deadline && { account, role, claim, isOwnMove: own !== undefined, deadline };
}
