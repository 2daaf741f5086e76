/** `assay claim show`: the whole state of a claim, and what happened to it. */
import type { Command } from "commander";
import { formatEther } from "viem";
import { BaseError } from "../inference/errors.ts";
import type { Chain } from "../protocol/chain/connect.ts";
import type { ChainEvent } from "../protocol/chain/events.ts";
import { historyOf } from "../protocol/chain/history.ts";
import { StateReader } from "../protocol/chain/reads.ts";
import { isFinal, RULES } from "../protocol/machine.ts";
import type { Claim, ClaimId } from "../protocol/terms.ts";
import { chainConfig, openChain, withChain } from "./chain.ts";
import { isModelId } from "./model-source.ts";
import { printResult, refuseArgument, withJson } from "./output.ts";
import { describeEvent, describePosition } from "./timeline.ts";

export function addClaimCommands(program: Command): void {
  const claim = program.command("claim").description("look at claims");
  const show = claim
    .command("show")
    .description("state and timeline of a claim")
    .argument("<claim>", "its id");
  withJson(withChain(show)).action(async (id: string, _options: object, self: Command) => {
    if (!isModelId(id)) refuseArgument("claim", id, "32 bytes as hex");
    const shown = await showClaim(await openChain(chainConfig(self)), id as string as ClaimId);
    printResult(self, shown, describe(shown));
  });
}

export type ShownClaim = Awaited<ReturnType<typeof showClaim>>;

/** Everything about a claim at one block.
 *  @throws BaseError CLAIM_UNKNOWN; faults of the node */
export async function showClaim(chain: Chain, claimId: ClaimId) {
  const head = await chain.client.getBlock();
  const events = await historyOf(chain, claimId);
  const claimed = events.find((event) => event.name === "Claimed");
  if (claimed?.name !== "Claimed") throw unknownClaim(claimId);
  const { claim, output } = claimed.args;
  const owners = events.flatMap((event) => (event.name === "Challenged" ? [event.args.challenger] : []));
  const positions = events.flatMap((event) => (event.name === "Demanded" ? [event.args.position] : []));
  const reader = new StateReader(chain, head.hash);
  const state = await reader.claim(claimId, claim, owners, positions);
  if (state === undefined) throw unknownClaim(claimId);
  const { answerSeconds } = chain.constants;
  const now = Number(head.timestamp);
  return {
    claimId,
    block: { number: head.number, hash: head.hash, timestamp: now },
    ...state,
    output,
    finalAt: RULES.finalAt(state.word, answerSeconds),
    isFinal: isFinal(state.word, answerSeconds, now),
    timeline: await timelineOf(chain, events),
  };
}

/** Events with the time of their blocks, seconds. */
async function timelineOf(chain: Chain, events: readonly ChainEvent[]) {
  const hashes = [...new Set(events.map(({ block }) => block.hash))];
  const blocks = await Promise.all(hashes.map((blockHash) => chain.client.getBlock({ blockHash })));
  const times = new Map(blocks.map(({ hash, timestamp }) => [hash, Number(timestamp)]));
  return events.map((event) => ({
    timestamp: times.get(event.block.hash) ?? 0,
    block: event.block.number,
    transactionHash: event.transactionHash,
    event: event.name,
    text: describeEvent(event),
  }));
}

function describe({
  claimId,
  claim,
  word,
  finalAt,
  isFinal: final,
  demands,
  tickets,
  timeline,
}: ShownClaim): string[] {
  return [
    `Claim ${claimId}`,
    ...describeTerms(claim),
    `  state      ${word.state}${word.fall === "NONE" ? "" : ` by ${word.fall}`}${final && word.state === "ACTIVE" ? ", final" : ""}`,
    `  window     until ${time(word.windowEnd)}, final at ${time(finalAt)} if nothing is owed`,
    `  dispute    ${tickets.size} tickets, ${word.pending} answers owed`,
    ...[...demands]
      .filter(([, { answered }]) => !answered)
      .map(
        ([position, { deadline }]) => `  owed       ${describePosition(position)} until ${time(deadline)}`,
      ),
    "Timeline",
    ...timeline.map(({ timestamp, text }) => `  ${time(timestamp)}  ${text}`),
  ];
}

function describeTerms({ requestId, modelId, prover, bond, ticketBond, attempt }: Claim): string[] {
  return [
    `  request    ${requestId}, attempt ${attempt}`,
    `  model      ${modelId}`,
    `  prover     ${prover}`,
    `  bond       ${formatEther(bond)} ether, a ticket ${formatEther(ticketBond)} ether`,
  ];
}

const time = (seconds: number): string => new Date(1_000 * seconds).toISOString().replace(".000Z", "Z");

const unknownClaim = (claimId: ClaimId) =>
  new BaseError({
    code: "CLAIM_UNKNOWN",
    shortMessage: `The chain has no claim ${claimId}.`,
    nextStep: "Check the id, the RPC URL and the deployment.",
  });
