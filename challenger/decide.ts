/** What to do about one claim, from its state at one block. Pure. */
import type { Address } from "viem";
import { encodePosition } from "../inference/commit/positions.ts";
import type { ClaimEntry } from "../protocol/chain/claim-index.ts";
import { type Ending, endingDelay, overdueAnswer } from "../protocol/chain/endings.ts";
import { isFinal } from "../protocol/rules/machine.ts";
import type { ClaimWord } from "../protocol/rules/words.ts";
import type { Question } from "./interrogate.ts";

/** A claim as the chain shows it at one block. */
export interface Dispute {
  /** timestamp of the block, seconds */
  readonly now: number;
  /** T, seconds */
  readonly answerSeconds: number;
  readonly entry: ClaimEntry;
  readonly word: ClaimWord;
  readonly own: Address;
  /** false also for a claim that nobody here has checked, or can check */
  readonly isWrong: boolean;
  /** what the interrogation asks next; absent before the trace is committed */
  readonly question?: Question;
}

export type Decision =
  | { readonly kind: "challenge" }
  | Ending
  | { readonly kind: "demand"; readonly position: bigint }
  | { readonly kind: "convict"; readonly question: Exclude<Question, { kind: "demand" }> }
  | { readonly kind: "collect" }
  | { readonly kind: "wait"; readonly reason: string }
  /** nothing is left to do; `lost` says that a wrong output became final */
  | { readonly kind: "over"; readonly lost: boolean };

/** INVARIANT: the first thing about a wrong claim is always a ticket of this challenger: another one may be a sybil ticket that stops
 *  moving. About any other claim the only thing is to end it once an answer is overdue, so that its request is free
 *  again: no ticket is filed for a share in that fall, for truth can still make a right output final, which costs half
 *  of each ticket. */
export function decide(dispute: Dispute): Decision {
  const { now, answerSeconds, entry, word, own, isWrong, question } = dispute;
  const holds = entry.challengers.has(own);
  if (word.state === "FALLEN") {
    return holds && !entry.collected.has(own) ? { kind: "collect" } : { kind: "over", lost: false };
  }
  if (isFinal(word, answerSeconds, now)) return { kind: "over", lost: isWrong };
  if (isWrong && !holds && now < word.windowEnd) return { kind: "challenge" };
  const delay = holds ? 0 : endingDelay(own, entry.id, answerSeconds);
  const late = overdueAnswer(entry, word, now - delay);
  if (late !== undefined) return late;
  if (!isWrong) return { kind: "wait", reason: "for an answer, or until it is overdue" };
  if (question === undefined) return { kind: "wait", reason: "for the trace" };
  if (question.kind !== "demand") return { kind: "convict", question };
  const position = encodePosition(question.position);
  if (entry.demands.has(position)) return { kind: "wait", reason: "for a reveal" };
  if (!holds) return { kind: "wait", reason: "for the demands of those who hold tickets" };
  return { kind: "demand", position };
}
