/** Moves on requests, and the ways out for money. */
import { claimIdOf, requestIdOf } from "../ids.ts";
import { bondsOf, fallPayout, gasPriceRange, MAX_AMOUNT } from "../money.ts";
import { type Claim, LANE, LIMITS } from "../types.ts";
import { EMPTY_CLAIM_WORD, EMPTY_REQUEST_WORD } from "../words.ts";
import {
  changeRequest,
  credit,
  done,
  isNobody,
  receive,
  refuse,
  setClaim,
  setRequest,
  withEntry,
} from "./change.ts";
import type { MoveOf, MoveResult } from "./moves.ts";
import type { GameState } from "./state.ts";

export function request(state: GameState, move: MoveOf<"request">): MoveResult {
  const { now, value = 0n, input } = move;
  // An order has neither: the sender is the requester, and the input's hash is computed.
  const r = { ...move.request, requester: move.from, inputHash: input.hash };
  if (value !== r.fee + r.deliveryFee) return refuse("ValueWrong");
  if (r.deliveryFee !== 0n && isNobody(r.callback)) return refuse("CallbackMissing");
  if (r.window < 4 * state.constants.answerSeconds || r.window > LIMITS.maxWindow) {
    return refuse("WindowOutOfRange");
  }
  if (r.expiry <= now || r.expiry > now + LIMITS.maxExpiryAhead) return refuse("ExpiryOutOfRange");
  if (r.exclusiveUntil > now + LIMITS.maxExclusive) return refuse("ExclusiveTooLong");
  const id = requestIdOf(state.address, r);
  if (state.requests.has(id)) return refuse("AlreadyRequested");
  const model = state.models.get(r.modelId);
  if (model === undefined) return refuse("UnknownModel");
  if (r.lanes === 0 || (r.lanes & ~model.lanes) !== 0) return refuse("LanesInvalid");
  if (!input.canonical) return refuse("InputNotCanonical");
  const word = { ...EMPTY_REQUEST_WORD, state: "OPEN", requestedAt: now } as const;
  return done(setRequest(receive(state, value), id, { request: r, word }));
}

export function claim(state: GameState, move: MoveOf<"claim">): MoveResult {
  const { from, now, value = 0n, requestId } = move;
  const held = state.requests.get(requestId);
  if (held === undefined || held.word.state !== "OPEN") return refuse("RequestNotOpen");
  const { request: r, word } = held;
  const model = state.models.get(r.modelId);
  if (model === undefined) return refuse("UnknownModel");
  if (now > r.expiry) return refuse("RequestExpired");
  if ((r.lanes & LANE.BOND) === 0) return refuse("LaneNotAllowed");
  const exclusive = !isNobody(r.exclusiveProver) && now <= r.exclusiveUntil;
  if (exclusive && r.exclusiveProver !== from) return refuse("NotExclusiveProver");
  if (move.output.length !== model.outputLength) return refuse("OutputLengthWrong");
  const { least, greatest } = gasPriceRange(state.constants, move.baseFee);
  if (move.gasPrice < least || move.gasPrice > greatest) return refuse("GasPriceOutOfRange");
  const { attempt } = word;
  const bonds = bondsOf(state.constants, { ...r, gasPrice: move.gasPrice, depth: model.depth, attempt });
  if (bonds.bond > MAX_AMOUNT) return refuse("BondTooLarge");
  if (value !== bonds.bond) return refuse("ValueWrong");
  const statement: Claim = {
    requestId,
    modelId: r.modelId,
    attempt,
    prover: from,
    operator: move.operator,
    outputHash: move.output.hash,
    ...bonds,
    gasPrice: move.gasPrice,
  };
  const windowEnd = now + r.window;
  const busy = changeRequest(receive(state, value), requestId, { state: "BUSY" });
  const id = claimIdOf(state.address, statement);
  const next = setClaim(busy, id, {
    claim: statement,
    word: { ...EMPTY_CLAIM_WORD, state: "ACTIVE", windowEnd, depth: model.depth },
    tickets: new Map(),
    demands: new Map(),
  });
  return done(next, id);
}

export function deliver(state: GameState, move: MoveOf<"deliver">): MoveResult {
  const held = state.requests.get(move.requestId);
  if (held === undefined || held.word.state !== "DONE") return refuse("RequestNotDone");
  if (!move.outputMatches) return refuse("OutputMismatch");
  if (isNobody(held.request.callback)) return refuse("CallbackMissing");
  if (held.word.delivered !== "PENDING") return refuse("AlreadyDelivered");
  if (!move.gasEnough) return refuse("NotEnoughGas");
  if (!move.callbackSucceeds) return done(state);
  const delivered = changeRequest(state, move.requestId, { delivered: "DELIVERED" });
  return done(credit(delivered, move.from, held.request.deliveryFee));
}

export function reclaimDelivery(state: GameState, move: MoveOf<"reclaimDelivery">): MoveResult {
  const held = state.requests.get(move.requestId);
  if (held === undefined || held.word.state !== "DONE") return refuse("RequestNotDone");
  if (held.request.deliveryFee === 0n) return refuse("NothingToReclaim");
  if (held.word.delivered !== "PENDING") return refuse("AlreadyDelivered");
  if (move.now < held.word.settledAt + LIMITS.reclaimDeliveryAfter) return refuse("NotYet");
  const reclaimed = changeRequest(state, move.requestId, { delivered: "RECLAIMED" });
  return done(credit(reclaimed, held.request.requester, held.request.deliveryFee));
}

export function refund(state: GameState, move: MoveOf<"refund">): MoveResult {
  const held = state.requests.get(move.requestId);
  if (held === undefined || held.word.state !== "OPEN") return refuse("RequestNotOpen");
  const { requester, expiry, fee, deliveryFee } = held.request;
  if (move.now <= expiry) return refuse("NotExpired");
  const refunded = changeRequest(state, move.requestId, { state: "REFUNDED" });
  return done(credit(refunded, requester, fee + deliveryFee));
}

export function collect(state: GameState, move: MoveOf<"collect">): MoveResult {
  const fallen = state.claims.get(move.claimId);
  if (fallen === undefined || fallen.word.state !== "FALLEN") return refuse("ClaimNotFallen");
  const ticket = fallen.tickets.get(move.owner);
  if (ticket === undefined) return refuse("TicketMissing");
  if (ticket.collected) return refuse("AlreadyCollected");
  const tickets = withEntry(fallen.tickets, move.owner, { ...ticket, collected: true });
  const payout = fallPayout(fallen.claim, fallen.word.tickets, fallen.word.truthShare);
  return done(credit(setClaim(state, move.claimId, { ...fallen, tickets }), move.owner, payout.ticket));
}

export function withdraw(state: GameState, move: MoveOf<"withdraw">): MoveResult {
  const amount = state.credits.get(move.from) ?? 0n;
  if (amount === 0n) return refuse("NoCredit");
  const credits = new Map(state.credits);
  credits.delete(move.from);
  return done({ ...state, credits, withdrawn: state.withdrawn + amount });
}
