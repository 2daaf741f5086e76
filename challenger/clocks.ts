/** What runs out in a dispute, and when. Pure. */
import type { Address } from "viem";
import type { ClaimEntry } from "../protocol/chain/claim-index.ts";
import { actBy } from "../protocol/rules/machine.ts";
import type { ClaimId } from "../protocol/rules/types.ts";
import type { ClaimWord } from "../protocol/rules/words.ts";

export const CLOCKS = ["window", "own_move", "trace", "demand", "hard_end"] as const;
/** window: until this challenger can no longer file a ticket; own_move: until its next move is too late; trace and demand: until the prover
 *  must have answered; hard_end: until the dispute is over in any case */
type ClockName = (typeof CLOCKS)[number];

export interface Clock {
  readonly clock: ClockName;
  /** chain time, seconds */
  readonly at: number;
}

/** An active claim whose output is wrong. */
export interface OpenDispute {
  readonly claim: ClaimId;
  readonly ticketBond: bigint;
  readonly clocks: readonly Clock[];
}

/** @param word as it was read last; absent before the first look, and where nobody acts
 *  @param own absent: this process only watches */
export function clocksOf(
  entry: ClaimEntry,
  word: ClaimWord | undefined,
  own: Address | undefined,
  answerSeconds: number,
): Clock[] {
  const clocks: Clock[] = [];
  const holds = own !== undefined && entry.challengers.has(own);
  if (!holds) clocks.push({ clock: "window", at: entry.windowEnd });
  const answers = [...entry.demands.values()].filter(({ content }) => content === undefined);
  if (answers.length > 0)
    clocks.push({ clock: "demand", at: Math.min(...answers.map(({ deadline }) => deadline)) });
  if (word === undefined || word.tickets === 0) return clocks;
  if (entry.trace === undefined) clocks.push({ clock: "trace", at: word.traceDeadline });
  if (holds && word.pending === 0) clocks.push({ clock: "own_move", at: actBy(word, answerSeconds) });
  clocks.push({ clock: "hard_end", at: word.hardEnd });
  return clocks;
}
