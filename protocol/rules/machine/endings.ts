/** How claims and requests end, and who gets what. */
import { fallPayout, finalPayout } from "../money.ts";
import { type ClaimId, type FallReason, LANE, type Lane } from "../types.ts";
import { burn, changeClaim, changeRequest, credit, done, refuse, setClaim, setRequest } from "./change.ts";
import type { MoveOf, MoveResult } from "./moves.ts";
import { isFinal, type Rules } from "./rules.ts";
import type { ClaimState, GameState } from "./state.ts";

/** Conviction or timeout: the request is open again, the ticket owners collect later. */
export function fall(state: GameState, id: ClaimId, fallen: ClaimState, reason: FallReason): GameState {
  const next = fallBooked(state, id, fallen, reason);
  const attempt = fallen.claim.attempt + 1;
  return changeRequest(next, fallen.claim.requestId, { state: "OPEN", attempt });
}

function fallBooked(state: GameState, id: ClaimId, fallen: ClaimState, reason: FallReason): GameState {
  const truthShare = reason === "TRUTH";
  const payout = fallPayout(fallen.claim, fallen.word.tickets, truthShare);
  const word = { state: "FALLEN", fall: reason, truthShare } as const;
  return burn(setClaim(state, id, changeClaim(fallen, word)), payout.burned);
}

/** Books a claim as final and pays its prover. */
function win(state: GameState, id: ClaimId, winner: ClaimState, lane: Lane, now: number): GameState {
  const { claim, word } = winner;
  const fee = state.requests.get(claim.requestId)?.request.fee ?? 0n;
  const payout = finalPayout(claim, word.tickets, fee);
  const booked = setClaim(state, id, changeClaim(winner, { state: "FINAL" }));
  const settled = changeRequest(booked, claim.requestId, { state: "DONE", lane, settledAt: now });
  return burn(credit(settled, claim.prover, payout.prover), payout.burned);
}

export function finalize(state: GameState, move: MoveOf<"finalize">, rules: Rules): MoveResult {
  const found = state.claims.get(move.claimId);
  if (found === undefined || found.word.state !== "ACTIVE") return refuse("ClaimNotActive");
  if (!isFinal(found.word, state.constants.answerSeconds, move.now, rules)) return refuse("ClaimNotFinal");
  return done(win(state, move.claimId, found, LANE.BOND, move.now));
}

export function settle(state: GameState, move: MoveOf<"settle">, rules: Rules): MoveResult {
  const { requestId, claimId, lane, now } = move;
  const held = state.requests.get(requestId);
  if (held === undefined) return refuse("RequestSettled");
  const { request, word } = held;
  if (word.state !== "OPEN" && word.state !== "BUSY") return refuse("RequestSettled");
  if ((request.lanes & lane) === 0) return refuse("LaneNotAllowed");
  if (lane === LANE.PROOF && state.proofHalted.has(request.modelId)) return refuse("ProofIsHalted");
  // No claim is read while the request is OPEN: one that fell a moment ago does not stop truth.
  if (word.state === "OPEN") return proved(move, settleByTruth(state, move, request.fee));
  const live = claimId === undefined ? undefined : state.claims.get(claimId);
  if (live === undefined || claimId === undefined || live.claim.requestId !== requestId) {
    return refuse("WrongClaim");
  }
  if (live.word.state !== "ACTIVE") return refuse("ClaimNotActive");
  // INVARIANT: nothing undoes a final result, booked or not.
  if (isFinal(live.word, state.constants.answerSeconds, now, rules)) return refuse("ClaimIsFinal");
  if (live.claim.outputHash === move.outputHash) return proved(move, win(state, claimId, live, lane, now));
  const fallen = fallBooked(state, claimId, live, "TRUTH");
  const { share } = fallPayout(live.claim, live.word.tickets, true);
  return proved(move, settleByTruth(fallen, move, request.fee + share));
}

/** Evidence is verified last: a race that is lost costs no verification. */
const proved = (move: MoveOf<"settle">, state: GameState): MoveResult =>
  move.accepted ? done(state) : refuse("EvidenceRejected");

/** Each as `settle` would, one after the other; what one of them is refused for refuses all. */
export function settleBatch(state: GameState, move: MoveOf<"settleBatch">, rules: Rules): MoveResult {
  const { from, now } = move;
  const [first] = move.settlements;
  const modelId = first && state.requests.get(first.requestId)?.request.modelId;
  if (modelId !== undefined && state.proofHalted.has(modelId)) return refuse("ProofIsHalted");
  let next = state;
  for (const one of move.settlements) {
    const settled = settle(
      next,
      { ...one, kind: "settle", lane: LANE.PROOF, accepted: true, from, now },
      rules,
    );
    if (!settled.ok) return settled;
    next = settled.state;
  }
  if (move.settlements.length === 0) return refuse("EmptyBatch");
  return move.accepted ? done(next) : refuse("BatchRejected");
}

/** Truth's submitter earns the reward; the result is stored, for no claim holds it. */
function settleByTruth(state: GameState, move: MoveOf<"settle">, reward: bigint): GameState {
  const held = state.requests.get(move.requestId);
  if (held === undefined) return state;
  const word = { ...held.word, state: "DONE", lane: move.lane, settledAt: move.now } as const;
  const settled = setRequest(state, move.requestId, { ...held, word, result: move.outputHash });
  return credit(settled, move.from, reward);
}

export function haltProof(state: GameState, move: MoveOf<"haltProof">): MoveResult {
  if (!state.models.has(move.modelId)) return refuse("UnknownModel");
  if (state.proofHalted.has(move.modelId)) return refuse("ProofIsHalted");
  if (!move.contradiction) return refuse("NoContradiction");
  return done({ ...state, proofHalted: new Set(state.proofHalted).add(move.modelId) });
}
