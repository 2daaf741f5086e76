/** Whether an output is final: the contract's own gate decides, not this program. */
import { type Hex, keccak256 } from "viem";
import { iAssayAbi } from "../rules/generated/abis.ts";
import { RULES } from "../rules/machine/rules.ts";
import {
  type Claim,
  type ClaimId,
  LANE,
  type LaneName,
  NO_CLAIM,
  type Policy,
  type Request,
} from "../rules/types.ts";
import type { Chain } from "./connect.ts";
import { chainError, decodeRevert, withContext } from "./errors.ts";
import type { ChainEvent, EventName, EventOf } from "./events.ts";
import { StateReader } from "./reads.ts";

/** An output that a request may have, by its events. */
export interface Candidate {
  readonly output: Hex;
  /** the lane that makes it final */
  readonly lane: number;
  /** the claim of this output; absent after truth without one that agreed */
  readonly claim?: { readonly claimId: ClaimId; readonly terms: Claim };
}

/** The last event of this name. */
export function lastOf<Name extends EventName>(
  history: readonly ChainEvent[],
  name: Name,
): EventOf<Name> | undefined {
  return history.findLast((event): event is EventOf<Name> => event.name === name);
}

/** What truth settled, else what the last claim says.
 *  @param history events of one request, in order */
export function candidateOf(history: readonly ChainEvent[]): Candidate | undefined {
  const truth = lastOf(history, "Settled")?.args;
  const claimed = lastOf(history, "Claimed")?.args;
  const output = truth?.output ?? claimed?.output;
  if (output === undefined) return undefined;
  const lane = truth?.lane ?? LANE.BOND;
  if (claimed === undefined || claimed.claim.outputHash !== keccak256(output)) return { output, lane };
  return { output, lane, claim: { claimId: claimed.claimId, terms: claimed.claim } };
}

/** Asks `requireFinal` at one block.
 *  @throws BaseError when the node could not tell */
export async function isFinalBy(
  { client, game }: Chain,
  request: Request,
  { output, claim }: Candidate,
  policy: Policy,
  at: { readonly blockNumber: bigint } | { readonly blockHash: Hex },
): Promise<boolean> {
  try {
    await client.readContract({
      address: game.assay,
      abi: iAssayAbi,
      functionName: "requireFinal",
      args: [request, claim?.terms ?? NO_CLAIM, output, policy],
      ...at,
    });
    return true;
  } catch (error) {
    if (decodeRevert(error) !== undefined) return false;
    throw chainError(error, `ask whether the input ${policy.inputHash} is answered`);
  }
}

/** What a request's own terms demand of its output. */
export const ownPolicy = ({ modelId, inputHash, lanes, minBond, window }: Request): Policy => ({
  modelId,
  inputHash,
  lanes,
  minBond,
  minWindow: window,
});

/** Second from which on nothing can change the output: that of the block in which truth settled the request, else the one
 *  that the claim's word gives, whether or not somebody has finalized it since.
 *  @param candidate an output that is final
 *  @throws BaseError RPC_UNREACHABLE, RPC_FAULT (retryable) */
export async function finalAtOf(
  chain: Chain,
  history: readonly ChainEvent[],
  { claim }: Candidate,
): Promise<number> {
  const settled = lastOf(history, "Settled");
  if (settled === undefined) {
    if (claim === undefined) throw new TypeError("An output comes from a claim or from truth.");
    const word = await new StateReader(chain).claimWord(claim.claimId);
    return RULES.finalAt(word, chain.constants.answerSeconds);
  }
  const { number: blockNumber } = settled.block;
  const { timestamp } = await withContext("read a block's time", () =>
    chain.client.getBlock({ blockNumber }),
  );
  return Number(timestamp);
}

export const laneName = (lane: number): LaneName | undefined =>
  (Object.keys(LANE) as LaneName[]).find((name) => LANE[name] === lane);
