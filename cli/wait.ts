/** Waits for a request's final output, and tells what happens on the way. */
import type { Hex } from "viem";
import { BaseError } from "../inference/errors.ts";
import { decodeReturn, type ModelFunction } from "../protocol/abi.ts";
import type { Chain } from "../protocol/chain/connect.ts";
import type { ChainEvent } from "../protocol/chain/events.ts";
import { pause } from "../protocol/chain/follower.ts";
import { historyOf } from "../protocol/chain/history.ts";
import { StateReader } from "../protocol/chain/reads.ts";
import { requestIdOf } from "../protocol/ids.ts";
import { isFinal } from "../protocol/machine.ts";
import { type ClaimId, LANE, type Request } from "../protocol/terms.ts";
import { describeEvent } from "./timeline.ts";

/** Blocks that a re-org may take back. */
const REORG_DEPTH = 64n;
const floor = (block: bigint): bigint => (block > 0n ? block : 0n);

export interface FinalResult {
  readonly output: Hex;
  readonly lane: number;
  /** absent after truth without a claim that agreed */
  readonly claimId?: ClaimId;
}

/** Resolves once the output is final, booked or not.
 *  @param tell called once for each new event of the request
 *  @throws BaseError REQUEST_UNANSWERED once nobody may claim any more; REQUEST_REFUNDED; faults of the node */
export async function awaitResult(
  chain: Chain,
  request: Request,
  pollIntervalMs: number,
  tell: (line: string) => void,
): Promise<FinalResult> {
  const requestId = requestIdOf(chain.game, request);
  const told = new Set<string>();
  let from: bigint | undefined;
  for (;;) {
    const head = await chain.client.getBlock();
    const [word, events] = await Promise.all([
      new StateReader(chain, head.hash).requestWord(requestId),
      historyOf(chain, requestId, from),
    ]);
    const [requested] = events;
    // Nothing happens to a request before it is there; a re-org may move it.
    if (from === undefined && requested !== undefined) from = floor(requested.block.number - REORG_DEPTH);
    for (const event of events) {
      const mark = `${event.transactionHash}/${event.logIndex}`;
      if (!told.has(mark)) tell(describeEvent(event));
      told.add(mark);
    }
    const result = await finalOf(chain, events, head);
    if (result !== undefined) return result;
    if (word.state === "REFUNDED") throw ended("REQUEST_REFUNDED", `Request ${requestId} was refunded.`);
    if (word.state === "OPEN" && Number(head.timestamp) > request.expiry) {
      throw ended("REQUEST_UNANSWERED", `Nobody answered request ${requestId} before it expired.`);
    }
    await pause(pollIntervalMs, new AbortController().signal);
  }
}

async function finalOf(
  chain: Chain,
  events: readonly ChainEvent[],
  head: { hash: Hex; timestamp: bigint },
): Promise<FinalResult | undefined> {
  const settled = events.findLast((event) => event.name === "Settled");
  const claimed = events.findLast((event) => event.name === "Claimed");
  if (settled?.name === "Settled") return { output: settled.args.output, lane: settled.args.lane };
  if (claimed?.name !== "Claimed") return undefined;
  const { claimId, output } = claimed.args;
  const word = await new StateReader(chain, head.hash).claimWord(claimId);
  const final = isFinal(word, chain.constants.answerSeconds, Number(head.timestamp));
  return final ? { output, lane: LANE.BOND, claimId } : undefined;
}

/** A result as commands print it. */
export function describeResult(model: ModelFunction, { output, lane, claimId }: FinalResult) {
  const name = Object.entries(LANE).find(([, bit]) => bit === lane)?.[0] ?? String(lane);
  return { values: decodeReturn(model, output), output, lane: name, claimId };
}

const ended = (code: string, shortMessage: string) =>
  new BaseError({
    code,
    shortMessage,
    nextStep: "Ask again with a higher fee or a later expiry; `assay refund` takes the fees back.",
  });
