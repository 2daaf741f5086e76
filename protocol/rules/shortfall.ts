/** What keeps a result from counting by somebody's policy, in words: `requireFinal` says only that it does. */
import { formatAmount } from "../../base/amounts.ts";
import { LANE, type LaneName, type Policy } from "./types.ts";

export interface Offered {
  /** bits: the lane that made it final, or those that still may */
  readonly lanes: number;
  /** wei, of the BOND lane */
  readonly bond: bigint;
  /** seconds, of the BOND lane */
  readonly window: number;
}

/** @returns undefined where nothing is missing */
export function shortfallOf(
  { lanes, bond, window }: Offered,
  policy: Pick<Policy, "lanes" | "minBond" | "minWindow">,
): string | undefined {
  if ((lanes & policy.lanes) === 0)
    return `its lane is ${laneNames(lanes)}, and what counts is ${laneNames(policy.lanes)}`;
  if (lanes !== LANE.BOND) return undefined;
  const { minBond, minWindow } = policy;
  if (bond < minBond)
    return `its bond is ${formatAmount(bond)}, and the least that counts is ${formatAmount(minBond)}`;
  if (window < minWindow) return `its window is ${window} s, and the least that counts is ${minWindow} s`;
  return undefined;
}

/** Names of lanes, by commas. @param bits of LANE */
export const laneNames = (bits: number): string =>
  (Object.keys(LANE) as LaneName[]).filter((name) => (bits & LANE[name]) !== 0).join(", ") || "none";
