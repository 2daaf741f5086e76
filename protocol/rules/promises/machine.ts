/** Promises as a pure function: state and move to state, or a named refusal (docs/PROMISES.md).
 *
 *  signed claim  NONE → OPEN | QUEUED; QUEUED → OPEN | NONE; OPEN → CLOSED
 *  leaf          NONE → OPEN | QUEUED; QUEUED → OPEN | CLOSED; OPEN → CLOSED
 *
 *  Assay itself is the machine of ../machine.ts beneath it. */
import { play } from "../machine.ts";
import * as accounts from "./account-moves.ts";
import * as batches from "./batch-moves.ts";
import { done, refuse } from "./change.ts";
import { close } from "./closing.ts";
import type { PromiseMove, PromiseResult } from "./moves.ts";
import { PROMISE_RULES, type PromiseRules } from "./rules.ts";
import * as signed from "./signed-moves.ts";
import type { PromisesState } from "./state.ts";

/** One move. Refused moves leave the state as it is.
 *  @param rules other rules than the protocol's: tests show that each one is needed */
export function playPromise(
  state: PromisesState,
  move: PromiseMove,
  rules: PromiseRules = PROMISE_RULES,
): PromiseResult {
  switch (move.kind) {
    case "deposit":
      return accounts.deposit(state, move);
    case "announceExit":
      return accounts.announceExit(state, move, rules);
    case "exit":
      return accounts.exit(state, move, rules);
    case "setSigner":
      return accounts.setSigner(state, move, rules);
    case "open":
      return signed.open(state, move, rules);
    case "openNext":
      return signed.openNext(state, move, rules);
    case "passNext":
      return signed.passNext(state, move, rules);
    case "takeBack":
      return signed.takeBack(state, move, rules);
    case "commitTrace":
      return signed.commitTrace(state, move, rules);
    case "close":
      return close(state, move, rules);
    case "post":
      return batches.post(state, move, rules);
    case "openLeaf":
      return batches.openLeaf(state, move, rules);
    case "nextLeaf":
      return batches.nextLeaf(state, move, rules);
    case "dropLeaf":
      return batches.dropLeaf(state, move, rules);
    case "release":
      return batches.release(state, move, rules);
    case "withdraw":
      return accounts.withdraw(state, move);
    case "pullBurn":
      return accounts.pullBurn(state);
    case "assay": {
      const made = play(state.assay, move.move);
      if (!made.ok) return refuse(`Assay: ${made.refusal}`);
      return done(
        { ...state, assay: made.state },
        made.claimId === undefined ? {} : { claimId: made.claimId },
      );
    }
  }
}
