/** Waits for a request's final output, and tells what happens on the way. */
import type { Hex } from "viem";
import { formatAmount } from "../../base/amounts.ts";
import { BaseError, isBaseError } from "../../base/errors.ts";
import { requestIdOf } from "../rules/ids.ts";
import type { Claim, ClaimId, Policy, Request, RequestId } from "../rules/types.ts";
import type { Chain } from "./connect.ts";
import { withContext } from "./errors.ts";
import type { ChainEvent } from "./events.ts";
import { candidateOf, finalAtOf, isFinalBy, ownPolicy } from "./finality.ts";
import { type Head, pause } from "./follower.ts";
import { historyOf } from "./history.ts";
import { StateReader } from "./reads.ts";

/** Blocks that a re-org may take back. */
const REORG_DEPTH = 64n;
export const floorOf = (block: bigint): bigint => (block > REORG_DEPTH ? block - REORG_DEPTH : 0n);

export interface WaitOptions {
  readonly pollIntervalMs: number;
  /** what the output must be final by; default: the request's own terms */
  readonly policy?: Policy;
  /** blocks that must lie above the block in which it is final; default 0 */
  readonly confirmations?: number;
  /** ends the wait */
  readonly signal?: AbortSignal;
  /** called at each look at which the chain has no such request, before it came or since a re-org dropped it */
  readonly onMissing?: () => Promise<void>;
  /** called once for each new event of the request */
  readonly onEvent?: (event: ChainEvent) => void;
  /** called when the node cannot be read, once until it can be again; a re-org between two reads is no more than that */
  readonly onDisconnected?: (error: BaseError) => void;
}

export interface FinalResult {
  readonly output: Hex;
  readonly lane: number;
  /** absent after truth without a claim that agreed */
  readonly claimId?: ClaimId;
  readonly claim?: Claim;
  /** second from which on nothing can change it */
  readonly finalAt: number;
  /** a block at which it is final, below which the confirmations lie */
  readonly block: Head;
}

/** Resolves once the output is final, booked or not; a node that cannot be read is asked again.
 *  @throws BaseError REQUEST_UNANSWERED once nobody may claim any more; REQUEST_REFUNDED; POLICY_UNMET for a result
 *  that is final by less; when the signal aborts NOT_FINAL, naming the claim, or the fault of a node that cannot be
 *  read */
export async function awaitResult(
  chain: Chain,
  request: Request,
  options: WaitOptions,
): Promise<FinalResult> {
  const { pollIntervalMs, policy = ownPolicy(request), confirmations = 0 } = options;
  const { onEvent, onMissing, onDisconnected } = options;
  const signal = options.signal ?? new AbortController().signal;
  const requestId = requestIdOf(chain.game, request);
  const reported = new Set<string>();
  let from: bigint | undefined;
  let isConnected = true;
  for (;;) {
    const read = await readResult(chain, request, policy, BigInt(confirmations), from).catch(retryable);
    if (isBaseError(read)) {
      if (signal.aborted) throw read;
      if (isConnected) onDisconnected?.(read);
      isConnected = false;
      await pause(pollIntervalMs, signal);
      continue;
    }
    isConnected = true;
    const { events, word, head, result } = read;
    const [requested] = events;
    // Nothing happens to a request before it is there; a re-org may move it.
    if (from === undefined && requested !== undefined) from = floorOf(requested.block.number);
    for (const event of events) {
      const mark = `${event.block.hash}/${event.logIndex}`;
      if (!reported.has(mark)) onEvent?.(event);
      reported.add(mark);
    }
    if (result === "below") throw belowPolicy(requestId, policy);
    if (result !== undefined) return result;
    if (word?.state === "REFUNDED") throw refunded(requestId);
    if (word?.state === "OPEN" && head.timestamp > request.expiry) {
      throw ended("REQUEST_UNANSWERED", `Nobody answered request ${requestId} before it expired.`);
    }
    if (requested === undefined && word?.state === "NONE" && !signal.aborted) await onMissing?.();
    await pause(pollIntervalMs, signal);
    if (signal.aborted) throw notFinal(requestId, candidateOf(events)?.claim?.claimId);
  }
}

/** A fault that may pass. @throws every other error */
function retryable(error: unknown): BaseError {
  if (isBaseError(error) && error.retryable) return error;
  throw error;
}

/** A request's result if it is final now, booked or not.
 *  @throws BaseError REQUEST_REFUNDED; faults of the node */
export async function resultOf(chain: Chain, request: Request): Promise<FinalResult | undefined> {
  const { word, result } = await readResult(chain, request, ownPolicy(request), 0n);
  if (word?.state === "REFUNDED") throw refunded(requestIdOf(chain.game, request));
  return result === "below" ? undefined : result;
}

/** One look at everything, for a block with the confirmations above it.
 *  @returns result "below": final, but by less than the policy demands */
async function readResult(
  chain: Chain,
  request: Request,
  policy: Policy,
  confirmations: bigint,
  from?: bigint,
) {
  const requestId = requestIdOf(chain.game, request);
  const { client } = chain;
  const newest = await withContext("read the newest block", () => client.getBlock());
  const deep = newest.number - confirmations;
  const block =
    confirmations === 0n || deep < 0n
      ? newest
      : await withContext("read a block", () => client.getBlock({ blockNumber: deep }));
  const head: Head = { number: block.number, hash: block.hash, timestamp: Number(block.timestamp) };
  const events = await historyOf(chain, requestId, from);
  if (deep < 0n) return { events, head, word: undefined, result: undefined };
  const at = { blockHash: head.hash };
  const word = await new StateReader(chain, head.hash).requestWord(requestId);
  const candidate = candidateOf(events);
  if (candidate === undefined) return { events, head, word, result: undefined };
  if (!(await isFinalBy(chain, request, candidate, policy, at))) {
    // A result that is booked will not get better.
    const isBooked = word.state === "DONE";
    const isBelow = isBooked && (await isFinalBy(chain, request, candidate, ownPolicy(request), at));
    return { events, head, word, result: isBelow ? ("below" as const) : undefined };
  }
  const { output, lane, claim } = candidate;
  const of = claim === undefined ? {} : { claimId: claim.claimId, claim: claim.terms };
  const result: FinalResult = {
    output,
    lane,
    ...of,
    finalAt: await finalAtOf(chain, events, candidate),
    block: head,
  };
  return { events, head, word, result };
}

const refunded = (id: RequestId) => ended("REQUEST_REFUNDED", `Request ${id} was refunded.`);

const ended = (code: string, shortMessage: string) =>
  new BaseError({
    code,
    shortMessage,
    nextStep: "Ask again with a higher fee or a later expiry; `assay refund` takes the fees back.",
  });

const belowPolicy = (requestId: RequestId, { minBond, minWindow }: Policy) =>
  new BaseError({
    code: "POLICY_UNMET",
    shortMessage: `Request ${requestId} is final, but not by a bond of ${formatAmount(minBond)} and a window of ${minWindow} s in the lanes of the policy.`,
    nextStep: "Ask again with these terms in the request.",
  });

const notFinal = (requestId: RequestId, claimId: ClaimId | undefined) =>
  new BaseError({
    code: "NOT_FINAL",
    shortMessage:
      claimId === undefined
        ? `Request ${requestId} has no claim yet.`
        : `Claim ${claimId} on request ${requestId} is not final yet.`,
    nextStep: "Wait again for the same request: it goes on without you.",
    details: { requestId, claimId },
    retryable: true,
  });
