/** The whole game as a pure function: state and move to state, or a named refusal (docs/PROTOCOL.md, section 4).
 *
 *  request  OPEN → BUSY → DONE; BUSY → OPEN when its claim falls; OPEN → REFUNDED; OPEN → DONE by truth
 *  claim    ACTIVE → FINAL | FALLEN
 *
 *  What contracts compute from data (hashes, judges, adapters, callbacks) enters a move as a fact. Addresses are
 *  compared as strings: use checksummed ones, as events and `privateKeyToAccount` give them. */
import * as disputes from "./machine/dispute-moves.ts";
import * as endings from "./machine/endings.ts";
import type { Move, MoveResult } from "./machine/moves.ts";
import * as requests from "./machine/request-moves.ts";
import { RULES, type Rules } from "./machine/rules.ts";
import type { GameState } from "./machine/state.ts";

export { bondsHeld, feesHeld, ledgerOf } from "./machine/ledger.ts";
export type { Move, MoveResult } from "./machine/moves.ts";
export { actBy, isFinal, ownTicketBy, RULES, type Rules } from "./machine/rules.ts";
export {
  type ClaimState,
  type Demand,
  type GameState,
  type ModelFacts,
  modelFacts,
  newGame,
  type RequestState,
  type Ticket,
} from "./machine/state.ts";

/** One move. Refused moves leave the state as it is.
 *  @param rules other rules than the protocol's: tests show that each one is needed */
export function play(state: GameState, move: Move, rules: Rules = RULES): MoveResult {
  switch (move.kind) {
    case "request":
      return requests.request(state, move);
    case "claim":
      return requests.claim(state, move);
    case "challenge":
      return disputes.challenge(state, move, rules);
    case "commitTrace":
      return disputes.commitTrace(state, move, rules);
    case "demand":
      return disputes.demand(state, move, rules);
    case "reveal":
      return disputes.reveal(state, move, rules);
    case "convict":
      return disputes.convict(state, move, rules);
    case "timeoutTrace":
      return disputes.timeoutTrace(state, move);
    case "timeoutDemand":
      return disputes.timeoutDemand(state, move);
    case "settle":
      return endings.settle(state, move, rules);
    case "settleBatch":
      return endings.settleBatch(state, move, rules);
    case "haltProof":
      return endings.haltProof(state, move);
    case "finalize":
      return endings.finalize(state, move, rules);
    case "deliver":
      return requests.deliver(state, move);
    case "reclaimDelivery":
      return requests.reclaimDelivery(state, move);
    case "refund":
      return requests.refund(state, move);
    case "collect":
      return requests.collect(state, move);
    case "withdraw":
      return requests.withdraw(state, move);
  }
}
