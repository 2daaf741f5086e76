/** Moves of a dispute. Every one but the timeouts needs an ACTIVE claim that is not final yet. */
import { decodePosition, isInside } from "../../../inference/commit/positions.ts";
import type { ClaimId } from "../types.ts";
import { changeClaim, done, receive, refuse, setClaim, withEntry } from "./change.ts";
import { fall } from "./endings.ts";
import type { MoveOf, MoveResult, Refusal } from "./moves.ts";
import { isFinal, type Rules } from "./rules.ts";
import type { ClaimState, GameState } from "./state.ts";

/** The claim if it is open to moves now, else why it is not. */
function openClaim(state: GameState, id: ClaimId, now: number, rules: Rules): ClaimState | Refusal {
  const found = state.claims.get(id);
  if (found === undefined || found.word.state !== "ACTIVE") return "ClaimNotActive";
  return isFinal(found.word, state.constants.answerSeconds, now, rules) ? "ClaimIsFinal" : found;
}

export function challenge(state: GameState, move: MoveOf<"challenge">, rules: Rules): MoveResult {
  const { from, now, value = 0n } = move;
  const { answerSeconds } = state.constants;
  const open = openClaim(state, move.claimId, now, rules);
  if (typeof open === "string") return refuse(open);
  const { word } = open;
  if (now >= word.windowEnd) return refuse("WindowEnded");
  if (value !== open.claim.ticketBond) return refuse("ValueWrong");
  if (open.tickets.has(from)) return refuse("AlreadyHolding");
  const isFirst = word.traceDeadline === 0;
  const next = changeClaim(open, {
    tickets: word.tickets + 1,
    hardEnd: Math.max(word.hardEnd, now + rules.disputeSeconds(word.depth, answerSeconds)),
    ...(isFirst ? { traceDeadline: now + answerSeconds, pending: word.pending + 1 } : {}),
    // A late ticket on a trace that is there gets its own time to demand.
    ...(open.traceRoot !== undefined ? { lastEvent: now } : {}),
  });
  const tickets = withEntry(open.tickets, from, { demands: 0, collected: false });
  return done(setClaim(receive(state, value), move.claimId, { ...next, tickets }));
}

export function commitTrace(state: GameState, move: MoveOf<"commitTrace">, rules: Rules): MoveResult {
  const { from, now } = move;
  const open = openClaim(state, move.claimId, now, rules);
  if (typeof open === "string") return refuse(open);
  const { claim, word } = open;
  if (from !== claim.prover && from !== claim.operator) return refuse("NotProver");
  if (word.traceDeadline === 0) return refuse("NotChallenged");
  if (open.traceRoot !== undefined) return refuse("TraceAlreadyCommitted");
  if (now > word.traceDeadline) return refuse("DeadlinePassed");
  const next = changeClaim(open, { pending: word.pending - 1, lastEvent: now });
  return done(setClaim(state, move.claimId, { ...next, traceRoot: move.traceRoot }));
}

export function demand(state: GameState, move: MoveOf<"demand">, rules: Rules): MoveResult {
  const { from, now, position } = move;
  const { answerSeconds } = state.constants;
  const open = openClaim(state, move.claimId, now, rules);
  if (typeof open === "string") return refuse(open);
  const ticket = open.tickets.get(from);
  if (ticket === undefined) return refuse("TicketMissing");
  if (open.traceRoot === undefined) return refuse("TraceMissing");
  if (open.traceRoot !== move.traceRoot) return refuse("TraceMismatch");
  if (rules.demandsUsed(open, from) >= open.word.depth) return refuse("QuotaUsed");
  if (now > rules.lastDemandAt(open.word, answerSeconds)) return refuse("DemandTooLate");
  if (open.demands.has(position)) return refuse("AlreadyDemanded");
  const model = state.models.get(open.claim.modelId);
  if (model === undefined) return refuse("UnknownModel");
  if (model.shapes !== undefined && !isInside(model.shapes, decodePosition(position))) {
    return refuse("PositionOutside");
  }
  const next = {
    ...changeClaim(open, { pending: open.word.pending + 1 }),
    tickets: withEntry(open.tickets, from, { ...ticket, demands: ticket.demands + 1 }),
    demands: withEntry(open.demands, position, { deadline: now + answerSeconds, answered: false }),
  };
  return done(setClaim(state, move.claimId, next));
}

export function reveal(state: GameState, move: MoveOf<"reveal">, rules: Rules): MoveResult {
  const { now, position } = move;
  const open = openClaim(state, move.claimId, now, rules);
  if (typeof open === "string") return refuse(open);
  const demanded = open.demands.get(position);
  if (demanded === undefined) return refuse("NotDemanded");
  if (demanded.answered) return refuse("AlreadyAnswered");
  if (now > demanded.deadline) return refuse("DeadlinePassed");
  if (!move.valid) return refuse("TraceMismatch");
  const next = {
    ...changeClaim(open, {
      pending: open.word.pending - 1,
      lastEvent: rules.lastEventAfterReveal(open.word, now),
    }),
    demands: withEntry(open.demands, position, { ...demanded, answered: true }),
  };
  return done(setClaim(state, move.claimId, next));
}

export function convict(state: GameState, move: MoveOf<"convict">, rules: Rules): MoveResult {
  const open = openClaim(state, move.claimId, move.now, rules);
  if (typeof open === "string") return refuse(open);
  if (open.traceRoot === undefined) return refuse("TraceMissing");
  if (!move.holds) return refuse("NoFault");
  return done(fall(state, move.claimId, open, move.reason));
}

export function timeoutTrace(state: GameState, move: MoveOf<"timeoutTrace">): MoveResult {
  const found = state.claims.get(move.claimId);
  if (found === undefined || found.word.state !== "ACTIVE") return refuse("ClaimNotActive");
  if (found.word.traceDeadline === 0) return refuse("NotChallenged");
  if (found.traceRoot !== undefined) return refuse("TraceAlreadyCommitted");
  if (move.now <= found.word.traceDeadline) return refuse("DeadlineNotPassed");
  return done(fall(state, move.claimId, found, "TRACE_TIMEOUT"));
}

export function timeoutDemand(state: GameState, move: MoveOf<"timeoutDemand">): MoveResult {
  const found = state.claims.get(move.claimId);
  if (found === undefined || found.word.state !== "ACTIVE") return refuse("ClaimNotActive");
  const demanded = found.demands.get(move.position);
  if (demanded === undefined) return refuse("NotDemanded");
  if (demanded.answered) return refuse("AlreadyAnswered");
  if (move.now <= demanded.deadline) return refuse("DeadlineNotPassed");
  return done(fall(state, move.claimId, found, "DEMAND_TIMEOUT"));
}
