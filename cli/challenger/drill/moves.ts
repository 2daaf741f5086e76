/** What a drill does about its own wrong claim at one block. Pure. All times in seconds. */
import type { Address } from "viem";
import { encodePosition } from "../../../inference/commit/positions.ts";
import type { TreeShape } from "../../../inference/program/shape.ts";
import type { ClaimEntry } from "../../../protocol/chain/claim-index.ts";
import { type Ending, overdueAnswer } from "../../../protocol/chain/endings.ts";
import { RULES } from "../../../protocol/rules/machine.ts";
import type { ClaimWord } from "../../../protocol/rules/words.ts";

/** The claim and the chain at one block. */
export interface DrillState {
  readonly entry: ClaimEntry;
  readonly word: ClaimWord;
  /** timestamp of the block */
  readonly now: number;
  /** T */
  readonly answerSeconds: number;
  /** prover of the claim */
  readonly own: Address;
  /** of the trace's tensors */
  readonly shapes: readonly TreeShape[];
}

/** What the fault lets the claim answer. */
export interface Answers {
  readonly trace: boolean;
  readonly reveals: boolean;
}

export type DrillMove =
  | { readonly kind: "commitTrace" | "challenge" }
  | { readonly kind: "reveal" | "demand"; readonly position: bigint }
  | Ending;

/** Answers challengers as the fault does.
 *
 *  INVARIANT: the wrong output never becomes final while the drill runs. Where nobody has ended the claim when the last T
 *  of its window begins, the drill takes a ticket itself, and lets the claim fall by an answer that it does not give: the
 *  trace, or where that is there and challengers stopped moving, a position that it demands of itself. */
export function drillMoves(state: DrillState, answers: Answers): DrillMove[] {
  const { entry, word, now, answerSeconds, own } = state;
  if (entry.status !== "active" || word.state !== "ACTIVE") return [];
  const patience = Math.ceil(answerSeconds / 2);
  // Challengers come first.
  const late = overdueAnswer(entry, word, now - patience);
  if (late !== undefined) return [late];
  const moves: DrillMove[] = [];
  const holds = entry.challengers.has(own);
  const isDoubted = entry.challengers.size > (holds ? 1 : 0);
  if (isDoubted && entry.trace === undefined && answers.trace) moves.push({ kind: "commitTrace" });
  for (const [position, { by, content }] of entry.demands) {
    if (by !== own && content === undefined && answers.reveals) moves.push({ kind: "reveal", position });
  }
  if (!holds) {
    if (now >= word.windowEnd - answerSeconds && now < word.windowEnd) moves.push({ kind: "challenge" });
  } else if (entry.trace !== undefined && word.pending === 0) {
    const position = now < RULES.finalAt(word, answerSeconds) - patience ? undefined : notDemanded(state);
    if (position !== undefined) moves.push({ kind: "demand", position });
  }
  return moves;
}

/** The top of the first tensor that nobody asked for. */
function notDemanded({ entry, shapes }: DrillState): bigint | undefined {
  const tops = shapes.map(({ height }, step) => encodePosition({ step, level: height, index: 0 }));
  return tops.find((position) => !entry.demands.has(position));
}

/** True if challengers brought the claim down, not the drill itself. */
export function fellByOthers({ status, challengers, demands }: ClaimEntry, own: Address): boolean {
  if (status !== "fallen") return false;
  return [...challengers].some((one) => one !== own) && ![...demands.values()].some(({ by }) => by === own);
}
