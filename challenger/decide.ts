/** What to do about one wrong claim, from its state at one block. Pure. */
import type { Address } from "viem";
import { encodePosition } from "../inference/commit/positions.ts";
import type { ClaimEntry } from "../protocol/chain/book.ts";
import { isFinal } from "../protocol/machine.ts";
import type { ClaimWord } from "../protocol/words.ts";
import type { Question } from "./interrogate.ts";

/** A wrong claim as the chain shows it at one block. */
export interface Dispute {
  /** timestamp of the block, seconds */
  readonly now: number;
  /** T, seconds */
  readonly answerSeconds: number;
  readonly entry: ClaimEntry;
  readonly word: ClaimWord;
  readonly own: Address;
  /** what the interrogation asks next; absent before the trace is committed */
  readonly question?: Question;
}

export type Decision =
  | { readonly kind: "challenge" }
  | { readonly kind: "timeoutTrace" }
  | { readonly kind: "timeoutDemand"; readonly position: bigint }
  | { readonly kind: "demand"; readonly position: bigint }
  | { readonly kind: "convict"; readonly question: Exclude<Question, { kind: "demand" }> }
  | { readonly kind: "collect" }
  | { readonly kind: "wait"; readonly reason: string }
  /** nothing is left to do; `lost` says that a wrong output became final */
  | { readonly kind: "over"; readonly lost: boolean };

/** INVARIANT: the first thing is always an own ticket: another challenger's may be a plant that stops moving. */
export function decide(dispute: Dispute): Decision {
  const { now, answerSeconds, entry, word, own, question } = dispute;
  const holds = entry.challengers.has(own);
  if (word.state === "FALLEN") {
    return holds && !entry.collected.has(own) ? { kind: "collect" } : { kind: "over", lost: false };
  }
  if (isFinal(word, answerSeconds, now)) return { kind: "over", lost: true };
  if (!holds && now < word.windowEnd) return { kind: "challenge" };
  const late = overdue(dispute);
  if (late !== undefined) return late;
  if (question === undefined) return { kind: "wait", reason: "for the trace" };
  if (question.kind !== "demand") return { kind: "convict", question };
  const position = encodePosition(question.position);
  if (entry.demands.has(position)) return { kind: "wait", reason: "for a reveal" };
  if (!holds) return { kind: "wait", reason: "for the demands of those who hold tickets" };
  return { kind: "demand", position };
}

/** A deadline that the prover missed: it ends the claim by itself. */
function overdue({ now, entry, word }: Dispute): Decision | undefined {
  if (entry.trace === undefined && word.traceDeadline !== 0 && now > word.traceDeadline) {
    return { kind: "timeoutTrace" };
  }
  for (const [position, { deadline, content }] of entry.demands) {
    if (content === undefined && now > deadline) return { kind: "timeoutDemand", position };
  }
  return undefined;
}
