/** What an audit proves of every event, and how it says which event breaks it. Numbers in brackets are those of
 *  docs/INVARIANTS.md. */

import type { Refusal } from "../../rules/machine/moves.ts";
import type { ChainEvent } from "../events.ts";

export const AUDIT_RULES = {
  order: "events stand as the calls of the contract write them, none missing and none twice",
  identity: "an id is the hash of what it names, and stands for something that was filed",
  moves: "every move is one that the state before it allows",
  deadline: "every deadline is the one that the rules give, and is kept (4)",
  window: "nothing is final before its window and its disputes are over (5)",
  fixed: "a final output is fixed, and nothing ends twice (5)",
  payoff: "every exit pays what the table of money says, to whom it says (1, 6)",
  once: "nobody is paid twice (1)",
  books: "credits + live bonds + fees + burned = received, after every event (1)",
} as const;
export type AuditRule = keyof typeof AUDIT_RULES;

/** The event that breaks a rule. */
export interface Breach {
  readonly rule: AuditRule;
  readonly why: string;
  readonly event: Pick<ChainEvent, "name" | "block" | "logIndex" | "transactionHash">;
}

/** Thrown where a rule is broken; the audit adds the event. */
export class RuleBroken extends Error {
  readonly rule: AuditRule;

  constructor(rule: AuditRule, why: string) {
    super(why);
    this.rule = rule;
  }
}

/** @throws RuleBroken if what an event says is not what follows from the events before it */
export function must(rule: AuditRule, what: string, actual: unknown, required: unknown): void {
  if (actual !== required) throw new RuleBroken(rule, `${what} is ${actual}, it must be ${required}`);
}

/** Rules other than "moves" that a move breaks which the machine refuses. */
const BROKEN_BY: Partial<Record<Refusal, AuditRule>> = {
  AlreadyCollected: "once",
  AlreadyDelivered: "once",
  AlreadyRequested: "once",
  ClaimIsFinal: "fixed",
  ClaimNotFinal: "window",
  DeadlineNotPassed: "deadline",
  DeadlinePassed: "deadline",
  DemandTooLate: "deadline",
  ExclusiveTooLong: "deadline",
  ExpiryOutOfRange: "deadline",
  GasPriceOutOfRange: "payoff",
  NotExpired: "deadline",
  NotYet: "deadline",
  RequestExpired: "deadline",
  RequestSettled: "fixed",
  ValueWrong: "payoff",
  WindowEnded: "deadline",
  WindowOutOfRange: "deadline",
};

export const brokenBy = (refusal: Refusal): AuditRule => BROKEN_BY[refusal] ?? "moves";
