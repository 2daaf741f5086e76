/** Which of several challengers checks a claim first. Pure. */
import { type Address, concatHex, keccak256 } from "viem";
import type { ClaimEntry, RequestEntry } from "../../protocol/chain/claim-index.ts";
import { claimIdOf, type GameAddress, requestIdOf } from "../../protocol/rules/ids.ts";
import type { ClaimId } from "../../protocol/rules/types.ts";

/** The one whose hash with the claim's id is the highest: when one goes, only its claims change hands.
 *  @param accounts at least one */
export function firstOf(accounts: readonly Address[], id: ClaimId): Address {
  const ranked = accounts.map((account) => ({ account, rank: keccak256(concatHex([account, id])) }));
  const [first, ...others] = ranked;
  if (first === undefined) throw new RangeError("somebody has to check the claim");
  return others.reduce((best, next) => (next.rank > best.rank ? next : best), first).account;
}

/** Second from which a claim that nobody has found right is everybody's to check: a quarter of its window. */
export const everybodysFrom = ({ windowEnd }: ClaimEntry, { request }: RequestEntry): number =>
  windowEnd - Math.ceil((3 * request.window) / 4);

/** Whether input and output are the ones that the claim's id commits to: only then is a verdict about the id, and not
 *  about what one node shows. */
export const isWhatIdSays = (
  game: GameAddress,
  { id, claim, output }: ClaimEntry,
  { request, input }: RequestEntry,
): boolean =>
  claimIdOf(game, claim) === id &&
  keccak256(output) === claim.outputHash &&
  requestIdOf(game, request) === claim.requestId &&
  keccak256(input) === request.inputHash;
