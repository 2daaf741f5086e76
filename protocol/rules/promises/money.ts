/** Bonds and deposits of promises. Amounts in wei. */
import { bondsOf } from "../money.ts";
import type { PromiseRules } from "./rules.ts";
import type { SignedClaim } from "./signed-claim.ts";
import { type Account, type BatchState, type PromisesState, stakeOf } from "./state.ts";

/** Least bond of a claim on a model of this depth, now: Assay's own. */
export function leastBond(state: PromisesState, depth: number, baseFee: bigint, rules: PromiseRules): bigint {
  const gasPrice = rules.gasPrice(state.constants, baseFee);
  return bondsOf(state.constants, { gasPrice, depth, minBond: 0n, attempt: 0 }).bond;
}

const depthOf = (state: PromisesState, modelId: SignedClaim["modelId"]): number =>
  state.assay.models.get(modelId)?.depth ?? 0;

/** b(S): what is asked of a signed claim is never more than the prover has, but for Assay's least bond. */
export function bondOf(
  state: PromisesState,
  account: Account,
  { modelId, minBond }: Pick<SignedClaim, "modelId" | "minBond">,
  baseFee: bigint,
  rules: PromiseRules,
): bigint {
  const stake = stakeOf(account);
  return max(leastBond(state, depthOf(state, modelId), baseFee, rules), min(minBond, stake));
}

/** Bond of a leaf of a batch: at least B. */
export function leafBondOf(
  state: PromisesState,
  batch: BatchState,
  baseFee: bigint,
  rules: PromiseRules,
): bigint {
  return max(leastBond(state, depthOf(state, batch.modelId), baseFee, rules), batch.bond);
}

/** D: Assay's ticket bond for a bond that is at least its least one, a tenth. */
export const depositOf = (bond: bigint): bigint => bond / 10n;

export function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

export function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
