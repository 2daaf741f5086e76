/** Who accepts a promise asks the contract's own conditions, and whether the stake will be there. */
import { FEE_ROOM } from "./limits.ts";
import { leastBond, max } from "./money.ts";
import type { PromiseMoveOf } from "./moves.ts";
import type { PromiseRules } from "./rules.ts";
import { unmetOfClaim } from "./signed-moves.ts";
import { accountOf, type PromisesState } from "./state.ts";

type Presented = Omit<PromiseMoveOf<"open">, "kind" | "from" | "value">;

/** True if whoever shows the promise by its end can count on it.
 *  @param leastSeconds time that must be left to its end */
export function isAcceptable(
  state: PromisesState,
  presented: Presented,
  leastSeconds: number,
  rules: PromiseRules,
): boolean {
  const { claim, now, baseFee } = presented;
  if (unmetOfClaim(state, presented, rules) !== undefined) return false;
  if (rules.end(claim) - now < leastSeconds) return false;
  const account = accountOf(state, claim.prover);
  const [head] = account.queue;
  const queuedAt = head === undefined ? now : (state.signed.get(head)?.queuedAt ?? 0);
  if (now - queuedAt > state.constants.answerSeconds) return false;
  const depth = state.assay.models.get(claim.modelId)?.depth ?? 0;
  return account.free >= max(claim.minBond, leastBond(state, depth, FEE_ROOM * baseFee, rules));
}
