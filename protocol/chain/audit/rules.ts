/** What an audit proves of every event, and how it says which event breaks it. Numbers in brackets are those of
 *  docs/INVARIANTS.md. */

import type { Refusal } from "../../rules/machine/moves.ts";
import type { PromiseRefusal } from "../../rules/promises/moves.ts";
import type { AuditedEvent } from "./source.ts";

export const AUDIT_RULES = {
  order: "events stand as the calls of the contract write them, none missing and none twice",
  identity: "an id is the hash of what it names, and stands for something that was filed",
  moves: "every move is one that the state before it allows (17)",
  deadline: "every deadline is the one that the rules give, and is kept (4)",
  window: "nothing is final before its window and its disputes are over (5, 18)",
  fixed: "a final output is fixed, and nothing ends twice (5)",
  payoff: "every exit pays what the table of money says, to whom it says (1, 6, 20)",
  once: "nobody is paid twice, and no promise is filed twice (1, 19)",
  books: "credits + live bonds + fees + stakes + deposits + burned = received, after every event (1, 16)",
  held: "the contract Promises holds what its events say (16)",
} as const;
export type AuditRule = keyof typeof AUDIT_RULES;

/** The event that breaks a rule. */
export interface Breach {
  readonly rule: AuditRule;
  readonly why: string;
  readonly event: Pick<AuditedEvent, "name" | "contract" | "block" | "logIndex" | "transactionHash">;
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
const BROKEN_BY: Partial<Record<Refusal | PromiseRefusal, AuditRule>> = {
  AlreadyCollected: "once",
  AlreadyDelivered: "once",
  AlreadyOpened: "once",
  AlreadyPosted: "once",
  AlreadyRequested: "once",
  BatchNotEnded: "window",
  ClaimIsFinal: "fixed",
  ClaimNotFinal: "window",
  DeadlineNotPassed: "deadline",
  DeadlinePassed: "deadline",
  DemandTooLate: "deadline",
  DepositTooLow: "payoff",
  ExclusiveTooLong: "deadline",
  ExitTooEarly: "deadline",
  ExitTooLarge: "payoff",
  ExpiryOutOfRange: "deadline",
  GasPriceOutOfRange: "payoff",
  LeafAlreadyOpened: "once",
  NoCredit: "once",
  NotExpired: "deadline",
  NotOpen: "once",
  NotYet: "deadline",
  NotYetIssued: "deadline",
  PromiseExpired: "deadline",
  RequestExpired: "deadline",
  RequestSettled: "fixed",
  SignerNoticeTooShort: "deadline",
  TooSoon: "deadline",
  ValueWrong: "payoff",
  WindowEnded: "deadline",
  WindowOutOfRange: "deadline",
};

export const brokenBy = (refusal: Refusal | PromiseRefusal): AuditRule =>
  BROKEN_BY[refusal.replace("Assay: ", "") as Refusal] ?? "moves";
