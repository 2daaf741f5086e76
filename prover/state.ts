/** What a prover reads of the chain at a block, beside its events. */
import type { BaseError } from "../base/errors.ts";
import type { ClaimEntry } from "../protocol/chain/claim-index.ts";
import type { Head } from "../protocol/chain/follower.ts";
import { StateReader } from "../protocol/chain/reads.ts";
import type { ClaimId } from "../protocol/rules/types.ts";
import type { ClaimWord } from "../protocol/rules/words.ts";
import { type Context, isPromised } from "./context.ts";
import type { ProverState } from "./decide.ts";

/** Money and obligations of this key.
 *  @param own claims that it made or may answer for @param now seconds @param onDataFeeFault takes why the data fee is not known
 *  @throws viem's errors where the node fails, or a re-org took the block back */
export async function stateAt(
  { chain, models }: Pick<Context, "chain" | "models">,
  { hash, number }: Head,
  own: readonly ClaimEntry[],
  now: number,
  onDataFeeFault: (error: BaseError) => undefined,
): Promise<ProverState> {
  const { address } = chain.account;
  const [block, tip, balance, dataFee] = await Promise.all([
    chain.client.getBlock({ blockHash: hash }),
    chain.client.estimateMaxPriorityFeePerGas(),
    chain.client.getBalance({ address, blockNumber: number }),
    // What is owed is answered without it.
    chain.dataFee.read().catch((error: BaseError) => onDataFeeFault(error)),
  ]);
  const baseFee = block.baseFeePerGas ?? 0n;
  const mine = own.filter(({ claim }) => claim.prover === address);
  const promised = own.filter((claim) => isPromised({ chain }, claim));
  return {
    now,
    own: address,
    constants: chain.constants,
    baseFee,
    gasPrice: baseFee + tip,
    dataFee,
    balance,
    live: [...mine, ...promised]
      .filter(({ status }) => status === "active")
      .map(({ claim }) => ({
        // A promise's bond is stake: the account needs the gas of its defence alone.
        bond: claim.prover === address ? claim.bond : 0n,
        gasPrice: claim.gasPrice,
        depth: models.get(claim.modelId)?.depth ?? 0,
      })),
    fallen: new Set(mine.filter(({ status }) => status === "fallen").map(({ claim }) => claim.requestId)),
  };
}

/** Words of those of these claims that may need something, all at one block.
 *  @param now seconds
 *  @throws as stateAt */
export async function wordsAt(
  { chain }: Pick<Context, "chain">,
  { hash }: Head,
  claims: readonly ClaimEntry[],
  now: number,
): Promise<Map<ClaimId, ClaimWord>> {
  const reader = new StateReader(chain, hash);
  const moving = claims.filter((claim) => mayMove(claim, now));
  return new Map(await Promise.all(moving.map(async ({ id }) => [id, await reader.claimWord(id)] as const)));
}

/** False for a claim that needs nothing: unchallenged, its window open. */
const mayMove = ({ challengers, windowEnd }: ClaimEntry, now: number): boolean =>
  challengers.size > 0 || now >= windowEnd;
