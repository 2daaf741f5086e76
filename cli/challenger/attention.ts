/** `assay challenger attention`: how many planned wrong claims on the chain were disputed, and how soon. */
import type { Command } from "commander";
import { getAddress, isAddress } from "viem";
import { readIndex } from "../../protocol/chain/past.ts";
import type { ClaimId } from "../../protocol/rules/types.ts";
import { chainConfig, openChain, withChain } from "../chain.ts";
import { showClaim } from "../claim.ts";
import { printResult, refuseArgument, withJson } from "../output.ts";

/** Claims that are looked at, the newest. */
const MOST = 1_000;

export function addAttentionCommand(challenger: Command): void {
  const command = challenger
    .command("attention")
    .description("detection rate and latency over the wrong claims that a prover made on purpose")
    .requiredOption("--prover <address>", "who made them, for instance by `assay challenger drill`");
  withJson(withChain(command)).action(async ({ prover }: { prover: string }, self: Command) => {
    if (!isAddress(prover)) refuseArgument("--prover", prover, "an address");
    const chain = await openChain(chainConfig(self));
    const index = await readIndex(chain);
    const ids = [...index.claims.values()]
      .filter(({ claim }) => claim.prover === getAddress(prover))
      .slice(-MOST)
      .map(({ id }) => id);
    const claims = [];
    for (const id of ids) claims.push(await latencyOf(chain, id));
    const report = summarize(claims);
    printResult(self, { prover, ...report, claims }, describe(report));
  });
}

interface Latency {
  readonly claimId: ClaimId;
  /** absent: nobody challenged it */
  readonly blocks?: number;
  readonly seconds?: number;
}

/** From the claim to its first ticket. */
async function latencyOf(chain: Parameters<typeof showClaim>[0], claimId: ClaimId): Promise<Latency> {
  const { timeline } = await showClaim(chain, claimId);
  const claimed = timeline.find(({ event }) => event === "Claimed");
  const challenged = timeline.find(({ event }) => event === "Challenged");
  if (claimed === undefined || challenged === undefined) return { claimId };
  const blocks = Number(challenged.block - claimed.block);
  return { claimId, blocks, seconds: challenged.timestamp - claimed.timestamp };
}

export interface AttentionReport {
  readonly planned: number;
  readonly detected: number;
  /** detected / planned; absent without any */
  readonly rate?: number;
  /** of those that were detected; absent without any */
  readonly medianSeconds?: number;
  readonly worstSeconds?: number;
}

export function summarize(claims: readonly Latency[]): AttentionReport {
  const seconds = claims.flatMap((claim) => claim.seconds ?? []).sort((a, b) => a - b);
  const [planned, detected] = [claims.length, seconds.length];
  const worstSeconds = seconds.at(-1);
  const medianSeconds = seconds[Math.floor((detected - 1) / 2)];
  return {
    planned,
    detected,
    ...(planned === 0 ? {} : { rate: detected / planned }),
    ...(medianSeconds === undefined ? {} : { medianSeconds }),
    ...(worstSeconds === undefined ? {} : { worstSeconds }),
  };
}

function describe({ planned, detected, rate, medianSeconds, worstSeconds }: AttentionReport): string[] {
  if (rate === undefined) return ["That prover made no claim."];
  const times =
    medianSeconds === undefined
      ? ""
      : `, first ticket after ${medianSeconds} s (median), ${worstSeconds} s (worst)`;
  return [`${detected} of ${planned} planned claims were challenged, ${(100 * rate).toFixed(1)} %${times}`];
}
