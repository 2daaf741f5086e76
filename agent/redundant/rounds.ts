/** Rounds of a RedundantResults contract: what was asked, how each stands, and what an executor does next. */
import {
  type Address,
  type Hex,
  isAddressEqual,
  keccak256,
  parseEventLogs,
  zeroAddress,
  zeroHash,
} from "viem";
import type { BlockRef } from "../../protocol/chain/connect.ts";
import { withContext } from "../../protocol/chain/errors.ts";
import type { LogSource } from "../../protocol/chain/follower.ts";
import type { SigningChain } from "../../protocol/chain/sender.ts";
import {
  iRedundantResultsAbi,
  modelResultsAbi,
  redundantResultsAbi,
} from "../../protocol/rules/generated/abis.ts";

export interface RoundRequested {
  readonly roundId: Hex;
  /** calldata of the agent */
  readonly data: Hex;
  readonly block: BlockRef;
}

export const roundEvents = (results: Address): LogSource<RoundRequested> => ({
  addresses: [results],
  decode: (logs) =>
    parseEventLogs({
      abi: iRedundantResultsAbi,
      eventName: "Requested",
      logs: [...logs],
      strict: true,
    }).map(({ args: { roundId, data }, blockNumber: number, blockHash: hash }) => ({
      roundId,
      data,
      block: { number, hash },
    })),
});

/** What does not change for a contract. */
export interface Terms {
  readonly bondWei: bigint;
  readonly maxOutputBytes: number;
  readonly revealSeconds: number;
  readonly executors: readonly Address[];
  /** where the model's own results are recorded; absent for an agent that is no model */
  readonly truth?: Address;
}

export async function readTerms({ client }: SigningChain, address: Address): Promise<Terms> {
  const contract = { address, abi: redundantResultsAbi } as const;
  const [terms, executors, truth] = await withContext(`read the terms of ${address}`, () =>
    Promise.all([
      client.readContract({ ...contract, functionName: "terms" }),
      client.readContract({ ...contract, functionName: "executors" }),
      client.readContract({ ...contract, functionName: "truth" }),
    ]),
  );
  const [, maxOutputBytes, , bondWei, , revealSeconds] = terms;
  const known = isAddressEqual(truth, zeroAddress) ? {} : { truth };
  return { bondWei, maxOutputBytes, revealSeconds, executors, ...known };
}

/** Gas of a reveal that makes an agreement, which stores the output and pays the executors: an estimate made before others
 *  revealed knows nothing of that.
 *  @param outputBytes of the answer */
export function revealGas({ executors }: Pick<Terms, "executors">, outputBytes: number): bigint {
  const words = Math.ceil(outputBytes / 32);
  return BigInt(150_000 + words * GAS_PER_WORD + executors.length * GAS_PER_EXECUTOR);
}

/** A new storage slot, and calldata, event and memory of 32 bytes. */
const GAS_PER_WORD = 25_000;
/** A new storage slot for the credit, the look at the answer, an event. */
const GAS_PER_EXECUTOR = 32_000;

export interface RoundState {
  readonly inputHash: Hex;
  /** false for a round that a re-org took back */
  readonly exists: boolean;
  /** first second of the reveals */
  readonly commitEnd: number;
  /** hash that was agreed on */
  readonly agreed?: Hex;
  /** of an agreed result */
  readonly finalAt: number;
  /** hash that this executor revealed */
  readonly revealed?: Hex;
}

export async function readRound(
  { client, account }: SigningChain,
  address: Address,
  roundId: Hex,
  blockNumber: bigint,
): Promise<RoundState> {
  const contract = { address, abi: redundantResultsAbi, blockNumber } as const;
  const [round, answer] = await withContext(`read round ${roundId}`, () =>
    Promise.all([
      client.readContract({ ...contract, functionName: "rounds", args: [roundId] }),
      client.readContract({ ...contract, functionName: "answerOf", args: [roundId, account.address] }),
    ]),
  );
  const [inputHash, agreed, requester, commitEnd, finalAt] = round;
  return {
    inputHash,
    exists: !isAddressEqual(requester, zeroAddress),
    commitEnd,
    finalAt,
    ...(agreed === zeroHash ? {} : { agreed }),
    ...(answer === zeroHash ? {} : { revealed: answer }),
  };
}

export type RoundMove = "commit" | "reveal" | "wait" | "judge" | "over";

/** What an executor does in a round.
 *
 *    before commitEnd         commit; the journal knows whether it has
 *    before the reveals' end  reveal, unless others agreed on the same; one that differs is recorded as dissent
 *    with a truth             look for answers that it contradicts, until the result is final
 *
 *  @param answer hash of its own kept answer @param now seconds */
export function decideRound(
  round: RoundState,
  { revealSeconds, truth }: Pick<Terms, "revealSeconds" | "truth">,
  answer: Hex | undefined,
  now: number,
): RoundMove {
  if (!round.exists) return "over";
  if (now < round.commitEnd) return "commit";
  const revealEnd = round.commitEnd + revealSeconds;
  const isNeeded = answer !== undefined && round.revealed === undefined && round.agreed !== answer;
  if (isNeeded && now < revealEnd) return "reveal";
  if (truth !== undefined && now < Math.max(revealEnd, round.finalAt)) return "judge";
  return round.agreed !== undefined || now >= revealEnd ? "over" : "wait";
}

/** Other executors of a round whose answer the recorded truth contradicts, and who have a bond to lose for it.
 *  @returns none while no truth is recorded */
export async function contradicted(
  { client, account }: SigningChain,
  address: Address,
  { executors, truth }: Terms,
  { roundId, inputHash }: { readonly roundId: Hex; readonly inputHash: Hex },
  blockNumber: bigint,
): Promise<Address[]> {
  if (truth === undefined) return [];
  const results = { address, abi: redundantResultsAbi, blockNumber } as const;
  return withContext(`compare round ${roundId} with the truth`, async () => {
    const recorded = { address: truth, abi: modelResultsAbi, args: [inputHash], blockNumber } as const;
    if ((await client.readContract({ ...recorded, functionName: "recordedAt" })) === 0) return [];
    const right = keccak256(await client.readContract({ ...recorded, functionName: "outputOf" }));
    const others = executors.filter((executor) => !isAddressEqual(executor, account.address));
    const found = await Promise.all(
      others.map(async (executor) => {
        const args = [roundId, executor] as const;
        const [answer, isConvicted, [bond]] = await Promise.all([
          client.readContract({ ...results, functionName: "answerOf", args }),
          client.readContract({ ...results, functionName: "isConvicted", args }),
          client.readContract({ ...results, functionName: "seats", args: [executor] }),
        ]);
        return answer !== zeroHash && answer !== right && !isConvicted && bond !== 0n;
      }),
    );
    return others.filter((_, i) => found[i]);
  });
}
