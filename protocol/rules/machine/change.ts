/** Copies of a game state with one thing changed. */
import type { Address } from "viem";
import { type ClaimId, type RequestId, ZERO_ADDRESS } from "../types.ts";
import type { ClaimWord, RequestWord } from "../words.ts";
import type { MoveResult, Refusal } from "./moves.ts";
import type { ClaimState, GameState, RequestState } from "./state.ts";

export const refuse = (refusal: Refusal): MoveResult => ({ ok: false, refusal });

export const done = (state: GameState, claimId?: ClaimId): MoveResult =>
  claimId === undefined ? { ok: true, state } : { ok: true, state, claimId };

export function withEntry<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key, value: Value): Map<Key, Value> {
  return new Map(map).set(key, value);
}

export function setRequest(state: GameState, id: RequestId, request: RequestState): GameState {
  return { ...state, requests: withEntry(state.requests, id, request) };
}

export function changeRequest(state: GameState, id: RequestId, changes: Partial<RequestWord>): GameState {
  const request = state.requests.get(id);
  if (request === undefined) return state;
  return setRequest(state, id, { ...request, word: { ...request.word, ...changes } });
}

export function setClaim(state: GameState, id: ClaimId, claim: ClaimState): GameState {
  return { ...state, claims: withEntry(state.claims, id, claim) };
}

export function changeClaim(claim: ClaimState, changes: Partial<ClaimWord>): ClaimState {
  return { ...claim, word: { ...claim.word, ...changes } };
}

/** Wei that came with a move. */
export function receive(state: GameState, amount: bigint): GameState {
  return amount === 0n ? state : { ...state, received: state.received + amount };
}

export function credit(state: GameState, account: Address, amount: bigint): GameState {
  if (amount === 0n) return state;
  return {
    ...state,
    credits: withEntry(state.credits, account, (state.credits.get(account) ?? 0n) + amount),
  };
}

export function burn(state: GameState, amount: bigint): GameState {
  return amount === 0n ? state : { ...state, burned: state.burned + amount };
}

export const isNobody = (address: Address): boolean => address === ZERO_ADDRESS;
