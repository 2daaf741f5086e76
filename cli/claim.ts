/** `assay claim`: the whole state of a claim and what happened to it; statements about it for other protocols. */
import type { Command } from "commander";
import { formatAmount } from "../base/amounts.ts";
import { fromHex } from "../base/bytes.ts";
import { decodePosition } from "../inference/commit/positions.ts";
import { meaningIfAny } from "../inference/meaning/read.ts";
import type { Chain } from "../protocol/chain/connect.ts";
import { describeEvent, describePosition, iso } from "../protocol/chain/describe.ts";
import { withContext } from "../protocol/chain/errors.ts";
import type { ChainEvent } from "../protocol/chain/events.ts";
import { historyOf } from "../protocol/chain/history.ts";
import { claimUnknown } from "../protocol/chain/past.ts";
import { StateReader } from "../protocol/chain/reads.ts";
import { isFinal, RULES } from "../protocol/rules/machine.ts";
import type { Claim, ClaimId } from "../protocol/rules/types.ts";
import { chainConfig, openChain, withChain } from "./chain.ts";
import { addCheckCommand } from "./claim-check.ts";
import { claimIdOf } from "./claim-id.ts";
import { addStatementCommand } from "./claim-statement.ts";
import { type ClaimText, claimText, claimTextLines } from "./claim-text.ts";
import { readableOf, readModelOf } from "./model-source.ts";
import { printResult, withJson } from "./output.ts";

export function addClaimCommands(program: Command): void {
  const claim = program.command("claim").description("look at claims");
  const show = claim
    .command("show")
    .description("state and timeline of a claim")
    .argument("<claim>", "its id")
    .option("--model <model>", "name or folder of its model (default: the folder below models/ with its id)");
  withJson(withChain(show)).action(printClaim);
  addStatementCommand(claim);
  addCheckCommand(claim);
}

async function printClaim(id: string, { model }: { model?: string }, self: Command): Promise<void> {
  const chain = await openChain(chainConfig(self));
  const shown = await showClaim(chain, claimIdOf(id), model);
  const text = await claimText(chain, shown, readModelOf(shown.claim.modelId, model));
  const { timeline, ...state } = shown;
  printResult(self, { ...state, ...text, timeline }, describe(shown, text));
}

export type ShownClaim = Awaited<ReturnType<typeof showClaim>>;

/** Everything about a claim at one block.
 *  @param model name or folder of its model; absent: the folder below models/ with its id
 *  @throws BaseError CLAIM_UNKNOWN; as `readableOf`; faults of the node */
export async function showClaim(chain: Chain, claimId: ClaimId, model?: string) {
  const head = await withContext("read the newest block", () => chain.client.getBlock());
  const events = await historyOf(chain, claimId);
  const claimed = events.find((event) => event.name === "Claimed");
  if (claimed?.name !== "Claimed") throw claimUnknown(claimId);
  const { claim, output } = claimed.args;
  const owners = events.flatMap((event) => (event.name === "Challenged" ? [event.args.challenger] : []));
  const positions = events.flatMap((event) => (event.name === "Demanded" ? [event.args.position] : []));
  const reader = new StateReader(chain, head.hash);
  const state = await reader.claim(claimId, claim, owners, positions);
  if (state === undefined) throw claimUnknown(claimId);
  const { answerSeconds } = chain.constants;
  const now = Number(head.timestamp);
  return {
    claimId,
    block: { number: head.number, hash: head.hash, timestamp: now },
    ...state,
    output,
    ...meaningIfAny(readableOf(claim.modelId, model), fromHex(output)),
    finalAt: RULES.finalAt(state.word, answerSeconds),
    isFinal: isFinal(state.word, answerSeconds, now),
    timeline: await timelineOf(chain, events),
  };
}

/** Events with the time of their blocks, seconds. */
async function timelineOf(chain: Chain, events: readonly ChainEvent[]) {
  const hashes = [...new Set(events.map(({ block }) => block.hash))];
  const blocks = await withContext("read the events' blocks", () =>
    Promise.all(hashes.map((blockHash) => chain.client.getBlock({ blockHash }))),
  );
  const times = new Map(blocks.map(({ hash, timestamp }) => [hash, Number(timestamp)]));
  return events.map((event) => ({
    timestamp: times.get(event.block.hash) ?? 0,
    block: event.block.number,
    transactionHash: event.transactionHash,
    event: event.name,
    text: describeEvent(event),
  }));
}

function describe(
  { claimId, claim, word, meaning, finalAt, isFinal: final, demands, tickets, timeline }: ShownClaim,
  text: ClaimText,
): string[] {
  return [
    `Claim ${claimId}`,
    ...describeTerms(claim),
    ...(meaning === undefined ? [] : [`  claims     ${meaning.text}`]),
    ...claimTextLines(text),
    `  state      ${word.state}${word.fall === "NONE" ? "" : ` by ${word.fall}`}${final && word.state === "ACTIVE" ? ", final" : ""}`,
    `  window     until ${iso(word.windowEnd)}, final at ${iso(finalAt)} if nothing is owed`,
    `  dispute    ${tickets.size} tickets, ${word.pending} answers owed`,
    ...[...demands]
      .filter(([, { answered }]) => !answered)
      .map(
        ([position, { deadline }]) =>
          `  owed       ${describePosition(decodePosition(position))} until ${iso(deadline)}`,
      ),
    "Timeline",
    ...timeline.map(({ timestamp, text }) => `  ${iso(timestamp)}  ${text}`),
  ];
}

function describeTerms({ requestId, modelId, prover, bond, ticketBond, attempt }: Claim): string[] {
  return [
    `  request    ${requestId}, attempt ${attempt}`,
    `  model      ${modelId}`,
    `  prover     ${prover}`,
    `  bond       ${formatAmount(bond)}, a ticket ${formatAmount(ticketBond)}`,
  ];
}
